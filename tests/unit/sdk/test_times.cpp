// SPDX-License-Identifier: Apache-2.0
//
// Times of a device's clock, converted to the host's clock, and how long waits poll.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "wye/sdk/spin.hpp"
#include "wye/sdk/work_times.hpp"

namespace {

using wye::sdk::monotonic_ns;
using wye::sdk::NanosecondMatch;
using wye::sdk::times_on_host;
using wye::sdk::WorkTimes;

std::uint64_t steady_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

constexpr std::uint64_t kSecond = 1'000'000'000;

// Reads a clock that is `offset` ahead of the host's, modulo 2^64.
std::optional<std::uint64_t> read_ahead(std::uint64_t offset) { return steady_ns() + offset; }

TEST_CASE("device times become times of the host, with either clock ahead") {
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{1} << 62U, std::uint64_t{0} - 5'000'000'000U}) {
        CAPTURE(offset);
        NanosecondMatch match;
        CHECK(match.is_old());
        const std::uint64_t work = steady_ns();  // before both clocks are read
        const std::uint64_t before = steady_ns();
        match.renew([&] { return read_ahead(offset); });
        const std::uint64_t slack = steady_ns() - before;
        const bool old = match.is_old();
        if (steady_ns() - before < kSecond) CHECK_FALSE(old);
        const WorkTimes times = times_on_host(work + offset, work + offset + 1000, match);
        CHECK(times.spent_ns == 1000);
        CHECK(times.end_ns - times.begin_ns == 1000);
        CHECK(times.begin_ns + slack >= work);
        CHECK(times.begin_ns <= work + slack);
    }
}

TEST_CASE("only one thread at a time reads the clocks") {
    NanosecondMatch match;
    bool second = false;
    match.renew([&] {
        match.renew([&] {
            second = true;
            return read_ahead(0);
        });
        return read_ahead(0);
    });
    CHECK_FALSE(second);
    CHECK(match.moment().host_ns != 0);
}

TEST_CASE("nothing is invented: without a moment, or without times, there is no begin") {
    NanosecondMatch match;
    const std::uint64_t before = steady_ns();
    match.renew([] { return std::optional<std::uint64_t>(); });
    const bool old = match.is_old();  // the clock is not read again at once
    if (steady_ns() - before < kSecond) CHECK_FALSE(old);
    WorkTimes times = times_on_host(10, 30, match);
    CHECK(times.spent_ns == 20);
    CHECK(times.begin_ns == 0);
    CHECK(times.end_ns == 0);
    match.renew([] { return read_ahead(0); });
    for (const auto& [begin, end] : {std::pair(0U, 0U), std::pair(30U, 10U)}) {
        times = times_on_host(begin, end, match);
        CHECK(times.spent_ns == 0);
        CHECK(times.begin_ns == 0);
        CHECK(times.end_ns == 0);
    }
}

TEST_CASE("of several readings the one that took least counts") {
    NanosecondMatch match;
    int reads = 0;
    match.renew([&]() -> std::optional<std::uint64_t> {
        const std::uint64_t now = steady_ns();
        // The first reading is interrupted after it has read the clock.
        if (++reads == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return now;
    });
    CHECK(reads > 1);
    const NanosecondMatch::Moment moment = match.moment();
    const std::uint64_t far = moment.host_ns > moment.anchor ? moment.host_ns - moment.anchor
                                                             : moment.anchor - moment.host_ns;
    CHECK(far < 90'000'000);  // the first reading is 100 ms off
}

TEST_CASE("readings that took more than a millisecond tell no moment") {
    NanosecondMatch match;
    match.renew([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return read_ahead(0);
    });
    CHECK(match.moment().host_ns == 0);
    CHECK(times_on_host(10, 30, match).begin_ns == 0);
}

TEST_CASE("a moment is kept until a new one is more certain than it is with its drift") {
    NanosecondMatch match;
    for (int i = 0; i < 100 && match.moment().host_ns == 0; ++i)
        match.renew([] { return read_ahead(0); });
    const NanosecondMatch::Moment first = match.moment();
    REQUIRE(first.host_ns != 0);
    match.renew([] {
        const std::uint64_t until = steady_ns() + 500'000;  // 500 us: as much as 5 s of drift
        while (steady_ns() < until) {
        }
        return read_ahead(7);
    });
    if (steady_ns() - first.host_ns < 2 * kSecond) CHECK(match.moment().anchor == first.anchor);
    // After a second, 100 us of drift allow another close reading.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (int i = 0; i < 100 && match.moment().anchor == first.anchor; ++i)
        match.renew([] { return read_ahead(0); });
    CHECK(match.moment().anchor != first.anchor);
}

TEST_CASE("a failed renewal keeps the moment before") {
    NanosecondMatch match;
    match.renew([] { return read_ahead(0); });
    const auto before = match.moment();
    match.renew([] { return std::optional<std::uint64_t>(); });
    CHECK(match.moment().anchor == before.anchor);
    CHECK(match.moment().host_ns == before.host_ns);
    CHECK(before.host_ns != 0);
}

TEST_CASE("after a long wait the next one polls for an eighth of the time, until one is short") {
    wye::sdk::SpinTime spin(2'000'000);
    CHECK(spin.next_ns() == 2'000'000);
    spin.waited(2'000'001);
    CHECK(spin.next_ns() == 250'000);
    spin.waited(30'000'000);
    CHECK(spin.next_ns() == 250'000);
    spin.waited(2'000'000);  // polling for the whole time would have seen the end
    CHECK(spin.next_ns() == 2'000'000);
    wye::sdk::SpinTime off(0);
    off.waited(1);
    CHECK(off.next_ns() == 0);
}

}  // namespace
