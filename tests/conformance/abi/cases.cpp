// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/cases.hpp"

#include <doctest/doctest.h>

namespace harness::cases {
namespace {

std::string text(wye_string s) { return {s.data, s.size}; }

}  // namespace

void transfers_are_exact(Device& device) {
    const auto content = counting(256);
    wye_buffer_object* a = device.buffer(bytes_of(content));
    wye_buffer_object* b = device.buffer(1024);
    REQUIRE(a != nullptr);
    REQUIRE(b != nullptr);
    const wye_operation steps[] = {
        fill(b, 0, 1024, 0xabU, 1),
        copy(a, b, 16, 32, 64),
        fill(b, 512, 16, 0x1122U, 2),
        fill(b, 528, 16, 0x11223344U, 4),
        fill(b, 544, 40, 0x1122334455667788U, 8),
        fill(b, 584, 16, 0x5566778855667788U, 8),
        fill(b, 0, 0, 1, 4),  // of no bytes: nothing
        copy(a, b, 0, 0, 0),
    };
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    const auto out = values_of<std::uint32_t>(device.download(b, 1024));
    for (std::uint32_t i = 0; i < 256; ++i) {
        const std::uint32_t expected = i >= 8 && i < 24      ? i - 8 + 4
                                       : i >= 128 && i < 132 ? 0x11221122U
                                       : i >= 132 && i < 136 ? 0x11223344U
                                       : i >= 136 && i < 146
                                           ? (i % 2 == 0 ? 0x55667788U : 0x11223344U)
                                       : i >= 146 && i < 150 ? 0x55667788U
                                                             : 0xababababU;
        CHECK(out[i] == expected);
    }
    CHECK(values_of<std::uint32_t>(device.download(a, 1024)) == content);
}

void values_count_submits(Device& device, std::uint64_t submits, std::uint64_t bytes) {
    const wye_queue_table& table = *device.queue_table;
    CHECK(table.poll(device.queue, 0, nullptr) == WYE_OK);
    wye_buffer_object* a = device.buffer(bytes);
    for (std::uint64_t i = 1; i <= submits; ++i) {
        const wye_operation op = fill(a, 0, bytes, i, 4);
        REQUIRE(device.submit({&op, 1}) == WYE_OK);
        CHECK(device.value == i);
    }
    REQUIRE(device.submit({}) == WYE_OK);  // nothing: reached after what came before
    CHECK(device.value == submits + 1);
    CHECK(table.wait(device.queue, 3, UINT64_MAX, nullptr) == WYE_OK);
    CHECK(table.wait(device.queue, submits - 1, 10'000'000'000U, nullptr) == WYE_OK);
    CHECK(table.poll(device.queue, 3, nullptr) == WYE_OK);
    CHECK(device.wait() == WYE_OK);
    CHECK(table.poll(device.queue, submits + 1, nullptr) == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(a, 4))[0] == submits);
}

void a_queue_waits_for_another(Device& device, std::uint64_t bytes) {
    const wye_queue_table& table = *device.queue_table;
    wye_queue_object* other = device.queue_create();
    wye_buffer_object* a = device.buffer(bytes);
    wye_buffer_object* b = device.buffer(4);
    std::uint64_t value = 0;
    for (std::uint32_t round = 1; round <= 4; ++round) {
        const wye_operation large = fill(a, 0, bytes, round, 4);
        REQUIRE(device.submit({&large, 1}) == WYE_OK);
        const wye_event event{device.queue, device.value};
        const wye_operation last = copy(a, b, bytes - 4, 0, 4);
        REQUIRE(table.submit(other, &last, 1, &event, 1, &value, nullptr) == WYE_OK);
        REQUIRE(table.wait(other, value, UINT64_MAX, nullptr) == WYE_OK);
        CHECK(values_of<std::uint32_t>(device.download(b, 4))[0] == round);
    }
    // A wait alone is a submit too.
    const wye_event event{device.queue, device.value};
    CHECK(table.submit(other, nullptr, 0, &event, 1, &value, nullptr) == WYE_OK);
    CHECK(table.wait(other, value, UINT64_MAX, nullptr) == WYE_OK);
    table.destroy(other);
}

void times_are_of_the_submit(Device& device, std::uint64_t least_ns) {
    const wye_queue_table& table = *device.queue_table;
    constexpr std::uint64_t kLarge = std::uint64_t{64} << 20U;
    wye_buffer_object* a = device.buffer(kLarge);
    const wye_operation large = fill(a, 0, kLarge, 5, 4);
    const wye_operation both[] = {large, fill(a, 0, 64, 5, 4)};
    wye_timing one{};
    wye_timing two{};
    REQUIRE(device.run(large) == WYE_OK);
    REQUIRE(table.timing(device.queue, device.value, &one, nullptr) == WYE_OK);
    REQUIRE(device.submit(both) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    REQUIRE(table.timing(device.queue, device.value, &two, nullptr) == WYE_OK);
    CHECK(one.device_ns > least_ns);
    CHECK(two.device_ns > least_ns);
    CHECK(one.device_ns < 10'000'000'000U);
    CHECK(table.timing(device.queue, 99, &one, nullptr) == WYE_UNSUPPORTED);
}

void first_device_is_listed(const Plugin& plugin, std::string_view format) {
    REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
    REQUIRE(plugin.devices >= 1);
    std::uint32_t again = 0;
    CHECK(plugin.table->probe_devices(plugin.object, &again, nullptr) == WYE_OK);
    CHECK(again == plugin.devices);
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(plugin.table->device_info(plugin.object, 0, &info, nullptr) == WYE_OK);
    CHECK(info.name.size > 0);
    CHECK(info.state == WYE_DEVICE_USABLE);
    REQUIRE(info.format_count == 1);
    CHECK(text(info.formats[0]) == format);

    CHECK(plugin.flag(WYE_FACT_KEY_BARRIER));
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u >= 64);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_SIZE).xyz[0] >= 64);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u >= 16384);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_BUFFER_BYTES).u >= (std::uint64_t{1} << 27));
    const std::uint64_t alignment = plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u;
    CHECK(alignment > 0);
    CHECK((alignment & (alignment - 1)) == 0);
}

void facts_are_absent(const Plugin& plugin, std::span<const std::uint32_t> keys) {
    wye_status status = WYE_OK;
    for (const std::uint32_t key : keys) {
        (void)plugin.fact(key, &status);
        CHECK(status == WYE_UNSUPPORTED);
    }
    (void)plugin.fact(0x7ffffff0U, &status);
    CHECK(status == WYE_UNKNOWN_KEY);
}

void absent_library_is_named(const char* key, const std::string& library, const char* package) {
    const Plugin plugin(std::map<std::string, std::string>{{key, library}});
    CHECK(plugin.status == WYE_MISSING_DEPENDENCY);
    CHECK(plugin.object == nullptr);
    CHECK(plugin.failure.subject == library);
    CHECK(plugin.failure.message.find(library) != std::string::npos);
    CHECK(plugin.failure.fix.rfind("Fix: ", 0) == 0);
    CHECK(plugin.failure.fix.find(package) != std::string::npos);
}

void foreign_library_is_refused(const char* key, const char* function) {
    const Plugin plugin(std::map<std::string, std::string>{{key, "libm.so.6"}});
    CHECK(plugin.status == WYE_MISSING_DEPENDENCY);
    CHECK(plugin.failure.message.find(function) != std::string::npos);
}

void tells_loss(const Failure& failure, const Loss& loss) {
    CHECK(failure.code == WYE_DEVICE_LOST);
    CHECK(failure.native_domain == loss.native_domain);
    CHECK(failure.native_code == loss.native_code);
    CHECK(failure.fix.rfind("Fix: open the device again", 0) == 0);
}

void lost_on_every_handle(Device& device, const wye_artifact& artifact, const Loss& loss,
                          const std::function<void()>& lose) {
    wye_queue_object* second = device.queue_create();
    const wye_operation op = fill(device.buffer(256), 0, 256, 1, 4);
    REQUIRE(device.run(op) == WYE_OK);
    CHECK(device.table->device_lost(device.object) == 0);
    REQUIRE(device.submit({&op, 1}) == WYE_OK);
    lose();
    CHECK(device.wait() == WYE_DEVICE_LOST);
    tells_loss(device.failure, loss);
    CHECK(device.table->device_lost(device.object) == 1);
    CHECK(device.wait(0) == WYE_DEVICE_LOST);
    CHECK(device.queue_table->poll(device.queue, device.value, nullptr) == WYE_DEVICE_LOST);
    CHECK(device.submit({&op, 1}) == WYE_DEVICE_LOST);
    tells_loss(device.failure, loss);
    CHECK(device.submit({}) == WYE_DEVICE_LOST);
    std::uint64_t value = 0;
    CHECK(device.queue_table->submit(second, &op, 1, nullptr, 0, &value, nullptr) ==
          WYE_DEVICE_LOST);
    device.queue_table->destroy(second);
    CHECK(device.buffer(16) == nullptr);
    tells_loss(device.failure, loss);
    CHECK(device.program(artifact) == nullptr);
    tells_loss(device.failure, loss);
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    wye_queue_object* queue = nullptr;
    const wye_queue_table* table = nullptr;
    CHECK(device.table->queue_create(device.object, &desc, &queue, &table, nullptr) ==
          WYE_DEVICE_LOST);
}

void not_opened_again(const Plugin& plugin, const Loss& loss) {
    Sink sink;
    wye_device_object* device = nullptr;
    const wye_device_table* table = nullptr;
    CHECK(plugin.table->open_device(plugin.object, 0, &device, &table, sink.out()) ==
          WYE_DEVICE_LOST);
    CHECK(device == nullptr);
    CHECK(sink.failure().native_domain == loss.native_domain);
    CHECK(sink.failure().native_code == loss.native_code);
    CHECK(sink.failure().fix.rfind("Fix: restart the process", 0) == 0);
}

}  // namespace harness::cases
