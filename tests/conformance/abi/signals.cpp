// SPDX-License-Identifier: Apache-2.0
//
// Timelines that submits and the host signal.
#include <thread>

#include "conformance/abi/rig.hpp"

using harness::bytes_of;
using harness::counting;
using harness::kDeadline;
using harness::Rig;

TEST_SUITE_BEGIN("timeline");

TEST_CASE(
    "a value that a submit signals is reached with it, and orders work of two queues (P-37)") {
    Rig rig;
    const harness::Timeline made(rig.device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    wye_queue_object* other = rig.device.queue_create();
    constexpr std::uint32_t kWords = 2U << 20U;
    wye_buffer_object* a = rig.device.buffer(std::uint64_t{kWords} * 4);
    wye_buffer_object* b = rig.device.buffer(std::uint64_t{kWords} * 4);
    for (std::uint32_t round = 1; round <= 6; ++round) {
        const auto words = counting(kWords, round);
        const wye_operation up = harness::upload(a, 0, bytes_of(words));
        const wye_operation copy = harness::copy(a, b, 0, 0, std::uint64_t{kWords} * 4);
        const wye_event there = made.event(round * 10), back = made.event(round * 10 + 5);
        CHECK(made.query(round * 10) == WYE_NOT_READY);
        REQUIRE(rig.device.submit({&up, 1}, {}, nullptr, {&there, 1}) == WYE_OK);
        REQUIRE(rig.device.submit({&copy, 1}, {&there, 1}, other, {&back, 1}) == WYE_OK);
        CHECK(made.wait(round * 10 + 5) == WYE_OK);
        CHECK(made.query(round * 10) == WYE_OK);
        harness::check_same(rig.words(b, kWords), words);
    }
    rig.device.queue_table->destroy(other);
}

TEST_CASE("the host signals and fails values; waits for what nobody signals are refused (P-37)") {
    Rig rig;
    const harness::Timeline made(rig.device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    wye_buffer_object* a = rig.device.buffer(bytes_of(counting(16)));
    const auto words = counting(16, 7);
    const wye_operation up = harness::upload(a, 0, bytes_of(words));
    const wye_event first = made.event(1), second = made.event(2);
    CHECK(made.query(0) == WYE_OK);
    if (const wye_status held = rig.device.submit({&up, 1}, {&first, 1}); held != WYE_OK) {
        harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
        CHECK(made.signal(1) == WYE_OK);
        CHECK(rig.device.submit({&up, 1}, {&first, 1}) == WYE_OK);
    } else {
        CHECK(made.signal(1) == WYE_OK);
    }
    CHECK(made.query(1) == WYE_OK);
    CHECK(rig.device.wait(kDeadline) == WYE_OK);
    harness::check_same(rig.words(a, 16), words);
    std::thread signals([&] { CHECK(made.signal(2) == WYE_OK); });
    CHECK(made.wait(2) == WYE_OK);
    signals.join();
    CHECK(rig.device.submit({&up, 1}, {&second, 1}) == WYE_OK);
    CHECK(rig.device.wait(kDeadline) == WYE_OK);

    wye_error_desc failure{};
    failure.header.size = sizeof failure;
    failure.code = WYE_CANCELLED;
    failure.message = {"given up", 8};
    failure.fix = {"Fix: none, this is a test", 25};
    const wye_event third = made.event(3);
    CHECK(made.table.timeline_fail(rig.device.object, &third, &failure, nullptr) == WYE_OK);
    harness::Sink sink;
    CHECK(made.table.query(rig.device.object, &third, sink.out()) == WYE_CANCELLED);
    CHECK(sink.failure().message == "given up");
    wye_status waiting = rig.device.submit({&up, 1}, {&third, 1});
    if (waiting == WYE_OK) waiting = rig.device.wait(kDeadline);
    CHECK(waiting == WYE_CANCELLED);
    CHECK(made.query(2) == WYE_OK);
    CHECK(made.signal(4) == WYE_OK);
    CHECK(made.query(4) == WYE_OK);
}

TEST_CASE("a wait for a value that was not submitted is refused, or waits (P-37)") {
    Rig rig;
    wye_queue_object* other = rig.device.queue_create();
    const auto words = counting(16, 7);
    wye_buffer_object* a = rig.device.buffer(bytes_of(counting(16)));
    const wye_operation up = harness::upload(a, 0, bytes_of(words));
    const std::uint64_t later = rig.device.newest + 2;
    const wye_event event = rig.device.event(other, later);
    const wye_status held = rig.device.submit({&up, 1}, {&event, 1});
    if (held != WYE_OK) harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
    rig.device.newest = later - 1;
    CHECK(rig.device.submit({}, {}, other) == WYE_OK);
    if (held != WYE_OK) CHECK(rig.device.submit({&up, 1}, {&event, 1}) == WYE_OK);
    harness::check_same(rig.words(a, 16), words);
    rig.device.queue_table->destroy(other);
}

TEST_CASE("a submit that fails fails what it signals (P-26, P-37)") {
    Rig rig;
    const harness::Timeline made(rig.device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    const auto words = counting(1024);
    wye_buffer_object* a = rig.device.buffer(bytes_of(words));
    wye_operation bad[] = {harness::upload(a, 0, bytes_of(words)), {}};
    bad[1].kind = 77;
    const wye_event event = made.event(1);
    const wye_status status = rig.device.submit(bad, {}, nullptr, {&event, 1});
    if (status == WYE_OK)
        CHECK(made.wait(1) == WYE_UNSUPPORTED);
    else
        CHECK(made.query(1) == WYE_NOT_READY);  // nothing was queued, nothing is signalled
    const wye_event next = made.event(2);
    REQUIRE(rig.device.submit({bad, 1}, {}, nullptr, {&next, 1}) == WYE_OK);
    CHECK(made.wait(2) == WYE_OK);
}

TEST_CASE("waits are for all events or for any; a wait for any returns the event's index (P-27)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    wye_queue_object* other = rig.device.queue_create();
    wye_buffer_object* a = rig.device.buffer(64);
    const auto words = counting(16);
    const wye_operation up = harness::upload(a, 0, bytes_of(words));
    REQUIRE(rig.device.submit({&up, 1}) == WYE_OK);
    const wye_event here = rig.device.event(rig.device.queue, rig.device.value);
    REQUIRE(rig.device.submit({&up, 1}, {&here, 1}, other) == WYE_OK);
    const wye_event all[] = {here, rig.device.event(other, rig.device.value)};
    CHECK(table.wait(rig.device.object, all, 2, 0, kDeadline, nullptr, nullptr) == WYE_OK);
    const wye_event never = rig.device.event(rig.device.queue, UINT64_MAX);
    const wye_event some[] = {never, all[1], never};
    std::uint64_t index = 99;
    CHECK(table.wait(rig.device.object, some, 3, 0, 1000, &index, nullptr) == WYE_TIMEOUT);
    CHECK(table.wait(rig.device.object, &never, 1, 1, 1000, &index, nullptr) == WYE_TIMEOUT);
    CHECK(index == 99);
    CHECK(table.wait(rig.device.object, some, 3, 1, kDeadline, &index, nullptr) == WYE_OK);
    CHECK(index == 1);
    rig.device.queue_table->destroy(other);
}

TEST_SUITE_END();
