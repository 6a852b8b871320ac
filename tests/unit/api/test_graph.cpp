// SPDX-License-Identifier: Apache-2.0
//
// Graphs through wye/graph.hpp, on the CPU or a real driver, compared with plain C++.
#include "wye/graph.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "opened.hpp"
#include "wye/pipeline.hpp"

namespace wye::test::test_graph {
namespace {

using api_test::need;
using api_test::take;

constexpr std::string_view kStep = R"(wye 1; program advance; workgroup 64; param k: u32;
input_output x: u32[]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { x[i] = x[i] * 3u + k; } })";

constexpr std::string_view kAdd = R"(wye 1; program add; workgroup 64;
input x: u32[]; input_output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = r[i] + x[i]; } })";

// The output starts at zero, so the graph needs a fill.
constexpr std::string_view kEven = R"(wye 1; program even; workgroup 64;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] % 2u == 0u { r[i] = x[i]; } } })";

constexpr std::string_view kScale =
    R"(wye 1; program scale; workgroup 64; param by: f32; param k: i32;
input x: u32[]; output r: f32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { r[i] = f32(x[i]) * by + f32(k); } })";

constexpr std::string_view kCheck = R"(wye 1; program check; workgroup 1; param bad: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] == bad { trap 7; } r[i] = x[i] + 1u; } })";

}  // namespace

TEST_CASE("a graph runs its dispatches in order, as often as it is run") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const auto add = take(t.context.program_from_text(kAdd));
    const auto even = take(t.context.program_from_text(kEven));
    const wye::Buffer x = t.buffer(counting(300));
    const wye::Buffer r = t.buffer(Words(300, 5));
    const wye::Buffer e = t.buffer(Words(300, 77));
    wye::Dispatch first(step, t.device), second(add, t.device), third(even, t.device);
    first.param("k", 7U).bind("x", x);
    second.bind("x", x).bind("r", r);
    third.bind("x", r).bind("r", e);
    const auto graph = take(wye::Graph::record(t.device, {&first, &second, &third}, "three"));
    Words want_x = counting(300), want_r(300, 5), want_e;
    for (int round = 0; round < 4; ++round) {
        if (round == 2) {
            REQUIRE(graph.execute().ok());
        } else {
            const wye_report report = take(graph.run());
            CHECK(report.bytes_uploaded == 0);
            CHECK(report.bytes_downloaded == 0);
        }
        want_e.assign(300, 0);
        for (std::size_t i = 0; i < 300; ++i) {
            want_x[i] = want_x[i] * 3 + 7;
            want_r[i] += want_x[i];
            if (want_r[i] % 2 == 0) want_e[i] = want_r[i];
        }
    }
    CHECK(Opened::words(x, 300) == want_x);
    CHECK(Opened::words(r, 300) == want_r);
    CHECK(Opened::words(e, 300) == want_e);
    const wye_graph_info info = take(graph.describe());
    CHECK(info.dispatches == 3);
    CHECK(info.operations >= 3);
}

TEST_CASE("steps that differ only in their buffers are each as if alone") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const auto even = take(t.context.program_from_text(kEven));
    const auto check = take(t.context.program_from_text(kCheck));
    // Two buffers are shorter, so the steps that use them differ from the steps before.
    constexpr std::uint32_t kCounts[] = {100, 100, 60, 60, 100, 100};
    std::vector<wye::Buffer> x, e, r;
    std::vector<wye::Dispatch> steps;
    for (const std::uint32_t count : kCounts) {
        const auto first = static_cast<std::uint32_t>(10 * x.size());
        x.push_back(t.buffer(counting(count, first)));
        e.push_back(t.buffer(Words(count, 77)));
        r.push_back(t.buffer(Words(count, 77)));
    }
    for (const wye::Buffer& one : x)
        steps.emplace_back(step, t.device).param("k", 1U).bind("x", one);
    for (std::size_t i = 0; i < x.size(); ++i)
        steps.emplace_back(even, t.device).bind("x", x[i]).bind("r", e[i]);
    for (std::size_t i = 0; i < x.size(); ++i)
        steps.emplace_back(check, t.device)
            .param("bad", 4000000000U)
            .bind("x", e[i])
            .bind("r", r[i]);
    // Two equal steps, one after the other.
    steps.emplace_back(step, t.device).param("k", 1U).bind("x", r[0]);
    steps.emplace_back(step, t.device).param("k", 1U).bind("x", r[0]);
    std::vector<wye::Dispatch*> list;
    for (wye::Dispatch& one : steps) list.push_back(&one);
    const auto graph = take(wye::Graph::record(t.device, list));
    std::vector<std::uint64_t> params;
    for (std::uint64_t i = 0; i < x.size(); ++i) params.push_back(100 + i);
    for (std::size_t i = 0; i < x.size(); ++i) params.push_back(4000000000U);
    params.push_back(5);
    params.push_back(6);
    (void)take(graph.run(params));
    for (std::size_t i = 0; i < x.size(); ++i) {
        CAPTURE(i);
        Words want_x = counting(kCounts[i], static_cast<std::uint32_t>(10 * i)), want_e, want_r;
        for (std::uint32_t& v : want_x) {
            v = v * 3 + 100 + static_cast<std::uint32_t>(i);
            want_e.push_back(v % 2 == 0 ? v : 0);
            want_r.push_back(want_e.back() + 1);
            if (i == 0) want_r.back() = (want_r.back() * 3 + 5) * 3 + 6;
        }
        CHECK(t.words(x[i], kCounts[i]) == want_x);
        CHECK(t.words(e[i], kCounts[i]) == want_e);
        CHECK(t.words(r[i], kCounts[i]) == want_r);
    }
}

TEST_CASE("a trap of any of several steps that differ only in their buffers is told") {
    const Opened t;
    const auto check = take(t.context.program_from_text(kCheck));
    for (std::size_t bad = 0; bad < 4; ++bad) {
        CAPTURE(bad);
        std::vector<wye::Buffer> x, r;
        std::vector<wye::Dispatch> steps;
        for (std::size_t i = 0; i < 4; ++i) {
            x.push_back(t.buffer(Words(64, i == bad ? 9U : 1U)));
            r.push_back(t.buffer(Words(64, 0)));
        }
        for (std::size_t i = 0; i < 4; ++i)
            steps.emplace_back(check, t.device).param("bad", 9U).bind("x", x[i]).bind("r", r[i]);
        std::vector<wye::Dispatch*> list;
        for (wye::Dispatch& one : steps) list.push_back(&one);
        const auto graph = take(wye::Graph::record(t.device, list, ""));
        for (int run = 0; run < 2; ++run) CHECK(graph.run().error().code == wye::Code::TRAPPED);
        const wye::Error trapped = graph.execute().error();
        CHECK(trapped.code == wye::Code::TRAPPED);
        CAPTURE(trapped.message);
        CHECK(trapped.message.starts_with("a program of the graph"));  // the graph has no label
    }
}

TEST_CASE("a step like the one before is refused for what differs") {
    const Opened t, other;
    const auto add = take(t.context.program_from_text(kAdd));
    const wye::Buffer x = t.buffer(Words(64, 1)), r = t.buffer(Words(64, 1));
    const wye::Buffer longer = t.buffer(Words(65, 1)), foreign = other.buffer(Words(64, 1));
    auto gone = std::make_optional(t.buffer(Words(64, 1)));
    const wye_buffer freed = gone->get();
    gone.reset();
    const auto record = [&](wye_buffer from, wye_buffer to) {
        const wye_buffer bound[2][2] = {{x.get(), r.get()}, {from, to}};
        wye_argument arguments[2][2] = {};
        wye_dispatch_desc dispatches[2];
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::uint32_t binding : {0U, 1U}) {
                arguments[i][binding].kind = WYE_ARGUMENT_RESIDENT;
                arguments[i][binding].binding = binding;
                arguments[i][binding].buffer = bound[i][binding];
            }
            WYE_INIT(dispatches[i]);
            dispatches[i].program = add.get();
            dispatches[i].device = t.device.get();
            dispatches[i].arguments = arguments[i];
            dispatches[i].argument_count = 2;
        }
        const wye_graph_step steps[] = {{&dispatches[0], nullptr}, {&dispatches[1], nullptr}};
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = t.device.get();
        desc.steps = steps;
        desc.step_count = 2;
        wye_graph out = 0;
        wye_error* error = nullptr;
        const wye_status status = wye_graph_create(t.context.get(), &desc, &out, &error);
        std::string said;
        if (error != nullptr) said = wye::detail::view(wye_error_text(error));
        wye_error_free(error);
        return std::pair(status, said);
    };
    struct Case {
        wye_buffer from, to;
        wye_status status;
        const char* said;
    };
    const Case cases[] = {
        {r.get(), x.get(), WYE_OK, ""},
        {freed, r.get(), WYE_STALE_HANDLE, "step 1"},
        {x.get(), freed, WYE_STALE_HANDLE, "step 1"},
        {foreign.get(), r.get(), WYE_WRONG_OWNER, "step 1"},
        {x.get(), longer.get(), WYE_INVALID_ARGUMENT, "step 1"},
        {x.get(), x.get(), WYE_INVALID_ARGUMENT, "overlapping memory"},
        {t.device.get(), r.get(), WYE_WRONG_KIND, "step 1"},
    };
    for (const Case& one : cases) {
        const auto refused = record(one.from, one.to);
        INFO(refused.second);
        CHECK(refused.first == one.status);
        CHECK(refused.second.find(one.said) != std::string::npos);
    }
}

TEST_CASE("parameters of an execution stay until others are given") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const wye::Buffer x = t.buffer(counting(100));
    wye::Dispatch first(step, t.device), second(step, t.device);
    first.param("k", 1U).bind("x", x);
    second.param("k", 2U).bind("x", x);
    const auto graph = take(wye::Graph::record(t.device, {&first, &second}));
    Words want = counting(100);
    const auto apply = [&](std::uint32_t a, std::uint32_t b) {
        for (std::uint32_t& v : want) v = (v * 3 + a) * 3 + b;
    };
    (void)take(graph.run());
    apply(1, 2);
    const std::vector<std::uint64_t> params = {40, 50};
    (void)take(graph.run(params));
    apply(40, 50);
    (void)take(graph.run());
    apply(40, 50);
    for (std::uint64_t k = 0; k < 20; ++k) {
        const std::vector<std::uint64_t> other = {k, 50};
        (void)take(graph.run(other));
        apply(static_cast<std::uint32_t>(k), 50);
    }
    CHECK(Opened::words(x, 100) == want);
    // A value of 41 bits does not fit a u32, so the call changes no parameter.
    const std::vector<std::uint64_t> wide = {1234, std::uint64_t{1} << 40U};
    CHECK(graph.run(wide).error().code == wye::Code::INVALID_ARGUMENT);
    (void)take(graph.run());
    apply(19, 50);
    const std::vector<std::uint64_t> few = {1};
    const auto refused = graph.run(few);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(Opened::words(x, 100) == want);
}

TEST_CASE("parameters of both sizes are given by each execution, submitted or run") {
    constexpr std::string_view kMixed = R"(wye 1; program mixed; workgroup 64;
param a: u64; param b: u32; param c: u64; param d: i32;
input_output x: u64[]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { x[i] = x[i] * 3u64 + a + u64(b) + c + u64(d); } })";
    const Opened t;
    const auto program = take(t.context.program_from_text(kMixed));
    const wye::Buffer x = t.buffer(Words(200, 0));  // 100 words of 64 bits
    wye::Dispatch step(program, t.device);
    step.param("a", std::uint64_t{1}).param("b", 2U).param("c", std::uint64_t{3});
    step.param("d", 4).bind("x", x);
    const auto graph = take(wye::Graph::record(t.device, {&step}));
    std::uint64_t want = 0;
    for (std::uint64_t k = 0; k < 40; ++k) {
        const std::vector<std::uint64_t> params = {k << 40U, 0xffffffffU - k, ~(k << 3U), k};
        if (k % 2 == 0)
            (void)take(take(graph.submit(params)).wait());
        else
            (void)take(graph.run(params));
        want = want * 3 + params[0] + params[1] + params[2] + params[3];
    }
    // The last value is too wide, so the call changes no parameter.
    const std::vector<std::uint64_t> wide = {7, 8, 9, std::uint64_t{1} << 32U};
    CHECK(graph.run(wide).error().code == wye::Code::INVALID_ARGUMENT);
    (void)take(graph.run());
    want =
        want * 3 + (std::uint64_t{39} << 40U) + 0xffffffffU - 39 + ~(std::uint64_t{39} << 3U) + 39;
    const Words out = Opened::words(x, 200);
    for (std::size_t i = 0; i < 100; ++i)
        CHECK((out[2 * i] | std::uint64_t{out[2 * i + 1]} << 32U) == want);
}

TEST_CASE("executions are submitted without a wait, and follow each other") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const wye::Buffer x = t.buffer(counting(5000));
    wye::Dispatch dispatch(step, t.device);
    dispatch.param("k", 1U).bind("x", x);
    Words want = counting(5000);
    {
        const auto graph = take(wye::Graph::record(t.device, {&dispatch, &dispatch}));
        std::vector<wye::Pending> pending;
        for (std::uint64_t n = 0; n < 60; ++n) {
            const std::vector<std::uint64_t> params = {n, n + 1};
            pending.push_back(take(graph.submit(params)));
            for (std::uint32_t& v : want)
                v = (v * 3 + static_cast<std::uint32_t>(n)) * 3 + static_cast<std::uint32_t>(n) + 1;
        }
        for (const wye::Pending& one : pending) (void)take(one.wait());
        for (int n = 0; n < 5; ++n) {
            pending.push_back(take(graph.submit()));
            for (std::uint32_t& v : want) v = (v * 3 + 59) * 3 + 60;
        }
    }  // the graph is freed while executions are in flight
    CHECK(Opened::words(x, 5000) == want);
}

TEST_CASE("a trap of an execution is its own") {
    const Opened t;
    const auto check = take(t.context.program_from_text(kCheck));
    const wye::Buffer x = t.buffer(counting(50));
    const wye::Buffer r = t.buffer(Words(50, 0));
    wye::Dispatch dispatch(check, t.device);
    dispatch.param("bad", 10U).bind("x", x).bind("r", r);
    const auto graph = take(wye::Graph::record(t.device, {&dispatch}, "checked"));
    const auto outcome = [&](std::uint64_t bad) {
        const std::vector<std::uint64_t> params = {bad};
        return graph.submit(params);
    };
    std::vector<wye::Pending> pending;
    for (const std::uint64_t bad : {10U, 1000U, 20U, 1001U, 1002U, 30U})
        pending.push_back(take(outcome(bad)));
    for (std::size_t n = 0; n < pending.size(); ++n) {
        const auto result = pending[n].wait();
        const bool traps = n == 0 || n == 2 || n == 5;
        CHECK(result.ok() != traps);
        if (!result.ok()) CHECK(result.error().code == wye::Code::TRAPPED);
    }
    CHECK(graph.run(std::vector<std::uint64_t>{10}).error().code == wye::Code::TRAPPED);
    (void)take(graph.run(std::vector<std::uint64_t>{999}));
    CHECK(Opened::words(r, 50) == counting(50, 1));
}

TEST_CASE("what a graph cannot run is refused by name, when it is recorded or run") {
    const Opened t;
    const auto add = take(t.context.program_from_text(kAdd));
    const Words host(64);
    const wye::Buffer r = t.buffer(host);
    wye::Dispatch hosted(add, t.device);
    hosted.input("x", host).bind("r", r);
    const auto refused = wye::Graph::record(t.device, {&hosted}, "hosted");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::UNSUPPORTED);
    CHECK(refused.error().message.find("step 0 of graph `hosted`") != std::string::npos);
    CHECK(refused.error().message.find("`x`") != std::string::npos);

    auto x = std::make_optional(t.buffer(host));
    wye::Dispatch dispatch(add, t.device);
    dispatch.bind("x", *x).bind("r", r);
    wye::Dispatch limited(add, t.device);
    limited.bind("x", *x).bind("r", r).timeout_ns(1000);
    const auto timeout = wye::Graph::record(t.device, {&dispatch, &limited});
    REQUIRE_FALSE(timeout.ok());
    CHECK(timeout.error().message.find("step 1 of graph") != std::string::npos);

    const auto sized = take(t.context.program_from_text(
        "wye 1; program sized; workgroup 64; param n: u32; input_output r: u32[]; grid "
        "elements n; main { let i = global_id.x; if i < len(r) { r[i] = n; } }"));
    wye::Dispatch by(sized, t.device);
    by.param("n", 64U).bind("r", r);
    const auto fixed = take(wye::Graph::record(t.device, {&by}, "fixed"));
    (void)take(fixed.run(std::vector<std::uint64_t>{64}));
    const auto other_size = fixed.run(std::vector<std::uint64_t>{32});
    REQUIRE_FALSE(other_size.ok());
    CHECK(other_size.error().code == wye::Code::UNSUPPORTED);
    CHECK(other_size.error().message.find("dispatch 0 of graph `fixed`") != std::string::npos);
    CHECK(other_size.error().fix == "Fix: record a graph with these parameters");

    const auto graph = take(wye::Graph::record(t.device, {&dispatch}, "added"));
    (void)take(graph.run());
    x.reset();
    const auto stale = graph.run();
    REQUIRE_FALSE(stale.ok());
    CHECK(stale.error().code == wye::Code::STALE_HANDLE);
    CHECK(stale.error().message == "graph `added` uses a buffer that was freed");
    CHECK(stale.error().fix.find("wye_graph_rebind") != std::string::npos);
    CHECK(graph.submit().error().code == wye::Code::STALE_HANDLE);

    const Opened other;
    wye_report report{};
    report.header.size = sizeof report;
    wye_graph_run_desc run{};
    run.header.size = sizeof run;
    const auto run_on = [&](wye_context* context, wye_graph of) {
        return wye_graph_run(context, of, &run, &report, nullptr);
    };
    CHECK(run_on(other.context.get(), graph.get()) == WYE_WRONG_OWNER);
    CHECK(run_on(t.context.get(), r.get()) == WYE_WRONG_KIND);
    CHECK(run_on(t.context.get(), 0) == WYE_STALE_HANDLE);
    run.flags = WYE_DISPATCH_BORROW;
    CHECK(run_on(t.context.get(), graph.get()) == WYE_INVALID_ARGUMENT);
    run.flags = 0;
    run.param_count = 1;
    CHECK(run_on(t.context.get(), graph.get()) == WYE_INVALID_ARGUMENT);
    CHECK(wye_graph_run(t.context.get(), graph.get(), nullptr, &report, nullptr) ==
          WYE_INVALID_ARGUMENT);
}

TEST_CASE("a graph may use more buffers than a submit has handles") {
    constexpr std::uint32_t kPairs = 50;
    const Opened t;
    const auto add = take(t.context.program_from_text(kAdd));
    std::vector<wye::Buffer> in, out;
    std::vector<wye::Dispatch> dispatches;
    for (std::uint32_t i = 0; i < kPairs; ++i) {
        in.push_back(t.buffer(counting(16, i)));
        out.push_back(t.buffer(counting(16)));
        dispatches.emplace_back(add, t.device).bind("x", in.back()).bind("r", out.back());
    }
    std::vector<wye::Dispatch*> all;
    for (wye::Dispatch& dispatch : dispatches) all.push_back(&dispatch);
    const auto graph = take(wye::Graph::record(t.device, all));
    (void)take(graph.run());
    (void)take(graph.run());
    for (std::uint32_t i = 0; i < kPairs; ++i) {
        Words expected = counting(16);
        for (std::uint32_t k = 0; k < 16; ++k) expected[k] += 2 * (i + k);
        CHECK(t.words(out[i], 16) == expected);
    }
    in.pop_back();  // frees a buffer of the graph
    CHECK(graph.run().error().code == wye::Code::STALE_HANDLE);
}

TEST_CASE("an empty graph runs") {
    const Opened t;
    const auto graph = take(wye::Graph::record(t.device, std::span<wye::Dispatch* const>()));
    (void)take(graph.run());
    (void)take(take(graph.submit()).wait());
}

TEST_CASE("several threads run one graph") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const wye::Buffer x = t.buffer(counting(256));
    wye::Dispatch dispatch(step, t.device);
    dispatch.param("k", 3U).bind("x", x);
    const auto graph = take(wye::Graph::record(t.device, {&dispatch}));
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; ++n)
        threads.emplace_back([&] {
            for (int i = 0; i < 40; ++i) {
                if (i % 3 == 0)
                    (void)take(take(graph.submit()).wait());
                else
                    (void)take(graph.run());
            }
        });
    for (std::thread& thread : threads) thread.join();
    Words want = counting(256);
    for (int i = 0; i < 120; ++i)
        for (std::uint32_t& v : want) v = v * 3 + 3;
    CHECK(Opened::words(x, 256) == want);
}

TEST_CASE("transfers are steps, whose host memory each execution reads and writes anew") {
    constexpr std::uint32_t kCount = 5000;
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const auto add = take(t.context.program_from_text(kAdd));
    const wye::Buffer x = t.buffer(Words(kCount, 9));
    const wye::Buffer y = t.buffer(Words(kCount, 9));
    Words in = counting(kCount), out(kCount), middle(10);
    wye::Dispatch first(step, t.device), second(add, t.device);
    first.param("k", 1U).bind("x", x);
    second.bind("x", x).bind("r", y);
    const auto graph = take(wye::Graph::record(
        t.device, {wye::Step::upload(in, x), &first, wye::Step::download(x, middle, 40),
                   wye::Step::copy(x, 0, y, 0, kCount * 4), wye::Step::fill(y, 100, 0, 8), &second,
                   wye::Step::download(y, out)}));
    for (std::uint32_t round = 0; round < 3; ++round) {
        const wye_report report = take(graph.run(std::array{std::uint64_t{round}}));
        CHECK(report.bytes_uploaded == kCount * 4);
        CHECK(report.bytes_downloaded == kCount * 4 + 40);
        CHECK(report.bytes_copied == kCount * 4);
        CHECK(report.bytes_filled == 8);
        Words want(kCount);
        for (std::uint32_t i = 0; i < kCount; ++i) {
            const std::uint32_t once = in[i] * 3 + round;
            want[i] = (i < 2 ? 100 : once) + once;
            if (i >= 10 && i < 20) CHECK(middle[i - 10] == once);
        }
        CHECK(out == want);
        for (std::uint32_t& word : in) word = word * 5 + 1;
    }
    const wye_graph_info info = take(graph.describe());
    CHECK(info.dispatches == 2);
    CHECK(info.transfers == 5);
    CHECK(info.operations == 7);
    CHECK(take(graph.run()).graph == (info.native != 0 ? WYE_GRAPH_NATIVE : WYE_GRAPH_REPLAYED));
    // The same, without a blocking call.
    const auto pending = take(graph.submit(std::array{std::uint64_t{4}}));
    (void)take(pending.wait());
    CHECK(out[4000] == (in[4000] * 3 + 4) * 2);
}

TEST_CASE("a graph takes other buffers, and refuses those that do not fit") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const auto add = take(t.context.program_from_text(kAdd));
    auto x = std::make_optional(t.buffer(counting(100)));
    const wye::Buffer r = t.buffer(Words(100, 1));
    wye::Dispatch first(step, t.device), second(add, t.device);
    first.param("k", 2U).bind("x", *x);
    second.bind("x", *x).bind("r", r);
    auto graph = take(wye::Graph::record(t.device, {&first, &second}, "pair"));
    (void)take(graph.run(std::array{std::uint64_t{5}}));
    CHECK(t.words(r, 100)[10] == 1 + 10 * 3 + 5);

    // Another buffer of the same size. The parameters stay those of the last execution.
    const wye::Buffer same = t.buffer(counting(100, 50));
    need(graph.rebind(*x, same));
    (void)take(graph.run());
    CHECK(t.words(r, 100)[10] == (1 + 10 * 3 + 5) + (60 * 3 + 5));
    CHECK(t.words(*x, 100)[10] == 10 * 3 + 5);

    // Sizes are checked as in a new graph. One change alone is refused; the two together fit.
    const wye::Buffer large = t.buffer(counting(300)), sum = t.buffer(Words(300, 7));
    const auto refused = graph.rebind(same, large);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("step 1 of graph `pair`") != std::string::npos);
    (void)take(graph.run());  // the graph is unchanged
    const wye_graph_rebinding both[] = {{same.get(), large.get()}, {r.get(), sum.get()}};
    need(graph.rebind(both));
    (void)take(graph.run());
    CHECK(t.words(sum, 300)[299] == 7 + 299 * 3 + 5);

    // The graph gets its first buffers back. Then wrong changes are refused: a buffer of another
    // context, a buffer that the graph does not use, and two changes of one buffer.
    const wye_graph_rebinding back[] = {{large.get(), x->get()}, {sum.get(), r.get()}};
    need(graph.rebind(back));
    const Opened other;
    const wye::Buffer foreign = other.buffer(counting(100));
    CHECK(graph.rebind(r, foreign).error().code == wye::Code::WRONG_OWNER);
    (void)take(graph.run());
    x.reset();
    CHECK(graph.run().error().code == wye::Code::STALE_HANDLE);
    CHECK(graph.rebind(same, large).error().code == wye::Code::NOT_FOUND);
    const wye_graph_rebinding twice[] = {{r.get(), sum.get()}, {r.get(), r.get()}};
    CHECK(graph.rebind(twice).error().code == wye::Code::DUPLICATE);
}

TEST_CASE("a freed buffer's place in a graph is taken by another") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    auto x = std::make_optional(t.buffer(counting(64)));
    wye::Dispatch dispatch(step, t.device);
    dispatch.param("k", 2U).bind("x", *x);
    auto graph = take(wye::Graph::record(t.device, {&dispatch}));
    (void)take(graph.run());
    const wye_buffer freed = x->get();
    x.reset();
    CHECK(graph.run().error().code == wye::Code::STALE_HANDLE);
    const wye::Buffer fresh = t.buffer(counting(64));
    const wye_graph_rebinding change[] = {{freed, fresh.get()}};
    need(graph.rebind(change));
    (void)take(graph.run());
    CHECK(t.words(fresh, 64)[9] == 9 * 3 + 2);
}

// Each iteration reads what other workgroups wrote in the iteration before.
constexpr std::string_view kRounds = R"(wye 1; program rounds; workgroup 64; param rounds: u32;
input_output a: u32[]; input_output b: u32[len(a)]; grid elements len(a);
main {
    for r in 0u..rounds {
        let i = global_id.x;
        if i < len(a) { b[i] = a[(i + 1u) % len(a)] * 3u + r; }
        grid_barrier;
        let me = global_id.x;
        if me < len(a) { a[me] = b[(me + 64u) % len(a)]; }
        grid_barrier;
    }
})";

TEST_CASE("each phase of a recorded program with grid barriers has its round") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kRounds));
    const wye::Buffer a = t.buffer(counting(300)), b = t.buffer(Words(300, 0));
    wye::Dispatch dispatch(program, t.device);
    dispatch.param("rounds", 4U).bind("a", a).bind("b", b);
    const auto graph = take(wye::Graph::record(t.device, {&dispatch, &dispatch}));
    Words want_a = counting(300), want_b(300, 0);
    for (int run = 0; run < 2; ++run) {
        (void)take(graph.run());
        for (std::uint32_t round = 0; round < 8; ++round) {
            for (std::size_t i = 0; i < 300; ++i) want_b[i] = want_a[(i + 1) % 300] * 3 + round % 4;
            for (std::size_t i = 0; i < 300; ++i) want_a[i] = want_b[(i + 64) % 300];
        }
        CHECK(t.words(a, 300) == want_a);
        CHECK(t.words(b, 300) == want_b);
    }
}

TEST_CASE("a graph of pipelines takes other parameters") {
    const Opened t;
    const auto pipeline =
        take(wye::Pipeline::create(take(t.context.program_from_text(kStep)), t.device));
    const wye::Buffer x = t.buffer(counting(100));
    wye::Dispatch dispatch(pipeline);
    dispatch.param("k", 2U).bind("x", x);
    const auto graph = take(wye::Graph::record(t.device, {&dispatch}));
    (void)take(graph.run());
    (void)take(graph.run(std::array{std::uint64_t{8}}));
    CHECK(t.words(x, 100)[10] == (10 * 3 + 2) * 3 + 8);
}

TEST_CASE("a graph's parameters are set by dispatch, name and declared type") {
    const Opened t;
    const auto step = take(t.context.program_from_text(kStep));
    const auto add = take(t.context.program_from_text(kAdd));
    const auto scale = take(t.context.program_from_text(kScale));
    const wye::Buffer x = t.buffer(counting(100)), r = t.buffer(Words(100, 0));
    const wye::Buffer y = t.buffer(Words(100, 0));
    wye::Dispatch first(step, t.device), second(add, t.device), third(scale, t.device);
    first.param("k", 1U).bind("x", x);
    second.bind("x", x).bind("r", r);
    third.param("by", 2.0F).param("k", -3).bind("x", x).bind("r", y);
    const auto graph = take(
        wye::Graph::record(t.device, {&first, wye::Step::fill(r, 0, 0, 400), &second, &third}));
    wye::GraphParams params = graph.params();
    CHECK(Words(params.words().begin(), params.words().end()) == Words{1, 0x40000000, 0xfffffffd});
    params.set(0, "k", 6U).set(2, "by", 0.5F).set(2, "k", -1);
    (void)take(graph.run(params));
    CHECK(t.words(r, 100)[10] == 10 * 3 + 6);
    const auto scaled = [&] { return std::bit_cast<float>(t.words(y, 100)[10]); };
    CHECK(scaled() == 36 * 0.5F - 1);
    (void)take(take(graph.submit(params.set(2, "k", 4))).wait());
    CHECK(scaled() == (36 * 3 + 6) * 0.5F + 4);
    const Words before = t.words(x, 100);

    wye::GraphParams misspelt = graph.params();
    CHECK(graph.run(misspelt.set(2, "bye", 1.F)).error().fix == "Fix: did you mean `by`?");
    struct Wrong {
        const char* says;
        void (*set)(wye::GraphParams&);
    };
    for (const Wrong& wrong :
         {Wrong{"`k` of dispatch 1 is not a parameter", [](auto& p) { p.set(1, "k", 1U); }},
          Wrong{"`by` of dispatch 0 is not a parameter", [](auto& p) { p.set(0, "by", 1.F); }},
          Wrong{"`k` of dispatch 3 is not a parameter", [](auto& p) { p.set(3, "k", 1U); }},
          Wrong{"`k` of dispatch 0 has type u32, got i32", [](auto& p) { p.set(0, "k", 1); }},
          Wrong{"`by` of dispatch 2 has type f32, got f64",
                [](auto& p) { p.set(2, "by", 1.0).set(0, "k", 1U); }}}) {
        wye::GraphParams values = graph.params();
        wrong.set(values);
        for (const auto& result : {graph.run(values).error(), graph.submit(values).error()}) {
            CHECK(result.code == wye::Code::INVALID_ARGUMENT);
            CHECK(result.message.find(wrong.says) != std::string::npos);
            CHECK(result.fix.starts_with("Fix: "));
        }
    }
    CHECK(t.words(x, 100) == before);
}

}  // namespace wye::test::test_graph
