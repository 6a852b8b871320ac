// SPDX-License-Identifier: Apache-2.0
//
// Work in flight on the CPU, in rare orders: queues that are freed while their work runs, work that
// is cancelled beside other work, calls that must not wait, and lost devices. Some work "runs on"
// until it is cancelled, so what happens beside it does not depend on speed.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "take.hpp"
#include "wye/pipeline.hpp"

namespace {

using Words = std::vector<std::uint32_t>;
using api_test::need;
using api_test::take;

// Mixes each element `n` times. With n = kOn this runs for hours.
constexpr std::string_view kSteps = R"(wye 1; program steps; workgroup 64; param n: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main {
    let i = global_id.x;
    var a: u32 = x[i];
    for k in 0u..n { a = (a ^ k) + (k ^ a) + 1u; }
    r[i] = a;
})";
constexpr std::uint32_t kOn = 0xffffffff;
constexpr std::uint32_t kCount = 4096;

std::uint32_t steps(std::uint32_t a, std::uint32_t n) {
    for (std::uint32_t k = 0; k < n; ++k) a = (a ^ k) + (k ^ a) + 1;
    return a;
}

struct Opened {
    explicit Opened(wye::ContextOptions options = {})
        : context(take(wye::Context::create(options))),
          device(take(context.open("cpu"))),
          program(take(context.program_from_text(kSteps))) {
        (void)take(program.prepare(device.get()));  // so submit() returns after the driver's submit
    }

    [[nodiscard]] wye::Buffer buffer(std::uint32_t value = 0) const {
        wye::Buffer out = take(device.buffer(kCount * 4));
        need(out.fill(value, 0, kCount * 4));
        return out;
    }
    [[nodiscard]] wye::Dispatch dispatch(const wye::Buffer& x, const wye::Buffer& r,
                                         std::uint32_t n, const wye::Queue* queue = nullptr) const {
        wye::Dispatch out(program, device);
        out.param("n", n).bind("x", x).bind("r", r);
        if (queue != nullptr) out.on(*queue);
        return out;
    }

    wye::Context context;
    wye::Device device;
    wye::Program program;
};

Words contents(const wye::Buffer& buffer) {
    Words out(kCount);
    need(buffer.download(out));
    return out;
}

wye::Code code_of(const wye::Pending& work) {
    const auto ended = work.wait();
    return ended.ok() ? wye::Code::OK : ended.error().code;
}

}  // namespace

TEST_CASE("work of a freed queue is waited for, though a new queue has ended later work") {
    const Opened t;
    const wye::Buffer x = t.buffer(5), u = t.buffer(9), v = t.buffer();
    wye::Buffer y = t.buffer();
    constexpr std::uint32_t kLong = 200000;
    for (int round = 0; round < 3; ++round) {
        std::optional<wye::Queue> first = take(t.device.queue());
        need(y.fill(0, 0, kCount * 4));
        (void)take(t.dispatch(x, y, kLong, &*first).submit());
        first.reset();
        for (int i = 0; i < 4; ++i) {
            const wye::Queue other = take(t.device.queue());
            (void)take(t.dispatch(u, v, 1, &other).run());
            (void)take(t.dispatch(u, v, 2, &other).run());
        }
        CHECK(contents(y) == Words(kCount, steps(5, kLong)));
        CHECK(contents(v) == Words(kCount, steps(9, 2)));
    }
}

TEST_CASE("queues are made and freed while the work of freed ones runs on") {
    const Opened t;
    const wye::Buffer x = t.buffer(1), u = t.buffer(3), v = t.buffer();
    std::vector<wye::Buffer> written;
    std::vector<wye::Pending> running;
    for (int i = 0; i < 12; ++i) {  // more queues than the device has
        const wye::Queue queue = take(t.device.queue());
        written.push_back(t.buffer());
        running.push_back(take(t.dispatch(x, written.back(), kOn, &queue).submit()));
    }
    const auto own = t.device.queue({.own = true});
    REQUIRE_FALSE(own.ok());
    CHECK(own.error().code == wye::Code::LIMIT_EXCEEDED);
    for (wye::Buffer& buffer : written) {
        const auto freed = buffer.free();
        REQUIRE_FALSE(freed.ok());
        CHECK(freed.error().code == wye::Code::BUFFER_IN_USE);
    }
    for (const wye::Pending& one : running) need(one.cancel());
    for (const wye::Pending& one : running) CHECK(code_of(one) == wye::Code::CANCELLED);
    need(t.device.flush());
    const wye::Queue queue = take(t.device.queue({.own = true}));
    (void)take(t.dispatch(u, v, 7, &queue).run());
    CHECK(contents(v) == Words(kCount, steps(3, 7)));
}

TEST_CASE("an idle device can be closed, whichever queues it had") {
    const Opened t;
    {
        const wye::Buffer x = t.buffer(1), y = t.buffer();
        {
            const wye::Queue used = take(t.device.queue());
            (void)take(t.dispatch(x, y, 1, &used).run());
        }
        const wye::Queue unused = take(t.device.queue());
        need(t.device.flush());
    }
    need(t.device.close());
}

TEST_CASE("only cancelled work fails; work that merely follows it runs, on any queue") {
    const Opened t;
    for (int form = 0; form < 4; ++form) {
        CAPTURE(form);
        const wye::Queue first = take(t.device.queue()), second = take(t.device.queue());
        const wye::Buffer x = t.buffer(1), y = t.buffer(2), z = t.buffer(3);
        const wye::Pending running = take(t.dispatch(x, y, kOn, &first).submit());
        const wye::Queue& queue = form % 2 == 0 ? first : second;
        // The next dispatch reads what the cancelled work writes, or writes what the cancelled work
        // reads.
        const bool reads = form < 2;
        const wye::Pending next =
            take((reads ? t.dispatch(y, z, 1, &queue) : t.dispatch(z, x, 1, &queue)).submit());
        need(running.cancel());
        CHECK(code_of(running) == wye::Code::CANCELLED);
        CHECK(code_of(next) == wye::Code::OK);
        if (!reads) CHECK(contents(x) == Words(kCount, steps(3, 1)));
    }
}

TEST_CASE("a time limit ends its own dispatch, and no other that follows it") {
    const Opened t;
    const wye::Buffer x = t.buffer(1), y = t.buffer(2), z = t.buffer(3);
    const wye::Queue queue = take(t.device.queue());
    const std::uint64_t before = take(t.device.counters()).submits;
    wye::Code ended = wye::Code::OK;
    std::thread other([&] {
        const auto limited = t.dispatch(x, y, kOn).timeout_ns(300'000'000).run();
        if (!limited.ok()) ended = limited.error().code;
    });
    while (take(t.device.counters()).submits == before) std::this_thread::yield();
    const wye::Pending next = take(t.dispatch(z, x, 4, &queue).submit());
    other.join();
    CHECK(ended == wye::Code::TIMEOUT);
    CHECK(code_of(next) == wye::Code::OK);
    CHECK(contents(x) == Words(kCount, steps(3, 4)));
}

TEST_CASE("a dispatch with a time limit needs any native queue, not one that work occupies") {
    const Opened t;
    const wye::Buffer x = t.buffer(1), y = t.buffer(), u = t.buffer(2), v = t.buffer();
    const wye::Pending running = take(t.dispatch(x, y, kOn).submit());
    const auto ended = t.dispatch(u, v, 3).timeout_ns(60'000'000'000).run();
    need(running.cancel());
    (void)take(ended);
    CHECK(contents(v) == Words(kCount, steps(2, 3)));
    CHECK(code_of(running) == wye::Code::CANCELLED);
}

TEST_CASE("each of many cancelled dispatches says so, in whatever order they are asked") {
    constexpr std::size_t kMany = 5000;
    const Opened t({.config = {{"pending.count", std::to_string(kMany + 8)}}});
    const wye::Buffer x = t.buffer(1), y = t.buffer();
    const wye::Queue queue = take(t.device.queue());
    std::vector<wye::Pending> all;
    for (std::size_t i = 0; i < kMany; ++i)
        all.push_back(take(t.dispatch(x, y, kOn, &queue).submit()));
    for (std::size_t i = kMany; i-- > 0;) need(all[i].cancel());
    for (std::size_t i = kMany; i-- > 0;)
        if (const wye::Code code = code_of(all[i]); code != wye::Code::CANCELLED) {
            CAPTURE(i);
            REQUIRE(code == wye::Code::CANCELLED);
        }
}

TEST_CASE("a submit waits for room while others copy their inputs, and is not refused") {
    const Opened t({.config = {{"pending.count", "1"}}});
    std::atomic<int> refused = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            const Words x(1U << 20U, thread);
            for (int i = 0; i < 8; ++i) {
                wye::Dispatch one(t.program, t.device);
                one.param("n", 1U).input("x", x);
                const auto sent = one.submit();
                if (!sent.ok()) ++refused;
                if (sent.ok()) CHECK(code_of(*sent) == wye::Code::OK);
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(refused == 0);
}

TEST_CASE("the report of a batch counts the fills of all its lists") {
    constexpr std::string_view kSome = R"(wye 1; program some; workgroup 64;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if x[i] > 5u { r[i] = 1u; } })";
    const Opened t;
    const wye::Program program = take(t.context.program_from_text(kSome));
    const wye::Pipeline pipeline = take(wye::Pipeline::create(program, t.device));
    const wye::Buffer x = t.buffer(), y = t.buffer();
    for (const std::size_t count : {1, 64, 65, 1000}) {
        std::vector<wye::Dispatch> items(count, wye::Dispatch(pipeline));
        std::vector<wye::Dispatch*> list;
        for (wye::Dispatch& one : items) list.push_back(&one.bind("x", x).bind("r", y));
        const auto done = pipeline.batch(list);
        CHECK(done.completed == count);
        CHECK(done.report.bytes_filled == count * kCount * 4);
    }
}
