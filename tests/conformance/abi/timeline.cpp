// SPDX-License-Identifier: Apache-2.0
//
// The values of submits: numbering, polling, waiting, timing.
#include <chrono>
#include <thread>

#include "conformance/abi/rig.hpp"

using harness::bytes_of;
using harness::counting;
using harness::fill;
using harness::kDeadline;
using harness::Rig;

TEST_SUITE_BEGIN("timeline");

TEST_CASE("the host chooses the values, and an empty submit is reached after earlier ones (P-25)") {
    Rig rig;
    constexpr std::uint64_t kSubmits = 600;
    constexpr std::uint64_t kBytes = 1U << 16U;
    CHECK(rig.device.query(rig.device.queue, 0, nullptr) == WYE_OK);
    wye_buffer_object* a = rig.device.buffer(kBytes);
    for (std::uint64_t i = 1; i <= kSubmits; ++i) {
        const wye_operation op = fill(a, 0, kBytes, i, 4);
        rig.device.newest = i * 3 - 1;  // each value is a multiple of 3
        REQUIRE(rig.device.submit({&op, 1}) == WYE_OK);
    }
    rig.device.newest += 1000;
    REQUIRE(rig.device.submit({}) == WYE_OK);
    wye_queue_object* queue = rig.device.queue;
    const std::uint64_t last = rig.device.value;
    CHECK(rig.device.query(queue, last + 1, nullptr) == WYE_NOT_READY);
    CHECK(rig.device.await(queue, 8, UINT64_MAX, nullptr) ==
          WYE_OK);  // no submit had the value 8, so it is reached with 6
    CHECK(rig.device.await(queue, kSubmits * 3 - 4, 60'000'000'000U, nullptr) == WYE_OK);
    CHECK(rig.device.query(queue, 8, nullptr) == WYE_OK);
    CHECK(rig.device.wait() == WYE_OK);
    CHECK(rig.device.query(queue, last - 1, nullptr) == WYE_OK);
    CHECK(rig.device.query(queue, last + 1, nullptr) == WYE_NOT_READY);
    CHECK(rig.words(a, 1)[0] == kSubmits);
}

TEST_CASE("a wait with a deadline ends by it, or with what was waited for (P-27)") {
    Rig rig;
    constexpr std::uint64_t kBytes = std::uint64_t{64} << 20U;
    wye_buffer_object* a = rig.device.buffer(kBytes);
    for (std::uint32_t round = 1; round <= 8; ++round) {
        const wye_operation op = fill(a, 0, kBytes, round, 4);
        REQUIRE(rig.device.submit({&op, 1}) == WYE_OK);
    }
    const wye_status status = rig.device.wait(1);
    CHECK((status == WYE_OK || status == WYE_TIMEOUT));
    if (status == WYE_TIMEOUT) harness::check_helpful(rig.device.failure, WYE_TIMEOUT);
    CHECK(rig.device.wait() == WYE_OK);
    CHECK(rig.device.query(rig.device.queue, rig.device.value, nullptr) == WYE_OK);
    CHECK(rig.words(a, 1)[0] == 8);
}

TEST_CASE("several threads wait while one submits (P-15)") {
    Rig rig;
    wye_buffer_object* a = rig.device.buffer(4096);
    constexpr std::uint64_t kSubmits = 200;
    std::atomic<std::uint64_t> newest = 0;
    std::atomic<int> failures = 0;
    std::vector<std::thread> waiters;
    for (int t = 0; t < 3; ++t)
        waiters.emplace_back([&, t] {
            for (std::uint64_t value = 1; value <= kSubmits; ++value) {
                while (newest.load() < value) std::this_thread::yield();
                const wye_status status = rig.device.await(
                    rig.device.queue, value, t == 0 ? 60'000'000'000U : UINT64_MAX, nullptr);
                if (status != WYE_OK) ++failures;
            }
        });
    for (std::uint64_t i = 1; i <= kSubmits; ++i) {
        const wye_operation op = fill(a, 0, 4096, i, 4);
        if (rig.device.submit({&op, 1}) != WYE_OK) ++failures;
        newest = i;
    }
    for (std::thread& waiter : waiters) waiter.join();
    CHECK(failures == 0);
    CHECK(rig.words(a, 1)[0] == kSubmits);
}

TEST_CASE("the time of a submit covers all of it; a value never submitted has no time (P-19)") {
    Rig rig(true);
    const wye_queue_table& table = *rig.device.queue_table;
    if (table.timing == nullptr) {
        CHECK_FALSE(rig.plugin.flag(WYE_FACT_KEY_DEVICE_TIMESTAMPS));
        return harness::not_applicable("the plugin gives no times");
    }
    constexpr std::uint64_t kLarge = std::uint64_t{64} << 20U;
    wye_buffer_object* a = rig.device.buffer(kLarge);
    const wye_operation large = fill(a, 0, kLarge, 5, 4);
    const wye_operation both[] = {large, fill(a, 0, 64, 5, 4)};
    wye_timing time{};
    time.header.size = sizeof time;
    const auto host_ns = [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
    };
    constexpr std::uint64_t kClockError = 1'000'000'000;  // a time of another clock differs by more
    for (const std::span<const wye_operation> work : {std::span(both, 1), std::span(both, 2)}) {
        const std::uint64_t before = host_ns();
        REQUIRE(rig.device.submit(work) == WYE_OK);
        REQUIRE(rig.device.wait() == WYE_OK);
        const std::uint64_t after = host_ns();
        REQUIRE(table.timing(rig.device.queue, rig.device.value, &time, nullptr) == WYE_OK);
        CHECK(time.device_ns > 100);
        CHECK(time.device_ns < 10'000'000'000U);
        CHECK((time.begin_ns == 0) == (time.end_ns == 0));
        if (time.begin_ns == 0) continue;
        CHECK(time.end_ns > time.begin_ns);
        CHECK(time.end_ns - time.begin_ns >= time.device_ns);
        CHECK(time.begin_ns + kClockError > before);
        CHECK(time.end_ns < after + kClockError);
    }
    CHECK(table.timing(rig.device.queue, 99, &time, nullptr) == WYE_UNSUPPORTED);
    const std::uint64_t timed = rig.device.value;
    rig.device.timed = false;
    REQUIRE(rig.device.run(fill(a, 0, 64, 1, 4)) == WYE_OK);
    CHECK(table.timing(rig.device.queue, rig.device.value, &time, nullptr) == WYE_UNSUPPORTED);
    CHECK(table.timing(rig.device.queue, timed, &time, nullptr) == WYE_OK);
}

TEST_CASE("timed submits and others keep their order (P-25)") {
    Rig rig;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 20U;
    wye_buffer_object* a = rig.device.buffer(kBytes);
    wye_buffer_object* b = rig.device.buffer(kBytes);
    for (std::uint64_t round = 1; round <= 40; ++round) {
        wye_operation copy{};
        copy.kind = WYE_OPERATION_COPY;
        copy.u.copy = {a, b, 0, 0, kBytes, 0, 0};
        rig.device.timed = round % 3 == 0;
        const wye_operation change = fill(a, 0, kBytes, round, 4);
        REQUIRE(rig.device.submit({&change, 1}) == WYE_OK);
        rig.device.timed = round % 2 == 0;
        REQUIRE(rig.device.submit({&copy, 1}) == WYE_OK);
    }
    CHECK(rig.device.wait() == WYE_OK);
    harness::check_same(rig.words(b, kBytes / 4), std::vector<std::uint32_t>(kBytes / 4, 40));
    CHECK(rig.device.query(rig.device.queue, rig.device.value, nullptr) == WYE_OK);
}

TEST_CASE("a failed value fails what waits for it, and no other value (P-26)") {
    Rig rig;
    const wye_queue_table& table = *rig.device.queue_table;
    wye_queue_object* queue = rig.device.queue;
    wye_queue_object* other = rig.device.queue_create();
    const auto first = counting(1024, 1);
    const auto second = counting(1024, 2);
    wye_buffer_object* a = rig.device.buffer(bytes_of(counting(1024)));
    const auto submit = [&](const std::vector<std::uint32_t>& words,
                            std::span<const wye_event> waits, wye_queue_object* to) {
        const wye_operation op = harness::upload(a, 0, bytes_of(words));
        return rig.device.submit({&op, 1}, waits, to);
    };
    const auto outcome = [&](wye_queue_object* of, std::uint64_t value) {
        return rig.device.await(of, value, kDeadline, nullptr);
    };

    REQUIRE(submit(first, {}, queue) == WYE_OK);
    const std::uint64_t before = rig.device.value;
    wye_operation bad[] = {harness::upload(a, 0, bytes_of(first)), {}};
    bad[1].kind = 77;
    const wye_status refused = rig.device.submit(bad);
    const wye_event event = rig.device.event(queue, rig.device.newest);
    if (refused != WYE_OK) CHECK(refused == WYE_UNSUPPORTED);
    REQUIRE(submit(second, {}, queue) == WYE_OK);
    const std::uint64_t after = rig.device.value;
    CHECK(outcome(queue, before) == WYE_OK);
    CHECK(outcome(queue, after) == WYE_OK);
    if (refused == WYE_OK) {
        rig.device.value = event.value;
        CHECK(rig.device.wait(kDeadline) == WYE_UNSUPPORTED);
        harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
        CHECK(rig.device.query(queue, event.value, nullptr) == WYE_UNSUPPORTED);
        for (wye_queue_object* waiting : {queue, other}) {
            wye_status status = submit(first, {&event, 1}, waiting);
            if (status == WYE_OK) status = outcome(waiting, rig.device.value);
            CHECK(status == WYE_UNSUPPORTED);
        }
    }
    const wye_event fine = rig.device.event(queue, after);
    for (wye_queue_object* waiting : {queue, other}) {
        REQUIRE(submit(second, {&fine, 1}, waiting) == WYE_OK);
        CHECK(outcome(waiting, rig.device.value) == WYE_OK);
    }
    harness::check_same(rig.words(a, 1024), second);
    CHECK(outcome(queue, before) == WYE_OK);
    CHECK(outcome(queue, after) == WYE_OK);
    const wye_device_table& device = *rig.device.table;
    if (device.retire != nullptr)
        CHECK(device.retire(rig.device.object, &event, nullptr) == WYE_OK);
    CHECK(outcome(queue, after) == WYE_OK);
    table.destroy(other);
}

TEST_CASE("a failure is kept while others follow, until the host retires it (P-26)") {
    Rig rig;
    wye_buffer_object* a = rig.zeros(64);
    wye_operation bad[] = {fill(a, 0, 64, 1, 4), {}};
    bad[1].kind = 77;
    if (rig.device.submit(bad) != WYE_OK)
        return harness::not_applicable(
            "the plugin refuses such a submit at once and queues nothing");
    const std::uint64_t first = rig.device.value;
    for (int n = 0; n < 4200; ++n) {
        if (n % 2 == 1) REQUIRE(rig.device.submit({bad, 1}) == WYE_OK);
        REQUIRE(rig.device.submit(bad) == WYE_OK);
    }
    CHECK(rig.device.await(rig.device.queue, first, kDeadline, nullptr) == WYE_UNSUPPORTED);
    CHECK(rig.device.query(rig.device.queue, first + 1, nullptr) == WYE_UNSUPPORTED);
    CHECK(rig.device.query(rig.device.queue, first + 2, nullptr) == WYE_OK);
}

TEST_CASE(
    "a wait that only orders ends with its value, whether that was reached or failed (P-26)") {
    Rig rig;
    wye_queue_object* queue = rig.device.queue;
    wye_queue_object* other = rig.device.queue_create();
    constexpr std::uint32_t kWords = 1U << 20U;
    const auto words = counting(kWords, 1), after = counting(kWords, 2);
    wye_buffer_object* a = rig.device.buffer(std::uint64_t{kWords} * 4);
    const wye_operation up = harness::upload(a, 0, bytes_of(words));
    const wye_operation again = harness::upload(a, 0, bytes_of(after));
    const auto order = [&](wye_queue_object* of, std::uint64_t value) {
        wye_event out = rig.device.event(of, value);
        out.flags = WYE_EVENT_ORDER_ONLY;
        return out;
    };
    // Submits an upload, which waits for the event, to one queue and then to the other. The buffer
    // ends with the right bytes only if the submit has waited.
    const auto runs_behind = [&](const wye_event& event) {
        for (wye_queue_object* waiting : {queue, other}) {
            REQUIRE(rig.device.submit({&again, 1}, {&event, 1}, waiting) == WYE_OK);
            CHECK(rig.device.await(waiting, rig.device.value, kDeadline, nullptr) == WYE_OK);
        }
        harness::check_same(rig.words(a, kWords), after);
    };
    REQUIRE(rig.device.submit({&up, 1}, {}, queue) == WYE_OK);
    runs_behind(order(queue, rig.device.value));

    wye_operation bad[] = {up, {}};
    bad[1].kind = 77;
    if (rig.device.submit(bad) == WYE_OK) runs_behind(order(queue, rig.device.value));
    if (const harness::Timeline made(rig.device); made.timeline != nullptr) {
        wye_error_desc failure{};
        failure.header.size = sizeof failure;
        failure.code = WYE_CANCELLED;
        failure.message = {"given up", 8};
        failure.fix = {"Fix: none, this is a test", 25};
        wye_event event = made.event(1);
        CHECK(made.table.timeline_fail(rig.device.object, &event, &failure, nullptr) == WYE_OK);
        event.flags = WYE_EVENT_ORDER_ONLY;
        runs_behind(event);
    }
    if (rig.device.queue_table->cancel != nullptr) {
        // The submit is cancelled while a submit of another queue waits for it.
        const std::vector<wye_operation> many(200, up);
        REQUIRE(rig.device.submit(many, {}, queue) == WYE_OK);
        const std::uint64_t value = rig.device.value;
        const wye_event event = order(queue, value);
        REQUIRE(rig.device.submit({&again, 1}, {&event, 1}, other) == WYE_OK);
        const std::uint64_t behind = rig.device.value;
        CHECK(rig.device.queue_table->cancel(queue, value, value, nullptr) == WYE_OK);
        CHECK(rig.device.await(other, behind, kDeadline, nullptr) == WYE_OK);
        harness::check_same(rig.words(a, kWords), after);
    }
    wye_event odd = rig.device.event(queue, 0);
    odd.flags = 6;
    CHECK(rig.device.submit({&again, 1}, {&odd, 1}, other) == WYE_UNSUPPORTED);
    odd = rig.device.event(queue, 0);
    odd.reserved = 1;
    CHECK(rig.device.submit({&again, 1}, {&odd, 1}, other) == WYE_UNSUPPORTED);
    rig.device.queue_table->destroy(other);
}

TEST_CASE("cancelled work ends with CANCELLED or as usual; all other work runs (P-36)") {
    Rig rig;
    const wye_queue_table& table = *rig.device.queue_table;
    if (table.cancel == nullptr) return harness::not_applicable("the plugin cancels nothing");
    constexpr std::uint64_t kBytes = std::uint64_t{32} << 20U;
    wye_queue_object* queue = rig.device.queue;
    wye_buffer_object* a = rig.device.buffer(kBytes);
    const std::vector<std::byte> before(kBytes, std::byte{1}), last(kBytes, std::byte{2});
    std::vector<std::uint64_t> values;
    for (const auto* bytes : {&before, &before, &before, &before, &last}) {
        const wye_operation op = harness::upload(a, 0, *bytes);
        REQUIRE(rig.device.submit({&op, 1}) == WYE_OK);
        values.push_back(rig.device.value);
    }
    CHECK(table.cancel(queue, values[1], values[2], nullptr) == WYE_OK);
    CHECK(table.cancel(queue, values[4] + 1, UINT64_MAX, nullptr) ==
          WYE_OK);  // no submit had these values
    for (std::size_t i = 0; i < values.size(); ++i) {
        rig.device.value = values[i];
        const wye_status status = rig.device.wait(kDeadline);
        const bool cancelled = i == 1 || i == 2;
        CHECK((status == WYE_OK || (cancelled && status == WYE_CANCELLED)));
        if (status != WYE_OK) harness::check_helpful(rig.device.failure, WYE_CANCELLED);
    }
    harness::check_same(rig.device.download(a, kBytes), last);
}

TEST_SUITE_END();
