// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/cases.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace harness::cases {

void first_device_takes(const Plugin& plugin, std::string_view format) {
    REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
    REQUIRE(plugin.devices >= 1);
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(plugin.table->device_info(plugin.object, 0, &info, nullptr) == WYE_OK);
    CHECK(info.state == WYE_DEVICE_USABLE);
    REQUIRE(info.format_count == 1);
    CHECK(std::string_view(info.formats[0].data, info.formats[0].size) == format);
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
    // A library that is a named pipe: a plugin that opened the pipe would wait for its writer.
    const std::string pipe =
        std::filesystem::temp_directory_path() / ("wye-pipe-" + std::to_string(::getpid()));
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const Plugin other(std::map<std::string, std::string>{{key, pipe}});
    ::unlink(pipe.c_str());
    CHECK(other.status == WYE_MISSING_DEPENDENCY);
    CHECK(other.failure.message.find("`" + pipe + "`") != std::string::npos);
    CHECK(other.failure.message.find("no regular file") != std::string::npos);
}

void foreign_library_is_refused(const char* key, const char* function) {
    const Plugin plugin(std::map<std::string, std::string>{{key, "libm.so.6"}});
    CHECK(plugin.status == WYE_MISSING_DEPENDENCY);
    CHECK(plugin.failure.message.find(function) != std::string::npos);
}

void crooked_range_is_refused(
    const Plugin& plugin, Device& device,
    const std::function<wye_operation(std::span<const wye_binding>)>& launch) {
    const std::uint64_t alignment = plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u;
    if (alignment <= 4) return;
    wye_buffer_object* x = device.buffer(4096);
    wye_buffer_object* r = device.buffer(4096);
    const wye_binding crooked[] = {binding(x, 4, 64), binding(r, 0, 64)};
    CHECK(device.run(launch(crooked)) == WYE_INVALID_ARGUMENT);
    CHECK(device.failure.fix.find(std::to_string(alignment)) != std::string::npos);
    CHECK(device.run(fill(r, 0, 4, 1, 4)) == WYE_OK);
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
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_DEVICE_LOST);
    CHECK(device.submit({&op, 1}) == WYE_DEVICE_LOST);
    tells_loss(device.failure, loss);
    CHECK(device.submit({}) == WYE_DEVICE_LOST);
    CHECK(device.submit({&op, 1}, {}, second) == WYE_DEVICE_LOST);
    device.queue_table->destroy(second);
    CHECK(device.buffer(16) == nullptr);
    tells_loss(device.failure, loss);
    CHECK(device.program(artifact) == nullptr);
    tells_loss(device.failure, loss);
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    wye_queue_object* queue = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* table = nullptr;
    CHECK(device.table->queue_create(device.object, &desc, &queue, &timeline, &table, nullptr) ==
          WYE_DEVICE_LOST);
}

void not_opened_again(const Plugin& plugin, const Loss& loss) {
    Sink sink;
    wye_device_object* device = nullptr;
    const wye_device_table* table = nullptr;
    CHECK(plugin.open(&device, &table, sink.out(), 0) == WYE_DEVICE_LOST);
    CHECK(device == nullptr);
    CHECK(sink.failure().native_domain == loss.native_domain);
    CHECK(sink.failure().native_code == loss.native_code);
    CHECK(sink.failure().fix.rfind("Fix: restart the process", 0) == 0);
}

}  // namespace harness::cases
