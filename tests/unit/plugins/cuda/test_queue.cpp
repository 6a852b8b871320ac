// SPDX-License-Identifier: Apache-2.0
//
// Transfers, launches, values and waits over a fake driver, which runs work in stream order and can
// be held back.
#include <cuda.h>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;
using rig::driver;
using rig::Rig;

TEST_CASE("transfers of every size arrive, many small ones through the same staging memory") {
    Rig rig;
    Device device(rig.plugin);
    for (const std::uint32_t words : {1U, 16384U, 65536U, 65537U, 400000U}) {
        const auto content = counting(words, words);
        CHECK(values_of<std::uint32_t>(
                  device.download(device.buffer(bytes_of(content)), 4ULL * words)) == content);
    }
    // More bytes than the staging ring holds, all in flight at once.
    wye_buffer_object* a = device.buffer(std::uint64_t{40} << 16U);
    std::vector<std::vector<std::uint32_t>> sent, got(40, std::vector<std::uint32_t>(16384));
    driver().hold(1);
    for (std::uint32_t k = 0; k < 40; ++k) {
        sent.push_back(counting(16384, 1000 * k));
        const wye_operation steps[] = {
            harness::upload(a, std::uint64_t{k} << 16U, bytes_of(sent.back())),
            harness::download(a, std::uint64_t{k} << 16U,
                              std::as_writable_bytes(std::span(got[k]))),
        };
        REQUIRE(device.submit(steps) == WYE_OK);
    }
    CHECK(got[0] != sent[0]);
    driver().hold(0);
    REQUIRE(device.wait() == WYE_OK);
    CHECK(got == sent);
}

TEST_CASE("queues have the priorities that the driver has, and no kinds") {
    Rig rig;
    Device device(rig.plugin);
    const auto granted = [&](std::uint32_t kind, std::int32_t priority) {
        wye_queue_object* queue = device.queue_create(kind, priority);
        const wye_queue_info info = device.queue_info(queue);
        device.queue_table->destroy(queue);
        return info;
    };
    CHECK(granted(WYE_QUEUE_ANY, 0).priority == 0);
    CHECK(granted(WYE_QUEUE_ANY, 2).priority == 2);
    CHECK(granted(WYE_QUEUE_ANY, 9).priority == 5);  // the highest, also on the real driver
    CHECK(granted(WYE_QUEUE_ANY, -1).priority == 0);
    CHECK(granted(WYE_QUEUE_TRANSFER, 1).kind == WYE_QUEUE_ANY);
}

TEST_CASE(
    "an upload copies its bytes at submit; a small download has ended when its value is reached") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(16);
    std::vector<std::uint32_t> out(4, 7);
    auto in = counting(4, 100);
    const wye_operation steps[] = {harness::upload(a, 0, bytes_of(in)),
                                   harness::download(a, 0, std::as_writable_bytes(std::span(out)))};
    driver().hold(1);
    REQUIRE(device.submit(steps) == WYE_OK);
    in.assign(4, 0);
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_NOT_READY);
    CHECK(out == std::vector<std::uint32_t>(4, 7));
    driver().hold(0);
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_OK);
    CHECK(out == counting(4, 100));
}

TEST_CASE("values count submits; a wait in step costs no event, older values have theirs") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(64);
    CHECK(device.query(device.queue, 0, nullptr) == WYE_OK);
    for (std::uint64_t i = 1; i <= 20; ++i) {
        REQUIRE(device.run(harness::fill(a, 0, 64, i, 4)) == WYE_OK);
        CHECK(device.value == i);
    }
    CHECK(driver().events_recorded() == 0);
    driver().hold(1);
    for (std::uint64_t i = 21; i <= 320; ++i) {
        const wye_operation op = harness::fill(a, 0, 64, i, 4);
        REQUIRE(device.submit({&op, 1}) == WYE_OK);
    }
    CHECK(driver().events_recorded() == 299);
    CHECK(device.query(device.queue, 21, nullptr) == WYE_NOT_READY);
    CHECK(device.wait(1000) == WYE_TIMEOUT);
    CHECK(device.failure.message.find("320") != std::string::npos);
    driver().hold(0);
    CHECK(device.query(device.queue, 21, nullptr) == WYE_OK);
    CHECK(device.await(device.queue, 319, UINT64_MAX, nullptr) == WYE_OK);
    REQUIRE(device.submit({}) == WYE_OK);  // an empty submit ends after earlier work
    CHECK(device.value == 321);
    CHECK(device.wait() == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(a, 4))[0] == 320);
}

TEST_CASE("a long wait blocks, and is woken") {
    Rig rig(rig::Config{{"cuda.spin_us", "0"}});
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(64);
    driver().hold(1);
    const wye_operation op = harness::fill(a, 0, 64, 5, 4);
    REQUIRE(device.submit({&op, 1}) == WYE_OK);
    std::thread other([] {
        while (driver().events_recorded() == 0) std::this_thread::yield();
        driver().hold(0);
    });
    CHECK(device.wait() == WYE_OK);
    other.join();
    CHECK(driver().events_recorded() == 1);
}

TEST_CASE("kernels get addresses, counts and parameters; ranges start where they are bound") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* x = device.buffer(bytes_of(counting(1000)));
    wye_buffer_object* r = device.buffer(4000);
    wye_program_object* program = device.program(rig::artifact());
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    const std::uint32_t step = 7;
    REQUIRE(device.run(harness::fill(r, 0, 4000, 0, 4)) == WYE_OK);
    const wye_binding bindings[] = {binding(x, 40, 900), binding(r, 400, 500)};
    REQUIRE(device.run(harness::dispatch(program, bindings, {16, 1, 1}, &step)) == WYE_OK);
    const auto out = values_of<std::uint32_t>(device.download(r, 4000));
    for (std::uint32_t i = 0; i < 1000; ++i)
        CHECK(out[i] == (i >= 100 && i < 600 ? i - 100 + 10 + step : 0));
    // An empty range has an address that may be read, also at the end of a buffer.
    static std::uint64_t where;
    driver().set_kernel([](const fake_cuda::Launch& launch) {
        std::memcpy(&where, launch.arguments[0], 8);
        volatile std::uint64_t seen = *reinterpret_cast<const std::uint64_t*>(where);
        static_cast<void>(seen);
    });
    const wye_binding empty[] = {binding(x, 4000, 0), binding(r, 0, 4)};
    REQUIRE(device.run(harness::dispatch(program, empty, {1, 1, 1}, &step)) == WYE_OK);
    CHECK(where != 0);
}

TEST_CASE("launches get the same arguments in one submit as in submits of their own") {
    Rig rig;
    Device device(rig.plugin);
    wye_program_object* program = device.program(rig::artifact());
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 1, 0, 3, 0, {}},
                              {WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},
                              {WYE_SLOT_PARAMS, 0, 0, 0, 0, {}},
                              {WYE_SLOT_GRID, 0, 0, 0, 0, {}}};  // the fake copies only four bytes
    wye_program_object* other =
        device.program(harness::artifact(rig::kPtx, "other", slots, 2, 64, 4));
    REQUIRE_MESSAGE(other != nullptr, device.failure.message);
    using Seen = std::vector<std::array<std::uint64_t, 4>>;
    static Seen seen;
    driver().set_kernel([](const fake_cuda::Launch& launch) {
        auto& words = seen.emplace_back();
        for (std::size_t i = 0; i < words.size(); ++i)
            std::memcpy(&words[i], launch.arguments[i], 8);
    });
    wye_buffer_object* x = device.buffer(256);
    wye_buffer_object* r = device.buffer(256);
    const wye_binding first[] = {binding(x, 0, 64), binding(r, 0, 64)};
    const wye_binding second[] = {binding(x, 16, 8), binding(r, 32, 4)};
    const wye_binding none[] = {binding(x, 0, 0), binding(r, 0, 64)};
    const std::uint64_t a = 5, b = 6;
    const wye_operation all[] = {
        harness::dispatch(program, first, {1, 1, 1}, &a, sizeof a),
        harness::dispatch(program, first, {1, 1, 1}, &a, sizeof a),
        harness::dispatch(program, first, {1, 1, 1}, &b, sizeof b),
        harness::dispatch(program, second, {1, 1, 1}, &b, sizeof b),
        harness::dispatch(program, none, {1, 1, 1}, &b, sizeof b),
        harness::dispatch(other, none, {1, 1, 1}, &a, sizeof a),
        harness::dispatch(other, first, {2, 1, 1}, &a, sizeof a),
        harness::dispatch(other, first, {3, 4, 1}, &b, sizeof b),
        harness::dispatch(program, first, {1, 1, 1}, &a, sizeof a),
    };
    seen.clear();
    for (const wye_operation& one : all) REQUIRE(device.run(one) == WYE_OK);
    const Seen alone = std::exchange(seen, {});
    REQUIRE(device.submit(all) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    CHECK(seen == alone);
    REQUIRE(alone.size() == std::size(all));
    // The arguments: address, address, count, parameter.
    CHECK(alone[1] == alone[0]);
    CHECK(alone[8] == alone[0]);
    CHECK(alone[0][2] == 64);
    CHECK(alone[0][3] == a);
    CHECK(alone[2] == std::array{alone[0][0], alone[0][1], alone[0][2], b});
    CHECK(alone[3] == std::array<std::uint64_t, 4>{alone[0][0] + 16, alone[0][1] + 32, 4, b});
    // The arguments: address, address, parameter, the offset of the grid.
    CHECK(alone[5] == std::array<std::uint64_t, 4>{alone[0][1], alone[4][0], a, 0});
    CHECK(alone[7] == std::array<std::uint64_t, 4>{alone[0][1], alone[0][0], b, 0});
}

TEST_CASE("a grid barrier has zeroed words of its queue, or of its command, in each launch") {
    Rig rig;
    Device device(rig.plugin);
    std::vector<wye_slot> slots(std::begin(rig::kSlots), std::end(rig::kSlots));
    slots[2] = {WYE_SLOT_GRID_BARRIER, 0, 0, 0, 0, {}};  // the fake copies four arguments
    const wye_artifact artifact = harness::artifact(rig::kPtx, "add", slots, 2, 64, 4);
    wye_program_object* program = device.program(artifact);
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    static std::vector<std::uint64_t> given;
    static std::vector<std::uint32_t> found;
    given.clear();
    found.clear();
    driver().set_kernel([](const fake_cuda::Launch& launch) {
        std::uint64_t at = 0;
        std::memcpy(&at, launch.arguments[2], 8);
        auto* words = reinterpret_cast<std::uint32_t*>(at);
        given.push_back(at);
        found.insert(found.end(), words, words + 2);
        ++words[1];  // as a grid barrier does, which leaves its words changed
    });
    wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
    wye_buffer_object* r = device.buffer(256);
    const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
    const std::uint32_t step = 1;
    wye_operation launch = harness::dispatch(program, bindings, {1, 1, 1}, &step);
    // Without the flag the launch is refused.
    CHECK(device.run(launch) == WYE_UNSUPPORTED);
    CHECK(device.failure.message.find("not cooperative") != std::string::npos);
    launch.u.dispatch.flags = WYE_LAUNCH_COOPERATIVE;
    REQUIRE(device.run(launch) == WYE_OK);
    REQUIRE(device.run(launch) == WYE_OK);
    wye_queue_object* other = device.queue_create();
    REQUIRE(device.submit({&launch, 1}, {}, other) == WYE_OK);
    REQUIRE(device.await(other, device.value, UINT64_MAX, nullptr) == WYE_OK);
    REQUIRE(given.size() == 3);
    CHECK(given[0] == given[1]);
    CHECK(given[0] != given[2]);
    CHECK(found == std::vector<std::uint32_t>{0, 0, 0, 1, 0, 0});
    device.queue_table->destroy(other);

    given.clear();
    found.clear();
    const wye_operation two[] = {launch, launch};
    const harness::Command command(device, two);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    REQUIRE(device.run(command.execute()) == WYE_OK);
    REQUIRE(device.run(command.execute()) == WYE_OK);
    REQUIRE(given.size() == 4);
    CHECK(given[0] != given[1]);
    CHECK(given[0] == given[2]);
    CHECK(given[1] == given[3]);
    CHECK(found == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 0, 1});
}

TEST_CASE("programs: saved and loaded again, wrong entries, limits, large workgroup memory") {
    Rig rig;
    Device device(rig.plugin);
    wye_program_object* program = device.program(rig::artifact());
    wye_bytes saved{};
    REQUIRE(device.table->program_save(device.object, program, &saved, nullptr) == WYE_OK);
    CHECK(std::string_view(static_cast<const char*>(saved.data), saved.size) == rig::kPtx);
    const wye_artifact artifact = rig::artifact("other");
    wye_program_object* again = nullptr;
    REQUIRE(device.table->program_load(device.object, &artifact, saved, &again, nullptr) == WYE_OK);
    device.table->program_destroy(device.object, again);
    driver().refuse_images(CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(device.table->program_load(device.object, &artifact, saved, &again, nullptr) ==
          WYE_UNSUPPORTED);
    CHECK(device.program(artifact) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.subject == "test");
    CHECK(device.failure.message.find("`test`: ptxas application ptx input, line 2") !=
          std::string::npos);
    CHECK(device.failure.message.find("[source line 2: .visible .entry other]") !=
          std::string::npos);
    REQUIRE(device.failure.cause != nullptr);
    CHECK(device.failure.cause->message.find("not to its liking") != std::string::npos);
    driver().refuse_images(CUDA_SUCCESS);

    CHECK(device.program(rig::artifact("absent")) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.message.find("`absent`") != std::string::npos);
    wye_artifact wide = rig::artifact();
    wide.workgroup_size[1] = 9;  // 576 invocations; the fake kernel takes 512
    CHECK(device.program(wide) == nullptr);
    CHECK(device.failure.code == WYE_LIMIT_EXCEEDED);
    CHECK(device.failure.message.find("512") != std::string::npos);
    wye_artifact shared = rig::artifact();
    shared.shared_bytes = 300000;
    CHECK(device.program(shared) == nullptr);
    CHECK(device.failure.code == WYE_LIMIT_EXCEEDED);
    wye_artifact foreign = rig::artifact();
    foreign.format = {WYE_FORMAT_OPENCL_C, sizeof WYE_FORMAT_OPENCL_C - 1};
    CHECK(device.program(foreign) == nullptr);
    CHECK(device.failure.code == WYE_UNSUPPORTED);

    shared.shared_bytes = 100000;
    static unsigned launched;
    driver().set_kernel([](const fake_cuda::Launch& launch) { launched = launch.shared_bytes; });
    wye_program_object* large = device.program(shared);
    REQUIRE(large != nullptr);
    wye_buffer_object* a = device.buffer(256);
    const wye_binding bindings[] = {binding(a, 0, 64), binding(a, 0, 64)};
    const std::uint32_t step = 1;
    REQUIRE(device.run(harness::dispatch(large, bindings, {1, 1, 1}, &step)) == WYE_OK);
    CHECK(launched == 100000);
    // A part of a grid needs a grid slot.
    wye_operation split = harness::dispatch(program, bindings, {1, 1, 1}, &step);
    split.u.dispatch.group_offset[0] = 1;
    CHECK(device.run(split) == WYE_UNSUPPORTED);
    // Nothing was queued, so the queue still works. It also works after a launch that the driver
    // refuses.
    driver().fail_next_launch(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    CHECK(device.run(harness::dispatch(program, bindings, {1, 1, 1}, &step)) == WYE_LIMIT_EXCEEDED);
    CHECK(device.run(harness::fill(a, 0, 4, 1, 4)) == WYE_OK);
}

TEST_CASE("a fill that the driver refuses in the middle fails, and the next one runs") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(256);
    driver().fail_next_copy(CUDA_ERROR_INVALID_VALUE);
    const wye_operation halves = harness::fill(a, 0, 256, 0x1111111122222222U, 8);
    CHECK(device.submit({&halves, 1}) == WYE_OK);
    CHECK(device.wait() == WYE_DRIVER);
    CHECK(device.failure.native_code == CUDA_ERROR_INVALID_VALUE);
    CHECK(device.run(harness::fill(a, 0, 256, 1, 4)) == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(a, 256)) == std::vector<std::uint32_t>(64, 1));
}

TEST_CASE("one queue waits for another") {
    Rig rig;
    Device device(rig.plugin);
    wye_queue_object* other = device.queue_create();
    wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
    wye_buffer_object* y = device.buffer(256);
    wye_buffer_object* z = device.buffer(256);
    wye_program_object* program = device.program(rig::artifact());
    const std::uint32_t step = 1;
    const wye_binding first[] = {binding(x, 0, 64), binding(y, 0, 64)};
    const wye_binding second[] = {binding(y, 0, 64), binding(z, 0, 64)};
    driver().hold(1);
    for (int round = 0; round < 3; ++round) {
        const wye_operation produce = harness::dispatch(program, first, {1, 1, 1}, &step);
        REQUIRE(device.submit({&produce, 1}) == WYE_OK);
    }
    const wye_event wait = device.event(device.queue, device.value);
    const wye_operation consume = harness::dispatch(program, second, {1, 1, 1}, &step);
    REQUIRE(device.submit({&consume, 1}, {&wait, 1}, other) == WYE_OK);
    CHECK(device.query(other, device.value, nullptr) == WYE_NOT_READY);
    driver().hold(0);
    CHECK(device.await(other, device.value, UINT64_MAX, nullptr) == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(z, 256)) == counting(64, 2));
    device.queue_table->destroy(other);
}

TEST_CASE("a queue that others wait for may be destroyed; its failure is no matter of order") {
    Rig rig;
    Device device(rig.plugin);
    wye_queue_object* other = device.queue_create();
    wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
    wye_buffer_object* y = device.buffer(256);
    const wye_operation produce = harness::copy(x, y, 0, 0, 256);
    wye_operation bad[] = {produce, {}};
    bad[1].kind = 77;
    REQUIRE(device.submit(bad, {}, other) == WYE_OK);  // its value fails
    wye_event order = device.event(other, device.value);
    order.flags = WYE_EVENT_ORDER_ONLY;
    const wye_operation consume = harness::copy(y, x, 128, 0, 128);
    REQUIRE(device.submit({&consume, 1}, {&order, 1}) == WYE_OK);
    CHECK(device.wait() == WYE_OK);

    driver().hold(1);
    REQUIRE(device.submit({&produce, 1}, {}, other) == WYE_OK);
    order = device.event(other, device.value);
    order.flags = WYE_EVENT_ORDER_ONLY;
    REQUIRE(device.submit({&consume, 1}, {&order, 1}) == WYE_OK);
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_NOT_READY);
    driver().hold(0);
    device.queue_table->destroy(other);
    CHECK(device.wait() == WYE_OK);
    const auto words = values_of<std::uint32_t>(device.download(x, 256));
    CHECK(words[0] == words[32]);
}

TEST_CASE("the time that a queue waits for another is not that of its work") {
    Rig rig;
    Device device(rig.plugin, true);
    wye_queue_object* const one = device.queue;
    wye_queue_object* const two = device.queue_create();
    wye_buffer_object* a = device.buffer(64);
    const wye_operation work = harness::fill(a, 0, 64, 1, 4);
    for (const auto& [first, second] : {std::pair(one, two), std::pair(two, one)}) {
        driver().hold(1);
        for (int i = 0; i < 3; ++i) REQUIRE(device.submit({&work, 1}, {}, first) == WYE_OK);
        const wye_event wait = device.event(first, device.value);
        REQUIRE(device.submit({&work, 1}, {&wait, 1}, second) == WYE_OK);
        driver().hold(0);
        REQUIRE(device.await(second, device.value, UINT64_MAX, nullptr) == WYE_OK);
        wye_timing timing{};
        timing.header.size = sizeof timing;
        REQUIRE(device.queue_table->timing(second, device.value, &timing, nullptr) == WYE_OK);
        CHECK(timing.device_ns == 250000);  // from one event to the next
    }
    device.queue_table->destroy(two);
}

TEST_CASE("times come from the driver's events, of queues that ask for them") {
    Rig rig;
    Device device(rig.plugin, true);
    wye_buffer_object* a = device.buffer(64);
    const auto host_ns = [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
    };
    const std::uint64_t before = host_ns();
    REQUIRE(device.run(harness::fill(a, 0, 64, 1, 4)) == WYE_OK);
    const std::uint64_t after = host_ns();
    wye_timing timing{};
    timing.header.size = sizeof timing;
    CHECK(device.queue_table->timing(device.queue, device.value, &timing, nullptr) == WYE_OK);
    CHECK(timing.device_ns == 250000);
    // Events of the fake are 250 us apart. The work begins one to three events after the event that
    // the plugin has put on the host's clock.
    CHECK(timing.begin_ns >= before + 250000);
    CHECK(timing.begin_ns <= after + 3 * 250000);
    CHECK(timing.end_ns == timing.begin_ns + 250000);
    device.timed = false;
    REQUIRE(device.run(harness::fill(device.buffer(64), 0, 64, 1, 4)) == WYE_OK);
    CHECK(device.queue_table->timing(device.queue, device.value, &timing, nullptr) ==
          WYE_UNSUPPORTED);
}

TEST_CASE("several threads wait while one submits") {
    Rig rig(rig::Config{{"cuda.spin_us", "5"}});
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(4096);
    std::atomic<std::uint64_t> newest = 0;
    std::atomic<int> failures = 0;
    std::vector<std::thread> waiters;
    for (int t = 0; t < 3; ++t)
        waiters.emplace_back([&, t] {
            for (std::uint64_t value = 1; value <= 400; ++value) {
                while (newest.load() < value) std::this_thread::yield();
                const wye_status status =
                    t == 0 ? device.await(device.queue, value, harness::kDeadline, nullptr)
                           : device.await(device.queue, value, UINT64_MAX, nullptr);
                if (status != WYE_OK) ++failures;
            }
        });
    for (std::uint64_t i = 1; i <= 400; ++i) {
        std::vector<std::uint32_t> out(16);
        driver().hold(i % 7 == 0);
        const wye_operation op = harness::fill(a, 0, 4096, i, 4);
        if (device.submit({&op, 1}) != WYE_OK) ++failures;
        newest = device.value;
        driver().hold(0);
    }
    for (std::thread& waiter : waiters) waiter.join();
    CHECK(failures == 0);
    CHECK(values_of<std::uint32_t>(device.download(a, 4))[0] == 400);
}
