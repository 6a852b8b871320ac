// SPDX-License-Identifier: Apache-2.0
//
// Fixpoint iterations on the CPU or a real driver, compared with plain C++ and with separate
// dispatches.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"

namespace wye::test::test_fixpoint {
namespace {

using api_test::need;
using api_test::take;

// Each iteration reads what the iteration before wrote to `r` and `a`.
constexpr std::string_view kRound = R"(wye 1; program stir; workgroup 32; param k: u32;
input x: u32[]; input_output a: u32[len(x)]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) {
  r[i] = r[i] * 3u + a[i] + k;
  a[i] = a[i] ^ (x[i] + r[i]);
} })";

// Traps in the third iteration, if an element of x is 1.
constexpr std::string_view kThird = R"(wye 1; program third; workgroup 1;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { r[i] = r[i] + x[i]; if r[i] == 3u { trap 5; } } })";

struct Want {
    Words a, r;
    void rounds(const Words& x, std::uint32_t k, std::uint32_t count) {
        r.assign(x.size(), 0);
        for (std::uint32_t n = 0; n < count; ++n) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                r[i] = r[i] * 3 + a[i] + k;
                a[i] ^= x[i] + r[i];
            }
        }
    }
};

}  // namespace

TEST_CASE("N iterations are N launches on the same bindings, with one start at zero") {
    const Words x = counting(100, 3), a = counting(100, 1000);
    const Opened t;
    const auto program = take(t.context.program_from_text(kRound));
    for (const std::uint32_t count : {0U, 1U, 2U, 3U, 9U}) {
        CAPTURE(count);
        Want want{a, {}};
        want.rounds(x, 4, std::max(count, 1U));
        // With host memory. The input_output buffer is read back, too.
        Words got_a = a, got_r(100, 77);
        wye::Dispatch host(program, t.device);
        host.param("k", 4U).input("x", x).input("a", a).output("a", got_a).output("r", got_r);
        if (count != 0) host.fixpoint(count);
        take(host.run());
        CHECK(got_a == want.a);
        CHECK(got_r == want.r);
        // With resident buffers, each time on new contents: first, repeated, submitted, and as a
        // graph.
        const wye::Buffer bx = t.buffer(x), br = t.buffer(Words(100, 5));
        wye::Buffer ba = t.buffer(a);
        wye::Dispatch resident(program, t.device);
        resident.param("k", 4U).bind("x", bx).bind("a", ba).bind("r", br);
        if (count != 0) resident.fixpoint(count);
        const auto graph = take(wye::Graph::record(t.device, {&resident}));
        for (int form = 0; form < 4; ++form) {
            CAPTURE(form);
            need(ba.upload(a));
            const std::uint64_t submits = take(t.device.counters()).submits;
            if (form < 2) take(resident.run());
            if (form == 2) take(take(resident.submit()).wait());
            if (form == 3) take(graph.run());
            CHECK(take(t.device.counters()).submits == submits + 1);
            CHECK(Opened::words(ba, 100) == want.a);
            CHECK(Opened::words(br, 100) == want.r);
        }
    }
}

TEST_CASE("iterations through a pipeline, alone and in a batch") {
    const Words x = counting(64, 5), a = counting(64, 9);
    const Opened t;
    const auto program = take(t.context.program_from_text(kRound));
    const auto pipeline = take(wye::Pipeline::create(program, t.device));
    const wye::Buffer bx = t.buffer(x), ba = t.buffer(a), br = t.buffer(Words(64));
    wye::Dispatch first(pipeline), second(pipeline);
    first.param("k", 1U).bind("x", bx).bind("a", ba).bind("r", br);
    second.param("k", 2U).bind("x", bx).bind("a", ba).bind("r", br);
    first.fixpoint(4);
    second.fixpoint(3);
    const auto result = pipeline.batch(std::vector<wye::Dispatch*>{&first, &second});
    CHECK(!result.error);
    Want want{a, {}};
    want.rounds(x, 1, 4);
    want.rounds(x, 2, 3);
    CHECK(Opened::words(ba, 64) == want.a);
    CHECK(Opened::words(br, 64) == want.r);
}

TEST_CASE("iterations stop after the one that traps") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kThird));
    const wye::Buffer x = t.buffer({1, 10, 100}), r = t.buffer({8, 8, 8});
    wye::Dispatch dispatch(program, t.device);
    dispatch.bind("x", x).bind("r", r);
    dispatch.fixpoint(2);
    take(dispatch.run());
    CHECK(Opened::words(r, 3) == Words{2, 20, 200});
    dispatch.fixpoint(50);
    const auto trapped = dispatch.run();
    REQUIRE(!trapped.ok());
    CHECK(trapped.error().code == wye::Code::TRAPPED);
    CHECK(dispatch.report().trap_code == 5);
    CHECK(dispatch.report().trap_count == 1);
    CHECK(Opened::words(r, 3) == Words{3, 30, 300});
}

TEST_CASE(
    "iterations of a program that can trap run in each form, and later work follows the last") {
    const Opened t;
    const auto program = take(t.context.program_from_text(kThird));
    const auto copy = take(t.context.program_from_text(R"(wye 1; program keep; workgroup 1;
            input x: u32[]; output r: u32[len(x)]; grid elements len(x);
            main { let i = global_id.x; if i < len(x) { r[i] = x[i]; } })"));
    const auto pipeline = take(wye::Pipeline::create(program, t.device));
    const wye::Buffer x = t.buffer({1, 10, 100});
    for (const bool limited : {false, true}) {
        CAPTURE(limited);
        const std::uint64_t ns = limited ? 60'000'000'000U : 0U;
        const wye::Buffer r = t.buffer({8, 8, 8}), kept = t.buffer({0, 0, 0});
        wye::Dispatch dispatch(program, t.device), keep(copy, t.device);
        dispatch.bind("x", x).bind("r", r).timeout_ns(ns);
        keep.bind("x", r).bind("r", kept);
        // The dispatch is submitted. Nobody waits for it before the next submit.
        const auto two = take(dispatch.fixpoint(2).submit());
        const auto after = take(keep.submit());
        take(after.wait());
        CHECK(Opened::words(kept, 3) == Words{2, 20, 200});
        take(two.wait());
        const auto many = take(dispatch.fixpoint(50).submit());
        const auto trapped = many.wait();
        REQUIRE(!trapped.ok());
        CHECK(trapped.error().code == wye::Code::TRAPPED);
        CHECK(Opened::words(r, 3) == Words{3, 30, 300});
        const auto again = dispatch.run();
        REQUIRE(!again.ok());
        CHECK(again.error().code == wye::Code::TRAPPED);
        // With outputs that the result owns.
        const Words in = {1, 10, 100};
        wye::Dispatch host(program, t.device);
        host.input("x", in).fixpoint(2).timeout_ns(ns);
        const auto outputs = take(host.run_owned());
        const auto words = take(outputs.get<std::uint32_t>("r"));
        CHECK(Words(words.begin(), words.end()) == Words{2, 20, 200});
        // A batch stops at the item that traps.
        wye::Dispatch first(pipeline), second(pipeline);
        first.bind("x", x).bind("r", r).fixpoint(2);
        second.bind("x", x).bind("r", kept).fixpoint(5);
        const auto result = pipeline.batch(std::vector<wye::Dispatch*>{&first, &second}, ns);
        REQUIRE(result.error);
        CHECK(result.error->code == wye::Code::TRAPPED);
        CHECK(result.completed == 1);
        CHECK(Opened::words(r, 3) == Words{2, 20, 200});
        CHECK(Opened::words(kept, 3) == Words{3, 30, 300});
    }
}

}  // namespace wye::test::test_fixpoint
