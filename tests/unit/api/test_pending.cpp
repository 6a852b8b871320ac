// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous dispatches through wye.hpp, on the CPU or a real driver, compared with plain C++.
#include <doctest/doctest.h>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_pending {
namespace {

using api_test::take;

// Runs long enough to be still in flight when the submit returns.
constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64; param rounds: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { var v = x[i];
    for n in 0u..rounds { v = (v ^ n) * 1664525u + 1013904223u; } r[i] = v; } })";

constexpr std::string_view kMixInto = R"(wye 1; program mix_into; workgroup 64; param rounds: u32;
input x: u32[]; input_output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { var v = x[i];
    for n in 0u..rounds { v = (v ^ n) * 1664525u + 1013904223u; } r[i] = r[i] + v; } })";

std::uint32_t mixed(std::uint32_t v, std::uint32_t rounds) {
    for (std::uint32_t n = 0; n < rounds; ++n) v = (v ^ n) * 1664525U + 1013904223U;
    return v;
}

constexpr std::string_view kTriple = R"(wye 1; program triple; workgroup 64; param k: u32;
input_output x: u32[]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { x[i] = x[i] * 3u + k; } })";

constexpr std::string_view kTrap = R"(wye 1; program check; workgroup 1;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] == 0u { trap 7; } r[i] = 100u / x[i]; } })";

TEST_CASE("inputs may be overwritten after the submit, and the outputs belong to the result") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    Words x(5000);
    constexpr std::uint32_t kRounds = 20000;
    wye::Dispatch dispatch(program, t.device);
    dispatch.param("rounds", kRounds).input("x", x);
    std::vector<wye::Pending> pending;
    for (std::uint32_t n = 0; n < 4; ++n) {
        for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = n * 100000 + i;
        pending.push_back(take(dispatch.submit()));
    }
    x.assign(x.size(), 0);
    for (std::uint32_t n = 0; n < 4; ++n) {
        const wye_report report = take(pending[n].wait());
        CHECK(report.bytes_uploaded == x.size() * 4);
        const auto r = take(pending[n].output<std::uint32_t>("r"));
        REQUIRE(r.size() == x.size());
        for (const std::uint32_t i : {0U, 63U, 64U, 4999U})
            CHECK(r[i] == mixed(n * 100000 + i, kRounds));
    }
    CHECK_FALSE(pending[0].output<float>("r").ok());
    CHECK_FALSE(pending[0].output<std::uint32_t>("x").ok());
}

TEST_CASE("outputs of the result, outputs in slots that grow, and times, from one dispatch") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    wye::OutputSlots slots;
    for (const std::size_t count : {1000U, 3000U, 200U, 3000U}) {
        CAPTURE(count);
        const Words x(count, static_cast<std::uint32_t>(count));
        wye::Dispatch dispatch(program, t.device);
        dispatch.param("rounds", 5U).input("x", x).timed();
        const Words want(count, mixed(static_cast<std::uint32_t>(count), 5));

        const wye::Outputs owned = take(dispatch.run_owned());
        const auto r = take(owned.get<std::uint32_t>("r"));
        CHECK(Words(r.begin(), r.end()) == want);
        const wye::Times times = owned.times();
        CHECK(times.wall >= times.enqueue);
        if (times.device) CHECK(times.device->count() > 0);

        const wye_report report = take(dispatch.run_into(slots));
        CHECK(report.bytes_downloaded == count * 4);
        CHECK(slots.bytes() == count * 4);
        const auto s = take(slots.get<std::uint32_t>("r"));
        CHECK(Words(s.begin(), s.end()) == want);

        const auto pending = take(dispatch.submit());
        const wye::Times later(take(pending.wait()));
        CHECK(later.device.has_value() == times.device.has_value());
    }
    CHECK(slots.capacity() == 12000);
    CHECK(slots.grown() == 2);
    CHECK(slots.reused() == 2);
    CHECK_FALSE(slots.get<float>("r").ok());
    CHECK_FALSE(slots.get<std::uint32_t>("x").ok());
}

TEST_CASE("a submit returns while the device works, and a lent output is complete at the end") {
    const std::string selector = support::test_driver();
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    const Words x(30000, 42);
    Words r(x.size());
    wye::Dispatch dispatch(program, t.device);
    dispatch.input("x", x).output("r", r);
    take(dispatch.param("rounds", std::uint32_t{1}).run());
    if (selector == "cpu") {  // other devices may already be done, or cannot stop endless work
        dispatch.param("rounds", std::uint32_t{4'000'000'000});
        const auto endless = take(dispatch.submit_borrowing());
        CHECK_FALSE(take(endless.poll()));
        const auto early = endless.wait(std::chrono::milliseconds(1));
        REQUIRE_FALSE(early.ok());
        CHECK(early.error().code == wye::Code::TIMEOUT);
        REQUIRE(endless.cancel().ok());
        CHECK(endless.wait().error().code == wye::Code::CANCELLED);
    }
    constexpr std::uint32_t kRounds = 30000;  // some drivers end loops after 65536 iterations
    dispatch.param("rounds", kRounds);
    const auto pending = take(dispatch.submit_borrowing());
    take(pending.wait());
    CHECK(take(pending.poll()));
    CHECK(r == Words(x.size(), mixed(42, kRounds)));
}

TEST_CASE("dispatches on one buffer have the effects of their order") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kTriple));
    wye::Buffer buffer = take(t.device.buffer(400));
    Words x(100);
    for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = i;
    REQUIRE(buffer.upload(x).ok());
    wye::Dispatch dispatch(program, t.device);
    dispatch.bind("x", buffer);
    for (std::uint32_t k = 0; k < 300; ++k) {
        (void)take(dispatch.param("k", k).submit());  // nobody waits for this
        for (std::uint32_t& v : x) v = v * 3 + k;
    }
    Words got(x.size());
    REQUIRE(buffer.download(got).ok());
    CHECK(got == x);
    CHECK(buffer.free().ok());
}

TEST_CASE(
    "after a download of its result, a submit that had to compile holds no buffer or device") {
    const auto context = take(wye::Context::create());
    for (std::uint32_t k = 0; k < 200; ++k) {
        const auto device = take(context.open("cpu"));
        const auto program = take(context.program_from_text(
            "wye 1; program add" + std::to_string(k) +
            "; workgroup 1; input_output x: u32[]; grid elements len(x);\n"
            "main { let i = global_id.x; if i < len(x) { x[i] = x[i] + " +
            std::to_string(k) + "u; } }"));
        wye::Buffer buffer = take(device.buffer(4));
        Words x = {7};
        REQUIRE(buffer.upload(x).ok());
        wye::Dispatch dispatch(program, device);
        (void)take(dispatch.bind("x", buffer).submit());  // nobody waits for this
        REQUIRE(buffer.download(x).ok());
        CHECK(x[0] == 7 + k);
        REQUIRE(buffer.free().ok());
        REQUIRE(wye_device_close(context.get(), device.get(), nullptr) == WYE_OK);
    }
}

// The text of a program. Each number gives a new program, which its first submit must compile.
std::string step(std::uint32_t number) {
    return "wye 1; program step" + std::to_string(number) +
           "; workgroup 64; input_output x: u32[]; input_output y: u32[len(x)];\n"
           "grid elements len(x); main { let i = global_id.x; if i < len(x) { x[i] = x[i] * 3u + " +
           "y[i] + " + std::to_string(number) + "u; } }";
}

TEST_CASE("programs that are compiled by their first submit have the effects of their order") {
    const Opened t;
    constexpr std::uint32_t kSteps = 6;
    std::vector<wye::Program> programs;
    for (std::uint32_t n = 0; n < kSteps; ++n)
        programs.push_back(take(t.context.program_from_text(step(n))));
    wye::Buffer a = take(t.device.buffer(400)), b = take(t.device.buffer(400));
    Words x(100, 1), y(100, 2);
    REQUIRE(a.upload(x).ok());
    REQUIRE(b.upload(y).ok());
    std::vector<wye::Pending> all;
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t n = 0; n < kSteps; ++n) {
            const bool swapped = n % 2 == 1;
            wye::Dispatch dispatch(programs[n], t.device);
            dispatch.bind("x", swapped ? b : a).bind("y", swapped ? a : b);
            all.push_back(take(dispatch.submit()));
            Words& to = swapped ? y : x;
            const Words& from = swapped ? x : y;
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] * 3 + from[i] + n;
        }
    }
    Words got(100);
    REQUIRE(b.download(got).ok());
    CHECK(got == y);
    for (const wye::Pending& one : all) take(one.wait());
    REQUIRE(a.download(got).ok());
    CHECK(got == x);
    CHECK(a.free().ok());
    CHECK(b.free().ok());
}

TEST_CASE("pipelines and programs are compiled without a wait, and then found compiled") {
    const Opened t;
    const auto program = take(t.context.program_from_text(step(77)));
    const auto made = take(wye::Pipeline::create_submit(program, t.device));
    const auto prepared = take(program.prepare_submit(t.device.get()));
    take(prepared.wait());
    take(made.wait());
    const auto pipeline = take(wye::Pipeline::take(made));
    CHECK(wye::Pipeline::take(made).error().code == wye::Code::NOT_FOUND);
    const std::uint64_t compiled = take(t.device.counters()).programs_compiled;
    Words x = {1, 2}, y = {10, 20}, r(2), s(2);
    wye::Dispatch dispatch(pipeline);
    take(dispatch.input("x", x).input("y", y).output("x", r).output("y", s).run());
    CHECK(r == Words{90, 103});
    CHECK(take(t.device.counters()).programs_compiled == compiled);
    // A time limit too short for almost any compilation. A driver may still be fast enough.
    const auto other = take(t.context.program_from_text(step(78)));
    const auto late = wye::Pipeline::create(other, t.device, {.timeout_ns = 1});
    if (!late.ok()) CHECK(late.error().code == wye::Code::TIMEOUT);
    REQUIRE(t.device.flush().ok());
    take(wye::Pipeline::create(other, t.device));
}

TEST_CASE("a time limit ends work in flight, waited for or not, and the device works on") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    take(program.prepare(t.device.get()));
    // The dispatch takes much longer than its time limit on every device, but ends. On a CPU it has
    // many invocations, since lavapipe ends long loops. On a GPU it has long loops.
    const auto kind = t.device.fact("device_kind");
    const bool gpu = kind.ok() && std::string_view(kind->text.data, kind->text.size) == "gpu";
    const Words many(gpu ? 64 : 1U << 18U, 7), one(1, 9);
    wye::Dispatch dispatch(program, t.device);
    dispatch.param("rounds", std::uint32_t{gpu ? 60'000'000U : 30'000U});
    dispatch.input("x", many).timeout_ns(5'000'000);
    const auto late = take(dispatch.submit());
    std::promise<wye::Code> told;
    REQUIRE(late.then([&](wye::Code code) { told.set_value(code); }).ok());
    CHECK(told.get_future().get() == wye::Code::TIMEOUT);
    CHECK(take(late.poll()));
    const auto waited = late.wait();
    REQUIRE(!waited.ok());
    CHECK(waited.error().code == wye::Code::TIMEOUT);
    CHECK(late.output<std::uint32_t>("r").error().code == wye::Code::TIMEOUT);
    REQUIRE(t.device.flush().ok());
    wye::Dispatch next(program, t.device);
    const auto in_time =
        take(next.param("rounds", 10U).input("x", one).timeout_ns(60'000'000'000).submit());
    take(in_time.wait());
    CHECK(take(in_time.output<std::uint32_t>("r"))[0] == mixed(9, 10));
}

TEST_CASE("work on many buffers has the effects of its order") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMixInto));
    constexpr std::size_t kBuffers = 6, kCount = 200;
    std::vector<wye::Buffer> buffers;
    std::vector<Words> want(kBuffers, Words(kCount));
    for (std::size_t n = 0; n < kBuffers; ++n) {
        buffers.push_back(take(t.device.buffer(kCount * 4)));
        for (std::uint32_t i = 0; i < kCount; ++i)
            want[n][i] = static_cast<std::uint32_t>(n) * 1000 + i;
        REQUIRE(buffers[n].upload(want[n]).ok());
    }
    std::uint32_t state = 1;
    for (std::uint32_t k = 0; k < 400; ++k) {
        state = state * 1664525U + 1013904223U;
        const std::size_t x = (state >> 8U) % kBuffers,
                          r = (x + 1 + (state >> 20U) % (kBuffers - 1)) % kBuffers;
        const std::uint32_t rounds = (state >> 28U) * 50;
        wye::Dispatch dispatch(program, t.device);
        (void)take(
            dispatch.param("rounds", rounds).bind("x", buffers[x]).bind("r", buffers[r]).submit());
        for (std::size_t i = 0; i < kCount; ++i) want[r][i] += mixed(want[x][i], rounds);
    }
    for (std::size_t n = 0; n < kBuffers; ++n) {
        Words got(kCount);
        REQUIRE(buffers[n].download(got).ok());
        CHECK(got == want[n]);
    }
}

TEST_CASE("a failure comes from the wait, and later work is not touched by it") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kTrap));
    const Words good = {1, 2, 5}, bad = {1, 0, 5};
    wye::Dispatch dispatch(program, t.device);
    const auto first = take(dispatch.input("x", bad).submit());
    const auto second = take(dispatch.input("x", good).submit());
    CHECK(first.wait().error().code == wye::Code::TRAPPED);
    CHECK(first.output<std::uint32_t>("r").error().code == wye::Code::TRAPPED);
    take(second.wait());
    const auto r = take(second.output<std::uint32_t>("r"));
    CHECK(Words(r.begin(), r.end()) == Words{100, 50, 20});
}

TEST_CASE("wait-any and notifications, over two devices") {
    const Opened t("cpu");
    const auto other = take(t.context.open(support::test_driver()));
    const auto program = take(t.context.program_from_text(kMix));
    const Words x(1, 7), many(200000, 7);
    wye::Dispatch endless(program, t.device), quick(program, other);
    quick.param("rounds", std::uint32_t{3}).input("x", x);
    endless.param("rounds", std::uint32_t{10000000}).input("x", many);
    std::vector<wye::Pending> pending;
    pending.push_back(take(endless.submit()));
    pending.push_back(take(quick.submit()));
    CHECK(take(wye::wait_any(pending)) == 1);
    CHECK(wye::wait_any({}).error().code == wye::Code::INVALID_ARGUMENT);

    std::promise<wye::Code> stopped, done;
    REQUIRE(pending[0].then([&](wye::Code code) { stopped.set_value(code); }).ok());
    REQUIRE(pending[1].then([&](wye::Code code) { done.set_value(code); }).ok());
    CHECK(done.get_future().get() == wye::Code::OK);
    CHECK(take(pending[1].output<std::uint32_t>("r"))[0] == mixed(7, 3));
    REQUIRE(pending[0].cancel().ok());
    CHECK(stopped.get_future().get() == wye::Code::CANCELLED);
}

TEST_CASE("the CPU stops a cancelled dispatch, and no other") {
    const Opened t("cpu");
    const auto program = take(t.context.program_from_text(kMix));
    take(program.prepare(t.device.get()));  // so submit() returns after the driver's submit
    const Words many(200000, 7), one(1, 9);
    wye::Dispatch dispatch(program, t.device);
    dispatch.param("rounds", std::uint32_t{10000000});
    const auto endless = take(dispatch.input("x", many).submit());
    const auto second = take(dispatch.param("rounds", 10U).input("x", one).submit());
    REQUIRE(endless.cancel().ok());
    const wye::Error stopped = endless.wait().error();
    CHECK(stopped.code == wye::Code::CANCELLED);
    CHECK(stopped.message ==
          "the dispatch of `mix` on cpu:0 was cancelled, and the device stopped it");
    CHECK(stopped.fix.starts_with("Fix: "));
    take(second.wait());
    CHECK(take(second.output<std::uint32_t>("r"))[0] == mixed(9, 10));
}

// A coroutine that starts at once, and delivers its result in a future.
struct Task {
    struct promise_type {
        std::promise<std::uint32_t> result;
        Task get_return_object() { return {result.get_future()}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_value(std::uint32_t value) { result.set_value(value); }
        void unhandled_exception() { result.set_exception(std::current_exception()); }
    };
    std::future<std::uint32_t> result;
};

Task three_times(const wye::Program& program, const wye::Device& device, std::uint32_t value) {
    for (int i = 0; i < 3; ++i) {
        wye::Dispatch dispatch(program, device);
        const Words x(1, value);
        const auto pending = take(dispatch.param("rounds", 1000U).input("x", x).submit());
        const auto report = co_await pending;
        if (!report.ok()) co_return 0;
        value = take(pending.output<std::uint32_t>("r"))[0];
    }
    co_return value;
}

TEST_CASE("coroutines wait for dispatches, several at once") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kMix));
    std::vector<Task> tasks;
    for (std::uint32_t n = 0; n < 8; ++n) tasks.push_back(three_times(program, t.device, n));
    for (std::uint32_t n = 0; n < 8; ++n)
        CHECK(tasks[n].result.get() == mixed(mixed(mixed(n, 1000), 1000), 1000));
}

}  // namespace

}  // namespace wye::test::test_pending
