// SPDX-License-Identifier: Apache-2.0
//
// Programs with grid barriers, on the CPU and the driver of this test. A program is split into
// several launches. If the request is cooperative and the device can run all workgroups at once,
// the program is one launch. The report says which. In either case the bytes are those that plain
// C++ computes.
#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_cooperative {
namespace {

using api_test::need;
using api_test::take;

// First, each workgroup reverses its part of x through `shared` memory, which starts at 0 in each
// phase. Then, in each iteration, each element is computed from elements that other invocations
// wrote: a neighbour, and one of a far workgroup.
constexpr std::string_view kRounds = R"(wye 1; program rounds; workgroup 64; param rounds: u32;
input x: u32[]; input_output a: u32[len(x)]; input_output b: u32[len(x)];
shared sums: u32[64]; grid elements len(x);
main {
    let i = global_id.x;
    let n = len(x);
    if i < n { sums[local_index] = x[i]; }
    barrier;
    if i < n { a[i] = sums[63u - local_index] + 1u; }
    grid_barrier;
    for r in 0u..rounds {
        let me = global_id.x;
        if me < n { b[me] = a[(me + 1u) % n] * 3u + a[(me + n / 2u) % n] + r; }
        grid_barrier;
        let you = global_id.x;
        if you < n { a[you] = b[(you + 64u) % n] + sums[local_index]; }
        sums[local_index] = 7u;
        grid_barrier;
    }
    let j = global_id.x;
    if j >= n { return; }
    b[j] = a[n - 1u - j] + sums[local_index];
})";

Words scattered(std::uint32_t count) {
    Words out(count);
    for (std::uint32_t i = 0; i < count; ++i) out[i] = i * 2654435761U;
    return out;
}

// The contents of a and b after the program.
struct Expected {
    Expected(const Words& x, std::uint32_t rounds) : a(x.size()), b(x.size()) {
        const std::size_t n = x.size();
        const auto part = [&](std::size_t i) {
            const std::size_t at = i / 64 * 64 + (63 - i % 64);
            return at < n ? x[at] : 0U;
        };
        for (std::size_t i = 0; i < n; ++i) a[i] = part(i) + 1;
        for (std::uint32_t r = 0; r < rounds; ++r) {
            for (std::size_t i = 0; i < n; ++i) b[i] = a[(i + 1) % n] * 3 + a[(i + n / 2) % n] + r;
            for (std::size_t i = 0; i < n; ++i) a[i] = b[(i + 64) % n];
        }
        for (std::size_t i = 0; i < n; ++i) b[i] = a[n - 1 - i];
    }
    Words a, b;
};

struct Opened : test::Opened {
    Opened() : program(take(context.program_from_text(kRounds))) {
        const auto fact = device.fact("grid_sync");
        at_once = fact.ok() && fact->u == 1;
    }
    wye::Program program;
    bool at_once = false;  // the device runs all workgroups of a launch at once
};

// Resident buffers for the program, and a dispatch that uses them.
struct Work {
    Work(const Opened& opened, std::uint32_t count, std::uint32_t rounds_)
        : t(opened),
          x(scattered(count)),
          rounds(rounds_),
          in(take(t.device.buffer(x.size() * 4))),
          a(take(t.device.buffer(x.size() * 4))),
          b(take(t.device.buffer(x.size() * 4))) {
        need(in.upload(x));
    }
    wye::Dispatch dispatch(bool cooperative = true) {
        wye::Dispatch out(t.program, t.device);
        out.param("rounds", rounds).bind("x", in).bind("a", a).bind("b", b);
        if (cooperative) out.cooperative();
        return out;
    }
    wye::Dispatch through(const wye::Pipeline& pipeline) {
        wye::Dispatch out(pipeline);
        out.param("rounds", rounds).bind("x", in).bind("a", a).bind("b", b);
        return out;
    }
    void check() {
        const Expected want(x, rounds);
        Words found(x.size());
        need(a.download(found));
        CHECK((found == want.a));
        need(b.download(found));
        CHECK((found == want.b));
        need(a.fill(0, 0, x.size() * 4));
        need(b.fill(0, 0, x.size() * 4));
    }
    const Opened& t;
    const Words x;
    const std::uint32_t rounds;
    wye::Buffer in, a, b;
};

// Numbers of elements. Every GPU runs the workgroups of `kFew` elements at once. No GPU runs those
// of `kMany` elements at once.
constexpr std::uint32_t kFew = 64 * 40 + 9, kMany = 64 * 20000;

// Whether `use` is the right WYE_COOPERATIVE value for a cooperative request of few workgroups.
bool ran_so(const Opened& t, std::uint32_t use) {
    return t.at_once ? use == WYE_COOPERATIVE_NATIVE : use == WYE_COOPERATIVE_SPLIT_DEVICE;
}

}  // namespace

TEST_CASE(
    "a cooperative program with grid barriers has the bytes of the split one, and the report "
    "says how it ran") {
    const Opened t;
    for (const std::uint32_t rounds : {0U, 1U, 5U}) {
        CAPTURE(rounds);
        Work work(t, kFew, rounds);
        CHECK(take(work.dispatch(false).run()).cooperative == WYE_COOPERATIVE_NONE);
        work.check();
        // Several times, since each launch must leave the barrier ready for the next launch.
        for (int again = 0; again < 4; ++again) {
            CHECK(ran_so(t, take(work.dispatch().run()).cooperative));
            work.check();
        }
    }
}

TEST_CASE("a cooperative program of more workgroups than run at once is split") {
    const Opened t;
    Work work(t, kMany, 1);
    CHECK(take(work.dispatch().run()).cooperative ==
          (t.at_once ? WYE_COOPERATIVE_SPLIT_ROOM : WYE_COOPERATIVE_SPLIT_DEVICE));
    work.check();
    CHECK(take(work.dispatch(false).run()).cooperative == WYE_COOPERATIVE_NONE);
    work.check();
}

TEST_CASE("programs with grid barriers in flight on several queues do not share a barrier") {
    const Opened t;
    std::deque<Work> works;
    std::vector<wye::Queue> queues;
    for (std::uint32_t i = 0; i < 3; ++i) {
        works.emplace_back(t, 64 * 8 + i, 3 + i);
        queues.push_back(take(t.device.queue()));
    }
    std::vector<wye::Pending> pending;
    for (int round = 0; round < 10; ++round)
        for (std::size_t i = 0; i < works.size(); ++i)
            pending.push_back(take(works[i].dispatch().on(queues[i]).submit()));
    for (const wye::Pending& one : pending) CHECK(ran_so(t, take(one.wait()).cooperative));
    for (Work& work : works) work.check();
}

TEST_CASE("fixpoint iterations and graphs of cooperative programs, also with other buffers") {
    const Opened t;
    Work one(t, kFew, 2), two(t, 500, 4), other(t, 900, 4);
    // Each iteration writes all of `a` and `b` anew, so the result is that of one iteration.
    CHECK(ran_so(t, take(one.dispatch().fixpoint(3).run()).cooperative));
    one.check();
    wye::Dispatch first = one.dispatch(), second = two.dispatch();
    wye::Graph graph = take(wye::Graph::record(t.device, {&first, &second}));
    for (int round = 0; round < 3; ++round) {
        CHECK(ran_so(t, take(graph.run()).cooperative));
        one.check();
        two.check();
    }
    const wye_graph_rebinding changes[] = {
        {two.in.get(), other.in.get()}, {two.a.get(), other.a.get()}, {two.b.get(), other.b.get()}};
    need(graph.rebind(changes));
    CHECK(ran_so(t, take(graph.run()).cooperative));
    one.check();
    other.check();
}

TEST_CASE("a cooperative pipeline runs few workgroups and many, alone and in a batch") {
    const Opened t;
    const auto pipeline = take(wye::Pipeline::create(t.program, t.device, {.cooperative = true}));
    Work few(t, kFew, 2), many(t, kMany, 2);
    const std::uint32_t most =
        t.at_once ? WYE_COOPERATIVE_SPLIT_ROOM : WYE_COOPERATIVE_SPLIT_DEVICE;
    wye::Dispatch small = few.through(pipeline), large = many.through(pipeline);
    for (int round = 0; round < 2; ++round) {
        CHECK(ran_so(t, take(small.run()).cooperative));
        few.check();
        CHECK(take(large.run()).cooperative == most);
        many.check();
    }
    wye::Dispatch* const items[] = {&small, &large};
    const wye::BatchResult done = pipeline.batch(items);
    REQUIRE_FALSE(done.error);
    CHECK(done.report.cooperative == most);
    few.check();
    many.check();
}

TEST_CASE("host arguments, and traps behind the last barrier, in a cooperative program") {
    constexpr std::string_view kTraps = R"(wye 1; program checked; workgroup 64; param limit: u32;
input_output a: u32[]; output r: u32[len(a)]; grid elements len(a);
main {
    if global_id.x < len(a) { r[global_id.x] = a[len(a) - 1u - global_id.x]; }
    grid_barrier;
    let i = global_id.x;
    if i >= len(a) { return; }
    if r[i] >= limit { trap 9; }
    a[i] = r[i] + 1u;
})";
    const Opened t;
    const auto program = take(t.context.program_from_text(kTraps));
    constexpr std::uint32_t kCount = 1000;
    for (const std::uint32_t limit : {kCount, kCount - 10}) {
        Words a(kCount), r(kCount);
        for (std::uint32_t i = 0; i < kCount; ++i) a[i] = i;
        wye::Dispatch dispatch(program, t.device);
        dispatch.param("limit", limit).input("a", a).output("a", a).output("r", r);
        const auto ran = dispatch.cooperative().run();
        if (limit < kCount) {
            REQUIRE_FALSE(ran.ok());
            CHECK(ran.error().code == wye::Code::TRAPPED);
            CHECK(r[0] == 0);
            continue;
        }
        CHECK(ran_so(t, take(ran).cooperative));
        for (std::uint32_t i = 0; i < kCount; ++i) {
            REQUIRE(r[i] == kCount - 1 - i);
            REQUIRE(a[i] == kCount - i);
        }
    }
}

TEST_CASE("a cooperative program without grid barriers needs grid_sync") {
    const Opened t;
    const auto program = take(t.context.program_from_text(
        "wye 1; program fill; workgroup 64; output r: u32[100]; grid groups 1; "
        "main { for i in local_index..100u { r[i] = 7u; } }"));
    Words r(100);
    wye::Dispatch dispatch(program, t.device);
    const auto ran = dispatch.output("r", r).cooperative().run();
    if (t.at_once) {
        CHECK(take(ran).cooperative == WYE_COOPERATIVE_NATIVE);
        CHECK(r == Words(100, 7));
        return;
    }
    REQUIRE_FALSE(ran.ok());
    CHECK(ran.error().code == wye::Code::UNSUPPORTED);
    CHECK(ran.error().message.find("grid_sync") != std::string::npos);
    CHECK(ran.error().fix.starts_with("Fix: "));
}

}  // namespace wye::test::test_cooperative
