// SPDX-License-Identifier: Apache-2.0
//
// Grids from buffers through wye.hpp, on the CPU and real drivers: every form of dispatch, compared
// with plain C++; the library's check of the numbers, at the limits; and the errors of a device
// that lacks the fact `indirect_dispatch`.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"

namespace wye::test::test_grid_buffer {
namespace {

using Grid = std::array<std::uint32_t, 3>;

using api_test::need;
using api_test::take;

// Each workgroup of 4 invocations records in `ran` the id of its last invocation. The first
// workgroup writes to `seen` the number of workgroups that the program sees.
constexpr std::string_view kMark = R"(wye 1; program mark; workgroup 4; param k: u32;
input_output ran: u32[]; output seen: u32[3];
main {
    let g = workgroup_id.x + num_workgroups.x * (workgroup_id.y + num_workgroups.y * workgroup_id.z);
    if local_id.x == 3u { ran[g] = ran[g] * 3u + k + global_id.x; }
    if g == 0u && local_id.x == 0u {
        seen[0] = num_workgroups.x; seen[1] = num_workgroups.y; seen[2] = num_workgroups.z;
    }
})";
constexpr std::size_t kMarks = 64;

// What kMark does to `ran`.
void mark(const Grid& grid, std::uint32_t k, Words& ran) {
    std::size_t g = 0;
    for (std::uint32_t z = 0; z < grid[2]; ++z)
        for (std::uint32_t y = 0; y < grid[1]; ++y)
            for (std::uint32_t x = 0; x < grid[0]; ++x, ++g)
                if (g < ran.size()) ran[g] = ran[g] * 3 + k + x * 4 + 3;
}

// Writes a grid to `words`, from the index `at` on.
constexpr std::string_view kWrite = R"(wye 1; program write; workgroup 1;
param at: u32; param x: u32; param y: u32; param z: u32; input_output words: u32[]; grid groups 1;
main { words[at] = x; words[at + 1u] = y; words[at + 2u] = z; })";

constexpr std::string_view kCount = R"(wye 1; program count; workgroup 1; input_output n: u32[1];
main { atomic_add(n[0], 1u); })";

struct Opened : test::Opened {
    Opened()
        : program(take(context.program_from_text(kMark))),
          writer(take(context.program_from_text(kWrite))) {}
    wye::Program program, writer;

    [[nodiscard]] bool takes_grids() const {
        const auto fact = device.fact("indirect_dispatch");
        return fact.ok() && fact->u != 0;
    }
    [[nodiscard]] std::array<std::uint32_t, 3> most() const {
        const auto fact = take(device.fact("max_workgroups"));
        return {fact.xyz[0], fact.xyz[1], fact.xyz[2]};
    }
    // A dispatch that writes a grid.
    [[nodiscard]] wye::Dispatch write(const wye::Buffer& grid, std::uint32_t at,
                                      const Grid& to) const {
        wye::Dispatch out(writer, device);
        out.param("at", at)
            .param("x", to[0])
            .param("y", to[1])
            .param("z", to[2])
            .bind("words", grid);
        return out;
    }
};

constexpr Grid kGrids[] = {{3, 2, 1}, {1, 1, 1},  {0, 5, 5},  {5, 0, 5}, {5, 5, 0},
                           {2, 3, 4}, {64, 1, 1}, {1, 64, 1}, {1, 1, 64}};

template <typename Outcome>
void check_refused(const Outcome& outcome, wye::Code code, std::string_view what) {
    INFO(what);
    REQUIRE_FALSE(outcome.ok());
    INFO(outcome.error().text());
    CHECK(outcome.error().code == code);
    CHECK(outcome.error().message.find(what) != std::string::npos);
    CHECK(outcome.error().fix.starts_with("Fix: "));
}

}  // namespace

TEST_CASE("a device without the fact refuses a grid buffer by name, in every form") {
    const std::string selector = support::test_driver();
    const Opened t;
    if (t.takes_grids()) return;
    const std::string name(wye::detail::view(take(t.device.describe()).selector));
    const std::string what = name + " cannot run program `mark`: needs indirect_dispatch yes";
    wye::Buffer grid = t.buffer({1, 1, 1}), ran = t.buffer(Words(kMarks));
    Words seen(3, 7);
    wye::Dispatch job(t.program, t.device);
    job.param("k", 1U).bind("ran", ran).output("seen", seen).grid_from(grid);
    const auto plain = job.run();
    check_refused(plain, wye::Code::UNSUPPORTED, what);
    CHECK(plain.error().fix.find("read the three words back") != std::string::npos);
    CHECK(plain.error().fix.find("`cpu") != std::string::npos);  // a device that can run it
    check_refused(job.submit_borrowing(), wye::Code::UNSUPPORTED, what);
    wye::Dispatch owned(t.program, t.device);
    owned.param("k", 1U).bind("ran", ran).grid_from(grid);
    check_refused(owned.run_owned(), wye::Code::UNSUPPORTED, what);
    wye::Dispatch step(t.program, t.device);
    const wye::Buffer into = t.buffer(Words(3));
    step.param("k", 1U).bind("ran", ran).bind("seen", into).grid_from(grid);
    check_refused(wye::Graph::record(t.device, {&step}), wye::Code::UNSUPPORTED, what);
    CHECK(seen == Words(3, 7));
    CHECK(Opened::words(ran, kMarks) == Words(kMarks));
    // Without a device named, the dispatch goes to the owner of its buffer, even if that device
    // must refuse.
    wye::Dispatch routed(t.program);
    Words host(kMarks);
    routed.param("k", 1U).input("ran", host).output("ran", host).discard("seen").grid_from(grid);
    check_refused(routed.run(), wye::Code::UNSUPPORTED, what);
}

TEST_CASE(
    "every form of dispatch runs the workgroups of a buffer, with the bytes of a known grid") {
    const Opened t;
    if (!t.takes_grids()) return;
    wye::Buffer grid = t.buffer(Words(8, 99)), ran = t.buffer(Words(kMarks));
    const wye::Buffer into = t.buffer(Words(3));
    const auto pipeline = take(wye::Pipeline::create(t.program, t.device));
    Words want(kMarks);
    std::uint32_t k = 0;
    for (const Grid& one : kGrids) {
        CAPTURE(one[0]);
        CAPTURE(one[1]);
        CAPTURE(one[2]);
        const bool none = one[0] == 0 || one[1] == 0 || one[2] == 0;
        const Words numbers = none ? Words(3) : Words(one.begin(), one.end());
        need(grid.upload_range(std::span(one), 16));
        // The grid is written by an upload. The buffers are resident and on the host. One run has a
        // time limit.
        for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{60'000'000'000}}) {
            Words seen(3, 7);
            wye::Dispatch job(t.program, t.device);
            job.param("k", ++k).bind("ran", ran).output("seen", seen).grid_from(grid, 16);
            const wye_report report = take(job.timeout_ns(limit).run());
            CHECK(report.groups[0] + report.groups[1] + report.groups[2] == 0);
            CHECK(report.check_free == 0);
            mark(one, k, want);
            CHECK(seen == numbers);
        }
        CHECK(Opened::words(ran, kMarks) == want);

        // Without a device, with outputs that the result owns, and asynchronously.
        Words host = want;
        wye::Dispatch routed(t.program);
        routed.param("k", ++k).input("ran", host).grid_from(grid, 16);
        const auto outputs = take(routed.run_owned());
        mark(one, k, want);
        CHECK(std::ranges::equal(take(outputs.get<std::uint32_t>("ran")), want));
        CHECK(std::ranges::equal(take(outputs.get<std::uint32_t>("seen")), numbers));
        CHECK(outputs.report.routed == WYE_ROUTED_OWNER);
        host = want;
        const auto pending = take(routed.param("k", ++k).submit());
        take(pending.wait());
        mark(one, k, want);
        CHECK(std::ranges::equal(take(pending.output<std::uint32_t>("ran")), want));
        need(ran.upload(want));

        // Through a pipeline, alone and in a batch with items whose grid is known.
        wye::Dispatch piped(pipeline), plain(pipeline);
        piped.param("k", ++k).bind("ran", ran).bind("seen", into).grid_from(grid, 16);
        take(piped.run());
        mark(one, k, want);
        plain.param("k", k).bind("ran", ran).bind("seen", into).grid(2);
        wye::Dispatch* const items[] = {&plain, &piped, &piped, &plain, &piped};
        const auto batch = pipeline.batch(items);
        CHECK_FALSE(batch.error.has_value());
        CHECK(batch.completed == 5);
        for (const wye::Dispatch* item : items) mark(item == &plain ? Grid{2, 1, 1} : one, k, want);
        const wye::Buffer* const row[] = {&ran, &into, &ran, &into};
        wye::Dispatch rows(pipeline);
        rows.param("k", k).grid_from(grid, 16);
        const auto ran_rows = pipeline.rows(rows, row);
        CHECK_FALSE(ran_rows.error.has_value());
        mark(one, k, want);
        mark(one, k, want);
        CHECK(Opened::words(ran, kMarks) == want);
        CHECK(Opened::words(into, 3) == numbers);

        // All fixpoint iterations have the same grid.
        wye::Dispatch often(t.program, t.device);
        often.param("k", k).bind("ran", ran).bind("seen", into).grid_from(grid, 16).fixpoint(3);
        take(often.run());
        for (int round = 0; round < 3; ++round) mark(one, k, want);
        CHECK(Opened::words(ran, kMarks) == want);
    }
    Words kept = Opened::words(grid, 8);
    kept.resize(4);
    CHECK(kept == Words(4, 99));  // the words before the grid
}

TEST_CASE("a dispatch before writes the grid: in a graph, in one queue, in another, and unwaited") {
    const Opened t;
    if (!t.takes_grids()) return;
    wye::Buffer grid = t.buffer(Words(5)), ran = t.buffer(Words(kMarks));
    const wye::Buffer seen = t.buffer(Words(3));
    const wye::Queue one = take(t.device.queue()), two = take(t.device.queue());
    Words want(kMarks);
    std::uint32_t k = 0;
    const auto reads = [&](std::uint32_t with) {
        wye::Dispatch out(t.program, t.device);
        out.param("k", with).bind("ran", ran).bind("seen", seen).grid_from(grid, 8);
        return out;
    };
    std::vector<wye::Pending> pending;
    for (int round = 0; round < 20; ++round) {
        for (const Grid& now : kGrids) {
            wye::Dispatch writes = t.write(grid, 2, now), job = reads(++k);
            const int way = round % 4;
            if (way == 1) writes.on(one), job.on(one);
            if (way == 2) writes.on(one), job.on(two);
            if (way == 3) writes.on(two);
            pending.push_back(take(writes.submit()));
            pending.push_back(take(job.submit()));
            mark(now, k, want);
        }
        for (const wye::Pending& work : pending) take(work.wait());
        pending.clear();
        CHECK(Opened::words(ran, kMarks) == want);
    }

    // In a graph that writes its own grids. The parameters, and so the grids, change between two
    // runs.
    wye::Dispatch writes = t.write(grid, 2, {1, 1, 1}), first = reads(1), second = reads(2);
    second.grid_from(grid, 8);
    wye::Graph graph =
        take(wye::Graph::record(t.device, {&writes, &first, &writes, &second}, "changing"));
    for (const Grid& now : kGrids) {
        auto params = graph.params();
        params.set(0, "x", now[0]).set(0, "y", now[1]).set(0, "z", now[2]);
        params.set(2, "x", now[2]).set(2, "y", now[1]).set(2, "z", now[0]);
        ++k;
        params.set(1, "k", k).set(3, "k", k + 1);
        take(graph.run(params));
        mark(now, k, want);
        mark({now[2], now[1], now[0]}, k + 1, want);
        CHECK(Opened::words(ran, kMarks) == want);
    }
    // Executions that overlap. Each has the grid that its own first step writes.
    for (int round = 0; round < 8; ++round) {
        for (const Grid& now : kGrids) {
            auto params = graph.params();
            params.set(0, "x", now[0]).set(0, "y", now[1]).set(0, "z", now[2]);
            params.set(2, "x", 0U).set(2, "y", 1U).set(2, "z", 1U).set(1, "k", ++k);
            pending.push_back(take(graph.submit(params)));
            mark(now, k, want);
        }
    }
    for (const wye::Pending& work : pending) take(work.wait());
    CHECK(Opened::words(ran, kMarks) == want);

    // The host writes another grid between two runs. At last another buffer is bound.
    wye::Dispatch step = reads(5);
    wye::Graph small = take(wye::Graph::record(t.device, {&step}));
    for (const Grid& now : kGrids) {
        need(grid.upload_range(std::span(now), 8));
        take(small.run());
        mark(now, 5, want);
    }
    const wye::Buffer other = t.buffer({0, 0, 4, 3, 2});
    need(small.rebind(grid, other));
    take(small.run());
    mark({4, 3, 2}, 5, want);
    CHECK(Opened::words(ran, kMarks) == want);
}

TEST_CASE("the numbers are checked on the device, at each limit and one beyond") {
    const Opened t;
    if (!t.takes_grids()) return;
    const wye::Program count = take(t.context.program_from_text(kCount));
    wye::Buffer grid = t.buffer({1, 1, 1}), n = t.buffer({0});
    const Grid most = t.most();
    std::uint32_t ran = 0;
    const auto run = [&](const Grid& numbers) {
        need(grid.upload(std::span(numbers)));
        return wye::Dispatch(count, t.device).bind("n", n).grid_from(grid).run();
    };
    constexpr std::uint32_t kAffordable = 100'000;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        CAPTURE(axis);
        for (const std::uint32_t at : {most[axis] - 1, most[axis]}) {
            if (at > kAffordable) continue;
            Grid numbers = {1, 1, 1};
            numbers[axis] = at;
            take(run(numbers));
            ran += at;
            CHECK(Opened::words(n, 1) == Words{ran});
        }
        if (most[axis] == UINT32_MAX) continue;
        for (const std::uint32_t beyond : {most[axis] + 1, UINT32_MAX}) {
            Grid numbers = {1, 1, 1};
            numbers[axis] = beyond;
            const std::string what = std::to_string(beyond);
            check_refused(run(numbers), wye::Code::LIMIT_EXCEEDED, what);
            check_refused(run(numbers), wye::Code::LIMIT_EXCEEDED,
                          "more than the " + std::to_string(most[axis]) + " that ");
            numbers[(axis + 1) % 3] = 0;  // without workgroups nothing is refused
            take(run(numbers));
            CHECK(Opened::words(n, 1) == Words{ran});
        }
    }
    // More than 2^32 - 1 workgroups in all, also where the product is small modulo 2^32.
    for (const Grid& numbers :
         {Grid{65535, 65535, 2}, Grid{65535, 2, 65535}, Grid{2, 65535, 65535},
          Grid{32768, 32768, 4}, Grid{4096, 4096, 256}, Grid{65535, 65535, 65535}}) {
        check_refused(run(numbers), wye::Code::LIMIT_EXCEEDED, "more than 4294967295 in all");
        CHECK(Opened::words(n, 1) == Words{ran});
    }
    // More than 2^32 - 1 invocations on an axis, if the device can launch that many workgroups.
    if (most[0] == UINT32_MAX) {
        const wye::Program& wide = t.program;
        const wye::Buffer marks = t.buffer(Words(4)), seen = t.buffer(Words(3));
        need(grid.upload(Words{1073741824, 1, 1}));
        wye::Dispatch job(wide, t.device);
        job.param("k", 1U).bind("ran", marks).bind("seen", seen).grid_from(grid);
        check_refused(job.run(), wye::Code::LIMIT_EXCEEDED, "more than 4294967295 invocations");
        CHECK(Opened::words(marks, 4) == Words(4));
        // The largest valid product is more workgroups than a test can wait for, so the dispatch is
        // cancelled.
        need(grid.upload(Words{65535, 65537, 1}));
        auto pending = take(wye::Dispatch(count, t.device).bind("n", n).grid_from(grid).submit());
        need(pending.cancel());
        const auto ended = pending.wait();
        REQUIRE_FALSE(ended.ok());
        CHECK(ended.error().code == wye::Code::CANCELLED);
    }
    take(run({1, 1, 1}));  // the device still works
}

TEST_CASE("a grid that was refused delivers nothing, and names the dispatch of a graph") {
    const std::string selector = support::test_driver();
    const Opened t;
    if (!t.takes_grids()) return;
    wye::Buffer grid = t.buffer({65535, 65535, 65535}), ran = t.buffer(Words(kMarks));
    const wye::Buffer seen = t.buffer(Words(3, 7)), good = t.buffer({2, 1, 1});
    Words host(3, 7);
    wye::Dispatch job(t.program, t.device);
    job.param("k", 1U).bind("ran", ran).output("seen", host).grid_from(grid);
    const std::string what = "the dispatch of `mark` on " +
                             std::string(wye::detail::view(take(t.device.describe()).selector)) +
                             " found 65535x65535x65535 workgroups in its grid buffer";
    check_refused(job.run(), wye::Code::LIMIT_EXCEEDED, what);
    check_refused(job.timeout_ns(60'000'000'000).run(), wye::Code::LIMIT_EXCEEDED, what);
    job.timeout_ns(0);
    CHECK(host == Words(3, 7));
    wye::Dispatch owned(t.program, t.device);
    owned.param("k", 1U).bind("ran", ran).grid_from(grid);
    check_refused(owned.run_owned(), wye::Code::LIMIT_EXCEEDED, what);
    const auto pending = take(owned.submit());
    check_refused(pending.wait(), wye::Code::LIMIT_EXCEEDED, what);
    check_refused(pending.output<std::uint32_t>("seen"), wye::Code::LIMIT_EXCEEDED, what);
    CHECK(Opened::words(ran, kMarks) == Words(kMarks));

    wye::Dispatch fine(t.program, t.device), bad(t.program, t.device), after(t.program, t.device);
    fine.param("k", 1U).bind("ran", ran).bind("seen", seen).grid_from(good);
    bad.param("k", 9U).bind("ran", ran).bind("seen", seen).grid_from(grid);
    after.param("k", 2U).bind("ran", ran).bind("seen", seen).grid_from(good);
    const auto graph = take(wye::Graph::record(t.device, {&fine, &bad, &after}, "three"));
    for (int round = 0; round < 3; ++round) {
        check_refused(graph.run(), wye::Code::LIMIT_EXCEEDED, "dispatch 1 of graph `three`");
        check_refused(take(graph.submit()).wait(), wye::Code::LIMIT_EXCEEDED,
                      "dispatch 1 of graph `three`");
    }
    Words want(kMarks);
    for (int round = 0; round < 6; ++round) {
        mark({2, 1, 1}, 1, want);
        mark({2, 1, 1}, 2, want);
    }
    CHECK(Opened::words(ran, kMarks) == want);
    need(grid.upload(Words{3, 3, 3}));
    take(graph.run());
    mark({2, 1, 1}, 1, want);
    mark({3, 3, 3}, 9, want);
    mark({2, 1, 1}, 2, want);
    CHECK(Opened::words(ran, kMarks) == want);
    CHECK(Opened::words(seen, 3) == Words{2, 1, 1});
}

TEST_CASE("traps and grids from buffers end one dispatch each, also in a graph of both") {
    const Opened t;
    if (!t.takes_grids()) return;
    const wye::Program picky = take(t.context.program_from_text(
        "wye 1; program picky; workgroup 1; param bad: u32; input_output n: u32[1];\n"
        "main { if workgroup_id.x == bad { trap 9; } atomic_add(n[0], 1u); }"));
    wye::Buffer grid = t.buffer({5, 1, 1}), n = t.buffer({0});
    wye::Dispatch job(picky, t.device);
    job.param("bad", 5U).bind("n", n).grid_from(grid);
    take(job.run());
    CHECK(Opened::words(n, 1) == Words{5});
    const auto trapped = job.param("bad", 4U).run();
    check_refused(trapped, wye::Code::TRAPPED, "trapped with code 9");
    take(job.param("bad", 5U).fixpoint(3).run());
    check_refused(job.param("bad", 0U).run(), wye::Code::TRAPPED, "code 9");
    need(grid.upload(Words{UINT32_MAX, UINT32_MAX, 1}));
    check_refused(job.run(), wye::Code::LIMIT_EXCEEDED, "in its grid buffer");
    need(grid.upload(Words{5, 1, 1}));
    wye::Dispatch first(picky, t.device), second(picky, t.device);
    first.param("bad", 7U).bind("n", n).grid_from(grid);
    second.param("bad", 7U).bind("n", n).grid(5);
    const auto graph = take(wye::Graph::record(t.device, {&first, &second}));
    need(n.upload(Words{0}));
    take(graph.run());
    CHECK(Opened::words(n, 1) == Words{10});
    auto params = graph.params();
    params.set(1, "bad", 0U);
    check_refused(graph.run(params), wye::Code::TRAPPED, "trapped with code 9");
    need(grid.upload(Words{UINT32_MAX, UINT32_MAX, 1}));
    // The second step would trap, too, but the code of the wrong grid is larger.
    check_refused(graph.run(), wye::Code::LIMIT_EXCEEDED, "dispatch 0 of graph");
}

TEST_CASE("what does not fit is refused with its numbers, and both owners of a foreign buffer") {
    const std::string selector = support::test_driver();
    const Opened t;
    wye::Buffer grid = t.buffer({1, 1, 1, 1}), ran = t.buffer(Words(4));
    const auto job = [&] {
        wye::Dispatch out(t.program, t.device);
        out.param("k", 1U).bind("ran", ran).discard("seen");
        return out;
    };
    check_refused(job().grid_from(grid, 2).run(), wye::Code::INVALID_ARGUMENT,
                  "offset 2 of its buffer");
    check_refused(job().grid_from(grid, 8).run(), wye::Code::INVALID_ARGUMENT,
                  "12 bytes at offset 8 of a buffer of 16 bytes");
    check_refused(job().grid_from(grid).grid(1).run(), wye::Code::INVALID_ARGUMENT,
                  "a grid of 1x1x1 and a grid buffer");
    wye::Dispatch none = job();
    none.desc().flags |= WYE_DISPATCH_INDIRECT;
    check_refused(none.run(), wye::Code::STALE_HANDLE, "(of the grid)");
    wye::Dispatch stray = job();
    stray.grid(1).desc().grid_buffer = grid.get();
    check_refused(stray.run(), wye::Code::INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT");
    if (selector != "cpu") {
        const wye::Device cpu = take(t.context.open("cpu"));
        const wye::Buffer foreign = take(cpu.buffer(12));
        const auto refused = job().grid_from(foreign).run();
        check_refused(refused, wye::Code::WRONG_OWNER, "cpu:0");
        check_refused(refused, wye::Code::WRONG_OWNER, selector);
    }
    CHECK(Opened::words(ran, 4) == Words(4));
}

}  // namespace wye::test::test_grid_buffer
