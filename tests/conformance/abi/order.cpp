// SPDX-License-Identifier: Apache-2.0
//
// The properties on which all later cases of a device rely, in an order in which each relies only
// on earlier ones: values, calls that do not wait, borrowed memory, bytes, the order of operations,
// the arguments of programs.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>
#include <utility>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::check_same;
using harness::copy;
using harness::counting;
using harness::Device;
using harness::fill;
using harness::kDeadline;
using harness::Rig;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::seconds kPromptly{
    8};  // a call that does not wait returns in a small part of this
constexpr std::uint64_t kSlowBytes = std::uint64_t{16} << 20U;

// Runs `call` on a thread of its own, and checks that it returns soon. If it does not, the case
// fails by `rule`, and `release` ends what the call may wait for. Returns whether it returned soon.
template <typename Call, typename Release>
bool check_returns(const char* rule, const std::string& what, const Call& call,
                   const Release& release) {
    std::packaged_task<void()> task(call);
    const std::future<void> end = task.get_future();
    std::thread thread(std::move(task));
    const bool soon = end.wait_for(kPromptly) == std::future_status::ready;
    if (!soon) {
        harness::blame(rule);
        FAIL_CHECK(what << " has not returned after " << kPromptly.count() << " seconds");
        release();
        if (end.wait_for(kPromptly) != std::future_status::ready)
            harness::fail_and_leave(rule, (what + " does not return at all").c_str());
    }
    thread.join();
    return soon;
}

// Operations that keep a device busy for a while: milliseconds at least.
std::vector<wye_operation> slow_work(wye_buffer_object* of, std::uint32_t word,
                                     std::size_t count = 16) {
    return std::vector<wye_operation>(count, fill(of, 0, kSlowBytes, word, 4));
}

// Polls `query` until the value is reached or has failed.
wye_status polled(Device& device, std::uint64_t value) {
    const auto until = Clock::now() + std::chrono::nanoseconds(kDeadline);
    wye_status status = WYE_NOT_READY;
    while (status == WYE_NOT_READY && Clock::now() < until) {
        status = device.query(device.queue, value, nullptr);
        std::this_thread::yield();
    }
    return status;
}

template <typename Call>
double seconds_of(const Call& call) {
    const auto begun = Clock::now();
    call();
    return Seconds(Clock::now() - begun).count();
}

// What the calling thread has used: seconds of processor time, and how often it went to sleep.
struct Spent {
    double processor = 0;
    long sleeps = 0;
};
Spent spent() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9,
            usage.ru_nvcsw};
}

std::string milliseconds(double seconds) {
    return std::to_string(static_cast<long>(seconds * 1000)) + " ms";
}

}  // namespace

TEST_SUITE_BEGIN("order");

TEST_CASE("a value is reached when its work has ended, and not before (P-25, P-55)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(kSlowBytes);
    REQUIRE(a != nullptr);
    std::vector<std::uint32_t> got(1);
    const volatile std::uint32_t& word = got[0];
    for (std::uint32_t round = 1; round <= 4; ++round) {
        CAPTURE(round);
        auto work = slow_work(a, round);
        work.push_back(
            harness::download(a, kSlowBytes - 4, std::as_writable_bytes(std::span(got))));
        REQUIRE(device.submit(work) == WYE_OK);
        const bool polls = round % 2 == 1;
        const wye_status status = polls ? polled(device, device.value) : device.wait(kDeadline);
        const std::uint32_t seen = word;
        REQUIRE(status == WYE_OK);
        if (seen == round) continue;
        // Either the work still runs, and writes to memory of this case. Or the work has ended;
        // then a repeated download shows whether bytes are lost or the operations ran in another
        // order.
        const auto until = Clock::now() + kPromptly;
        while (word != round && Clock::now() < until) std::this_thread::yield();
        const bool ended = word != round;
        if (ended) REQUIRE(device.run(work.back()) == WYE_OK);
        const bool lost = word != round;
        if (lost) harness::blame("P-55");
        FAIL_CHECK("`" << std::string(polls ? "query" : "wait") << "` says that value "
                       << device.value << " is reached, but "
                       << std::string(lost    ? "bytes of its operations are lost"
                                      : ended ? "its operations did not run in their order"
                                              : "its last operation has not ended")
                       << ": the word that it downloads is " << seen << ", not " << round);
        return;
    }
    // The last operation writes memory of the device; another queue then reads that memory.
    wye_queue_object* other = device.queue_create();
    wye_buffer_object* b = device.buffer(kSlowBytes);
    REQUIRE(b != nullptr);
    for (std::uint32_t round = 5; round <= 6; ++round) {
        auto work = slow_work(a, round);
        work.push_back(copy(a, b, 0, 0, kSlowBytes));
        REQUIRE(device.submit(work) == WYE_OK);
        REQUIRE(polled(device, device.value) == WYE_OK);
        const wye_operation take =
            harness::download(b, kSlowBytes - 4, std::as_writable_bytes(std::span(got)));
        REQUIRE(device.submit({&take, 1}, {}, other) == WYE_OK);
        REQUIRE(device.await(other, device.value, kDeadline, nullptr) == WYE_OK);
        if (got[0] != round) harness::blame("P-55");
        check_same(got, {round});
    }
    device.queue_table->destroy(other);
}

TEST_CASE("`query` answers at once, also for values that nobody has submitted (P-61)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(kSlowBytes);
    REQUIRE(a != nullptr);
    wye_status asked = WYE_OK;
    if (!check_returns(
            "P-61", "`query` of a value that was not submitted",
            [&] { asked = device.query(device.queue, 1, nullptr); },
            [&] { (void)device.submit({}); }))
        return;
    CHECK(asked == WYE_NOT_READY);
    REQUIRE(device.submit({}) == WYE_OK);
    REQUIRE(device.wait(kDeadline) == WYE_OK);
    // The shortest of several calls counts, since other processes may slow single calls down.
    for (const std::uint64_t value : {std::uint64_t{0}, device.value, device.value + 1}) {
        double quickest = 1;
        for (int n = 0; n < 12; ++n)
            quickest = std::min(
                quickest, seconds_of([&] { (void)device.query(device.queue, value, nullptr); }));
        if (quickest > 0.005)
            FAIL_CHECK("`query` of value " << value << ", with no work pending, takes "
                                           << milliseconds(quickest) << " each time");
    }
    const double whole = seconds_of([&] {
        REQUIRE(device.submit(slow_work(a, 1)) == WYE_OK);
        REQUIRE(device.wait(kDeadline) == WYE_OK);
    });
    int waited = 0;
    double took = 0;
    for (int n = 0; n < 3; ++n) {
        REQUIRE(device.submit(slow_work(a, 2)) == WYE_OK);
        wye_status status = WYE_OK;
        took = seconds_of([&] { status = device.query(device.queue, device.value, nullptr); });
        waited += status == WYE_OK && took > 0.005 && took > whole / 2 ? 1 : 0;
        REQUIRE(device.wait(kDeadline) == WYE_OK);
    }
    if (waited == 3)
        FAIL_CHECK("`query` of a pending value returns when that is reached, after "
                   << milliseconds(took));
}

TEST_CASE("`submit` does not wait for the device (P-58)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(kSlowBytes);
    REQUIRE(a != nullptr);
    const wye_operation small = fill(a, 0, 64, 1, 4);
    if (const harness::Timeline made(device); made.timeline != nullptr) {
        // A plugin whose driver cannot wait for a signal of the host refuses the first of these
        // submits.
        const wye_event event = made.event(1);
        wye_status held = WYE_OK, behind = WYE_OK;
        bool signalled = false;
        const auto signal = [&] {
            if (!std::exchange(signalled, true)) CHECK(made.signal(1) == WYE_OK);
        };
        const auto submits = [&] { held = device.submit({&small, 1}, {&event, 1}); };
        const auto follows = [&] { behind = device.submit({&small, 1}); };
        bool soon = check_returns("P-58", "`submit` of work that waits for a value of the host",
                                  submits, signal);
        if (soon && held == WYE_OK)
            soon = check_returns("P-58",
                                 "`submit` of work behind some that waits for a value of the host",
                                 follows, signal);
        CHECK(behind == WYE_OK);
        signal();
        if (held == WYE_OK) CHECK(device.wait(kDeadline) == WYE_OK);
        if (!soon) return;
    }
    int waited = 0;
    double took = 0, slept = 0;
    for (int n = 0; n < 3; ++n) {
        const double whole = seconds_of([&] {
            const Spent before = spent();
            took = seconds_of([&] { REQUIRE(device.submit(slow_work(a, 1)) == WYE_OK); });
            const Spent after = spent();
            // A queue may run its work inside `submit`. The thread then uses the processor, and
            // does not sleep.
            slept = after.sleeps > before.sleeps ? took - (after.processor - before.processor) : 0;
            REQUIRE(device.wait(kDeadline) == WYE_OK);
        });
        waited += took > 0.005 && took > whole / 2 && slept > took / 2 ? 1 : 0;
    }
    if (waited == 3)
        FAIL_CHECK("`submit` returns when the work has ended, after "
                   << milliseconds(took) << ", of which it slept " << milliseconds(slept));
}

TEST_CASE("submits in a row begin without a further call (P-25)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(kSlowBytes);
    REQUIRE(a != nullptr);
    const auto submits = [&] {
        REQUIRE(device.submit(slow_work(a, 1, 4)) == WYE_OK);
        const wye_operation small = fill(a, 0, 64, 2, 4);
        for (int n = 0; n < 24; ++n) REQUIRE(device.submit({&small, 1}) == WYE_OK);
        REQUIRE(device.submit(slow_work(a, 3, 8)) == WYE_OK);
    };
    double whole = 0;
    for (int n = 0; n < 2; ++n)
        whole = seconds_of([&] {
            submits();
            REQUIRE(device.wait(kDeadline) == WYE_OK);
        });
    // If the last submit begins only at this `query`, its value is not reached when the call
    // returns, or the call takes as long as the work. On a busy machine even a submit that has
    // begun may be late, so one good attempt of five is enough.
    double patience = 4 * whole + 0.02;
    for (int n = 0; n < 5; ++n, patience *= 2) {
        submits();
        std::this_thread::sleep_for(Seconds(patience));
        wye_status status = WYE_OK;
        const double took =
            seconds_of([&] { status = device.query(device.queue, device.value, nullptr); });
        REQUIRE(device.wait(kDeadline) == WYE_OK);
        if (status == WYE_OK && took < whole / 4) return;
    }
    FAIL_CHECK("26 submits in a row take " << milliseconds(whole) << ", and the last one has not "
                                           << "ended after " << milliseconds(patience)
                                           << " in which nobody called the plugin");
}

TEST_CASE("`wait` for a value that is not reached ends by its time limit (P-27)") {
    Rig rig;
    Device& device = rig.device;
    constexpr std::uint64_t kShort = 1'000'000, kLimit = 20'000'000;  // ns
    wye_status status = WYE_OK;
    if (!check_returns(
            "P-27", "`wait` with a limit of 1 ms",
            [&] { status = device.await(device.queue, 1, kShort, nullptr); },
            [&] { (void)device.submit({}); }))
        return;
    CHECK(status == WYE_TIMEOUT);
    const harness::Timeline made(device);
    if (made.timeline == nullptr) return;
    double took = 0;
    if (!check_returns(
            "P-27", "`wait` for a value of the host, with a limit of 20 ms",
            [&] { took = seconds_of([&] { status = made.wait(1, kLimit); }); },
            [&] { CHECK(made.signal(1) == WYE_OK); }))
        return;
    CHECK(status == WYE_TIMEOUT);
    if (took < 0.019) FAIL_CHECK("it returns after " << milliseconds(took));
}

TEST_CASE("what a call borrows is read before the call returns (P-13)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(kSlowBytes);
    wye_buffer_object* b = device.buffer(4096);
    REQUIRE((a != nullptr && b != nullptr));
    // The arguments of a call become unreadable when it returns (borrowed.hpp), while this work is
    // pending.
    REQUIRE(device.submit(slow_work(a, 1)) == WYE_OK);
    const wye_operation moves[] = {fill(b, 0, 4096, 1, 4), copy(a, b, 0, 0, 64)};
    REQUIRE(device.submit(moves) == WYE_OK);
    const wye_event event = device.event(device.queue, device.value);
    wye_queue_object* other = device.queue_create();
    REQUIRE(device.submit(moves, {&event, 1}, other) == WYE_OK);
    REQUIRE(device.await(other, device.value, kDeadline, nullptr) == WYE_OK);
    device.queue_table->destroy(other);
    wye_program_object* program = rig.add_program();
    const std::uint32_t by = 5;
    const wye_binding bindings[] = {binding(a, 0, 64), binding(b, 0, 64)};
    const wye_operation launch = harness::dispatch(program, bindings, {1, 1, 1}, &by);
    REQUIRE(device.submit(slow_work(a, 1)) == WYE_OK);
    REQUIRE(device.submit({&launch, 1}) == WYE_OK);
    CHECK(device.wait(kDeadline) == WYE_OK);
}

TEST_CASE("an upload, a fill, a copy and a download move exactly their bytes (P-55, P-28)") {
    Rig rig;
    Device& device = rig.device;
    const auto content = counting(256);
    const auto source = bytes_of(content);
    wye_buffer_object* a = device.buffer(source);
    wye_buffer_object* b = device.buffer(1024);
    REQUIRE(a != nullptr);
    REQUIRE(b != nullptr);
    std::vector<std::byte> expected(1024, std::byte{0xab});
    // Each step is a submit of its own, so that the order of operations does not matter. The step
    // must write `size` bytes at `offset`. If these bytes are right and others differ from
    // `expected`, the step has written outside its range.
    const auto run = [&](const wye_operation& step, std::uint64_t offset, std::uint64_t size) {
        REQUIRE(device.run(step) == WYE_OK);
        const auto got = device.download(b, 1024);
        const auto part = [&](const std::vector<std::byte>& of) {
            return std::vector(of.begin() + static_cast<std::ptrdiff_t>(offset),
                               of.begin() + static_cast<std::ptrdiff_t>(offset + size));
        };
        if (part(got) == part(expected) && got != expected) harness::blame("P-28");
        check_same(got, expected);
    };
    const auto fills = [&](std::uint64_t offset, std::uint64_t size, std::uint64_t pattern,
                           std::uint32_t pattern_size) {
        for (std::uint64_t i = 0; i < size; ++i)
            expected[offset + i] = static_cast<std::byte>(pattern >> (8 * (i % pattern_size)));
        run(fill(b, offset, size, pattern, pattern_size), offset, size);
    };
    fills(0, 1024, 0xabU, 1);
    std::copy_n(source.begin() + 16, 64, expected.begin() + 32);
    run(copy(a, b, 16, 32, 64), 32, 64);
    fills(512, 16, 0x1122U, 2);
    fills(528, 16, 0x11223344U, 4);
    fills(544, 40, 0x1122334455667788U, 8);
    fills(584, 16, 0x5566778855667788U, 8);
    fills(0, 0, 1, 4);  // 0 bytes: no effect
    run(copy(a, b, 0, 0, 0), 0, 0);
    std::copy_n(source.begin() + 400, 20, expected.begin() + 900);
    run(harness::upload(b, 900, source.subspan(400, 20)), 900, 20);
    check_same(rig.words(a, 256), content);
}

TEST_CASE("the operations of a submit, and submits, take effect in their order (P-25)") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* a = device.buffer(64);
    wye_buffer_object* b = device.buffer(64);
    REQUIRE((a != nullptr && b != nullptr));
    for (std::uint32_t round = 0; round < 20; ++round) {
        const auto words = counting(16, 100 * round);
        std::vector<std::uint32_t> got(16);
        const wye_operation steps[] = {
            fill(a, 0, 64, 77, 4), harness::upload(a, 0, bytes_of(words)), copy(a, b, 0, 0, 64),
            fill(a, 0, 64, 88, 4), harness::download(b, 0, std::as_writable_bytes(std::span(got)))};
        if (round % 2 == 0) {
            REQUIRE(device.submit(steps) == WYE_OK);
        } else {
            for (const wye_operation& step : steps) REQUIRE(device.submit({&step, 1}) == WYE_OK);
        }
        REQUIRE(device.wait(kDeadline) == WYE_OK);
        check_same(got, words);
        check_same(rig.words(a, 16), std::vector<std::uint32_t>(16, 88));
    }
}

TEST_CASE("kernels get buffers, counts and parameters (P-24, P-28)") {
    Rig rig;
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(1000)));
    wye_buffer_object* r = rig.device.buffer(4000);
    wye_program_object* program = rig.add_program();
    for (const std::uint32_t by : {1U, 1U, 7U}) {
        REQUIRE(rig.device.run(fill(r, 0, 4000, 0, 4)) == WYE_OK);
        const wye_binding bindings[] = {binding(x, 0, 1000), binding(r, 0, 900)};
        REQUIRE(rig.device.run(harness::dispatch(program, bindings, {16, 1, 1}, &by)) == WYE_OK);
        auto got = rig.words(r, 1000);
        const std::vector<std::uint32_t> behind(got.begin() + 900, got.end());
        got.resize(900);
        check_same(got, counting(900, by));
        if (behind == std::vector<std::uint32_t>(100)) continue;
        harness::blame("P-28");
        check_same(behind, std::vector<std::uint32_t>(100));
    }
    // The new buffer may have the address of the destroyed one.
    rig.device.destroy(x);
    wye_buffer_object* y = rig.device.buffer(bytes_of(counting(1000, 5000)));
    const std::uint32_t by = 7;
    const wye_binding bindings[] = {binding(y, 0, 1000), binding(r, 0, 1000)};
    REQUIRE(rig.device.run(harness::dispatch(program, bindings, {16, 1, 1}, &by)) == WYE_OK);
    check_same(rig.words(r, 1000), counting(1000, 5007));
}

TEST_SUITE_END();
