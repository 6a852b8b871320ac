// SPDX-License-Identifier: Apache-2.0
//
// Times of submits against the host's clock, and the order of submits with and without times.
#include <chrono>

#include "conformance/abi/rig.hpp"

using harness::fill;
using harness::Rig;

namespace {

std::uint64_t now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

TEST_CASE(
    "the device's time is within the host's, and submits in order end in order (P-19, P-62)") {
    Rig rig(true);
    const wye_queue_table& table = *rig.device.queue_table;
    if (table.timing == nullptr) {
        CHECK_FALSE(rig.plugin.flag(WYE_FACT_KEY_DEVICE_TIMESTAMPS));
        return harness::not_applicable("the plugin gives no times");
    }
    constexpr std::uint64_t kClockError = 1'000'000;      // maximum error between the two clocks
    constexpr std::uint64_t kOtherClock = 1'000'000'000;  // times of another clock differ by more
    constexpr std::uint64_t kBytes = std::uint64_t{4} << 20U;
    wye_buffer_object* buffer = rig.device.buffer(kBytes);
    REQUIRE(rig.device.run(fill(buffer, 0, kBytes, 1, 4)) == WYE_OK);
    std::uint64_t last_end = 0;
    for (std::uint32_t round = 1; round <= 20; ++round) {
        CAPTURE(round);
        const std::uint64_t before = now_ns();
        REQUIRE(rig.device.run(fill(buffer, 0, kBytes, round, 4)) == WYE_OK);
        const std::uint64_t spent = now_ns() - before;
        wye_timing time{};
        time.header.size = sizeof time;
        REQUIRE(table.timing(rig.device.queue, rig.device.value, &time, nullptr) == WYE_OK);
        // The device's clock and the host's may differ a little in speed.
        CHECK(time.device_ns <= spent + spent / 10 + 100'000);
        wye_timing again{};
        again.header.size = sizeof again;
        REQUIRE(table.timing(rig.device.queue, rig.device.value, &again, nullptr) == WYE_OK);
        CHECK(again.device_ns == time.device_ns);
        if (time.end_ns == 0) continue;
        CHECK(time.begin_ns <= time.end_ns);
        CHECK(time.begin_ns + kOtherClock >= before);
        CHECK(time.end_ns <= before + spent + kOtherClock);
        CHECK(time.end_ns + kClockError >= last_end);
        last_end = time.end_ns;
    }
}

TEST_CASE("submits with and without times take effect in their order (P-19, P-25)") {
    Rig rig;
    if (rig.device.queue_table->timing == nullptr)
        return harness::not_applicable("the plugin gives no times");
    constexpr std::uint32_t kTurns = 60;
    wye_buffer_object* word = rig.zeros(4);
    wye_buffer_object* all = rig.zeros(kTurns * 4);
    for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
        const wye_operation write = fill(word, 0, 4, turn + 1, 4);
        const wye_operation save = harness::copy(word, all, 0, turn * 4, 4);
        rig.device.timed = turn % 3 == 1;
        REQUIRE(rig.device.submit({&write, 1}) == WYE_OK);
        rig.device.timed = turn % 4 == 2;
        REQUIRE(rig.device.submit({&save, 1}) == WYE_OK);
    }
    REQUIRE(rig.device.wait() == WYE_OK);
    harness::check_same(rig.words(all, kTurns), harness::counting(kTurns, 1));
}

TEST_SUITE_END();
