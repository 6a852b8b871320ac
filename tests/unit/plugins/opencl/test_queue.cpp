// SPDX-License-Identifier: Apache-2.0
//
// Buffers, programs and queues, with kernels written by hand.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/abi/cases.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::Plugin;
using harness::values_of;

namespace {

// A kernel that writes `value` to r[i].
std::string kernel(std::string_view name, std::string_view value) {
    std::string out = R"(
struct params { uint step; };
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void NAME(__global const uint* restrict x, __global uint* restrict r, const ulong n,
          const struct params p) {
    const uint i = (uint)get_global_id(0);
    if (i < n) r[i] = VALUE;
}
)";
    out.replace(out.find("NAME"), 4, name);
    return out.replace(out.find("VALUE"), 5, value);
}
const std::string kAdd = kernel("add", "x[i] + p.step");
constexpr wye_slot kAddSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},
                                  {WYE_SLOT_BUFFER, 1, 0, 3, 0, {}},
                                  {WYE_SLOT_LENGTH, 1, 0, 0, 0, {}},
                                  {WYE_SLOT_PARAMS, 0, 0, 0, 0, {}}};
// A kernel whose result shows how often and in which order launches ran.
const std::string kTwice = kernel("twice", "2 * r[i] + x[i] + p.step");

}  // namespace

TEST_CASE("a range that starts between multiples of the alignment is refused with it") {
    Plugin plugin;
    Device device(plugin);
    wye_program_object* program =
        device.program(harness::artifact(kAdd, "add", kAddSlots, 2, 64, 4));
    const std::uint32_t step = 3;
    harness::cases::crooked_range_is_refused(
        plugin, device, [&](std::span<const wye_binding> bindings) {
            return harness::dispatch(program, bindings, {1, 1, 1}, &step);
        });
}

TEST_CASE("a length of no binding, and a part of a grid without a slot for it, are refused") {
    Plugin plugin;
    Device device(plugin);
    wye_slot slots[4];
    std::copy(std::begin(kAddSlots), std::end(kAddSlots), slots);
    slots[3] = {WYE_SLOT_LENGTH, 2, 0, 0, 0, {}};  // there are only two bindings
    CHECK(device.program(harness::artifact(kAdd, "add", slots, 2, 64, 4)) == nullptr);
    CHECK(device.failure.code == WYE_INVALID_PROGRAM);

    wye_buffer_object* a = device.buffer(256);
    const wye_binding bindings[] = {binding(a, 0, 64), binding(a, 0, 64)};
    const std::uint32_t step = 1;
    wye_program_object* program =
        device.program(harness::artifact(kAdd, "add", kAddSlots, 2, 64, 4));
    wye_operation split = harness::dispatch(program, bindings, {1, 1, 1}, &step);
    split.u.dispatch.group_offset[0] = 1;
    CHECK(device.run(split) == WYE_UNSUPPORTED);
}

TEST_CASE("launches with the hint `again`, and others between them, get their own arguments") {
    Plugin plugin;
    Device device(plugin);
    const std::uint64_t alignment = plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u;
    const auto content = counting(1024);
    wye_buffer_object* x = device.buffer(bytes_of(content));
    wye_buffer_object* r = device.buffer(4096);
    wye_program_object* program =
        device.program(harness::artifact(kTwice, "twice", kAddSlots, 2, 64, 4));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    const auto word = static_cast<std::uint32_t>(alignment / 4);
    const wye_binding whole[] = {binding(x, 0, 1024), binding(r, 0, 1024)};
    const wye_binding part[] = {binding(x, alignment, 64), binding(r, 0, 64)};
    const std::uint32_t steps[] = {5, 6};
    struct Launch {
        const wye_binding* bindings;
        const std::uint32_t* step;
        std::uint32_t groups;
        std::uint32_t again = 0;
    };
    const Launch launches[] = {
        {whole, &steps[0], 16},  {whole, &steps[0], 16, 1}, {whole, &steps[0], 16, 1},
        {whole, &steps[0], 2},   {whole, &steps[1], 16},    {part, &steps[1], 1},
        {part, &steps[1], 1, 1}, {whole, &steps[1], 16},    {whole, &steps[0], 16}};
    std::vector<std::uint32_t> expected(1024, 0);
    std::vector<wye_operation> all = {harness::fill(r, 0, 4096, 0, 4)};
    for (const Launch& one : launches) {
        all.push_back(harness::dispatch(program, {one.bindings, 2}, {one.groups, 1, 1}, one.step));
        all.back().u.dispatch.again = one.again;
        const std::uint32_t offset = one.bindings == part ? word : 0;
        for (std::uint32_t i = 0; i < one.groups * 64; ++i)
            expected[i] = 2 * expected[i] + content[i + offset] + *one.step;
    }
    for (int turn = 0; turn < 2; ++turn) {
        REQUIRE(device.submit(all) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        CHECK(values_of<std::uint32_t>(device.download(r, 4096)) == expected);
    }
}

TEST_CASE("equal launches in a row in a command run as often as they are there, updated singly") {
    Plugin plugin;
    Device device(plugin);
    const auto content = counting(1024);
    wye_buffer_object* x = device.buffer(bytes_of(content));
    wye_buffer_object* r = device.buffer(4096);
    wye_program_object* program =
        device.program(harness::artifact(kTwice, "twice", kAddSlots, 2, 64, 4));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    const wye_binding bindings[] = {binding(x, 0, 1024), binding(r, 0, 1024)};
    const std::uint32_t steps[] = {5, 6};
    const auto launch = [&](std::size_t step, std::uint32_t groups = 16) {
        return harness::dispatch(program, bindings, {groups, 1, 1}, &steps[step]);
    };
    const wye_operation clear = harness::fill(r, 0, 4096, 0, 4);
    std::vector<std::size_t> order = {0, 0, 0, 0, 0, 1, 0, 0};
    std::vector<wye_operation> operations = {clear, launch(0, 0), launch(0, 0)};
    for (const std::size_t step : order) operations.push_back(launch(step));
    operations.push_back(launch(0, 0));
    harness::Command command(device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const auto check = [&] {
        std::vector<std::uint32_t> expected(1024, 0);
        for (const std::size_t step : order)
            for (std::uint32_t i = 0; i < 1024; ++i)
                expected[i] = 2 * expected[i] + content[i] + steps[step];
        REQUIRE(device.run(command.execute()) == WYE_OK);
        CHECK(values_of<std::uint32_t>(device.download(r, 4096)) == expected);
    };
    check();
    struct Update {
        std::size_t place, step;
    };
    // A change in a run of equal launches, at the run's start, at its end, back to the first value,
    // and at a launch that differs from its neighbours.
    for (const Update& update :
         {Update{2, 1}, Update{0, 1}, Update{4, 1}, Update{2, 0}, Update{5, 0}, Update{7, 1}}) {
        CAPTURE(update.place);
        order[update.place] = update.step;
        REQUIRE(command.update(3 + update.place, launch(update.step)) == WYE_OK);
        check();
        check();
    }
}

TEST_CASE("source that does not compile gives the log and the line") {
    Plugin plugin;
    Device device(plugin);
    const std::string source =
        "__kernel void k(__global uint* r) {\n    r[0] = undeclared_name;\n}\n";
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}};
    CHECK(device.program(harness::artifact(source, "k", slots, 1, 1)) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.native_domain == "opencl");
    CHECK(device.failure.message.find("undeclared_name") != std::string::npos);
    CHECK(device.failure.message.find("source line 2") != std::string::npos);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    REQUIRE(device.failure.cause != nullptr);
    CHECK(device.failure.cause->message.find("undeclared_name") != std::string::npos);

    CHECK(device.program(harness::artifact(kAdd, "sub", kAddSlots, 2, 64, 4)) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.message.find("`sub`") != std::string::npos);
}

TEST_CASE("work that only waits for an order runs behind pending work of another queue") {
    Plugin plugin;
    Device device(plugin);
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 22U;
    wye_buffer_object* a = device.buffer(kBytes);
    wye_buffer_object* b = device.buffer(kBytes);
    wye_queue_object* other = device.queue_create();
    for (const bool timed : {false, true}) {  // on one native queue, or on two
        device.timed = timed;
        for (std::uint64_t round = 1; round < 9; ++round) {
            const wye_operation fills[] = {harness::fill(a, 0, kBytes, 0, 1),
                                           harness::fill(a, 0, kBytes, round, 1)};
            REQUIRE(device.submit(fills) == WYE_OK);
            wye_event event = device.event(device.queue, device.value);
            event.flags = WYE_EVENT_ORDER_ONLY;
            if (round % 2 == 0) REQUIRE(device.submit({}) == WYE_OK);
            const wye_operation copy = harness::copy(a, b, 0, 0, kBytes);
            REQUIRE(device.submit({&copy, 1}, {&event, 1}, other) == WYE_OK);
            CHECK(device.await(other, device.value, UINT64_MAX, nullptr) == WYE_OK);
            CHECK((device.download(b, kBytes) ==
                   std::vector<std::byte>(kBytes, static_cast<std::byte>(round))));
        }
    }
    device.queue_table->destroy(other);
}

TEST_CASE("a wait ends with its work, also while another thread goes on submitting") {
    Plugin plugin;
    Device device(plugin);
    constexpr std::uint64_t kBytes = std::uint64_t{8} << 20U;
    wye_buffer_object* a = device.buffer(kBytes);
    const wye_operation fill = harness::fill(a, 0, kBytes, 1, 1);
    REQUIRE(device.submit({&fill, 1}) == WYE_OK);
    const std::uint64_t value = device.value;
    std::atomic<bool> begun = false, ended = false;
    std::thread waiter([&] {
        begun = true;
        CHECK(device.await(device.queue, value, UINT64_MAX, nullptr) == WYE_OK);
        ended = true;
    });
    while (!begun) std::this_thread::yield();
    // Without a pause, some submits are always in flight.
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!ended && std::chrono::steady_clock::now() < end) {
        CHECK(device.submit({&fill, 1}) == WYE_OK);
        if (device.value > 16)
            CHECK(device.await(device.queue, device.value - 16, UINT64_MAX, nullptr) == WYE_OK);
    }
    CHECK(ended);
    waiter.join();
}

TEST_CASE("device times are those of the work, not of the call") {
    Plugin plugin;
    Device device(plugin, true);
    constexpr std::uint64_t kLarge = std::uint64_t{64} << 20U;
    wye_buffer_object* a = device.buffer(kLarge);
    REQUIRE(device.run(harness::fill(a, 0, kLarge, 5, 4)) == WYE_OK);
    wye_timing time{};
    REQUIRE(device.queue_table->timing(device.queue, device.value, &time, nullptr) == WYE_OK);
    CHECK(time.device_ns > 100000);
}

TEST_CASE("the refusal of too much memory says how much there is, and how much is taken") {
    Plugin plugin;
    Device device(plugin);
    const std::uint64_t total = plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u;
    CHECK(device.buffer(256) != nullptr);
    CHECK(device.buffer(total * 4) == nullptr);
    CHECK(device.failure.code == WYE_DEVICE_MEMORY);
    CHECK(device.failure.message.find(std::to_string(total)) != std::string::npos);
    CHECK(device.failure.message.find(" take 256") != std::string::npos);
}
