// SPDX-License-Identifier: Apache-2.0
#include "plan/phases.hpp"

#include <algorithm>

#include "planned.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/wire.hpp"

using namespace wye::plan;
using namespace wye::plan::test;
using wye::Code;

namespace {

std::string program(const std::string& body, const std::string& head = {}) {
    return "wye 1; program p; workgroup 8; param n: u32; param q: i64; " + head +
           "input_output a: u32[]; shared s: u32[8]; grid groups 2; main { " + body + " }";
}

// The phases, separated by "|": a "+" for each segment, and then the counters. "+ 0 1" is one
// segment in two loops.
std::string schedule(const Planned& planned, std::uint64_t n, std::uint64_t q) {
    const auto launch = admitted(planned, Ask().param(n).param(q).inout(0, 64));
    const auto found = phases(planned.plan, *launch);
    if (!found.ok()) return found.error().message;
    std::string out;
    for (const Phase& phase : *found) {
        out += out.empty() ? "" : " | ";
        out += std::string(phase.path.size(), '+');
        for (const std::uint64_t counter : phase.counters)
            out += " " + std::to_string(static_cast<std::int64_t>(counter));
        // Each phase is a valid program, which takes the counters as parameters.
        auto made = phase_program(*planned.program, phase.path);
        CHECK(made.params.size() == 2 + phase.counters.size());
        for (const wye::ir::Diagnostic& d : wye::ir::validate(made))
            FAIL_CHECK(wye::ir::render(d, "phase", ""));
        const auto wire = wye::ir::encode(made, wye::ir::Notes::Drop);
        REQUIRE(wire.ok());
        CHECK(wye::ir::decode(*wire).ok());
    }
    return out;
}

std::string schedule(const std::string& body, std::uint64_t n = 0, std::uint64_t q = 0) {
    return schedule(planned(program(body)), n, q);
}

}  // namespace

TEST_CASE("grid barriers cut main into phases") {
    const std::string work = "a[global_id.x] = n;";
    CHECK(schedule(work + "grid_barrier;" + work) == "+ | +");
    CHECK(schedule("grid_barrier; grid_barrier;" + work) == "+");
    CHECK(schedule("grid_barrier;") == "");
}

TEST_CASE("loops with grid barriers are stepped, the ends of rounds run with the next") {
    const std::string loop =
        "a[0] = 1u; for i in 0u..n { a[1] = i; grid_barrier; a[2] = i; } a[3] = 2u;";
    CHECK(schedule(loop, 0) == "++");
    CHECK(schedule(loop, 1) == "++ 0 | ++ 0");
    CHECK(schedule(loop, 3) == "++ 0 | ++ 0 1 | ++ 1 2 | ++ 2");
    // A step below 1 counts as 1, and nothing overflows.
    const std::string stepped = "for i in q..5i64 step q { grid_barrier; a[2] = u32(i); }";
    CHECK(schedule(stepped, 0, 3) == "+ 3");
    CHECK(schedule(stepped, 0, static_cast<std::uint64_t>(-1)) ==
          "+ -1 | + 0 | + 1 | + 2 | + 3 | + 4");
    CHECK(schedule("for i in 4294967290u..4294967295u step 4u { a[1] = i; grid_barrier; }") ==
          "+ 4294967290 | + 4294967294");
    CHECK(schedule("for i in 9223372036854775800i64..9223372036854775807i64 step 5i64 { "
                   "a[1] = u32(i); grid_barrier; }") ==
          "+ 9223372036854775800 | + 9223372036854775805");
}

TEST_CASE("nested loops, and rounds without a barrier of their own") {
    CHECK(schedule("for i in 0u..3u { a[0] = i; for j in 0u..i { a[1] = j; grid_barrier; } }") ==
          "+++ 0 1 0 | ++ 2 0 | + 1");
}

TEST_CASE("bounds follow from parameters, lengths, counts, tables and lets") {
    const auto counted = [](const std::string& end) {
        const std::string text =
            program("let twice = n * 2u; let ids = u32x2(twice, 9u); for i in 0u.." + end +
                        " { a[0] = i + ids.y; grid_barrier; }",
                    "table t: u32[3] = { 5u, 7u, 11u }; ");
        const std::string all = schedule(planned(text), 2, static_cast<std::uint64_t>(-7));
        return all.empty() ? 0 : 1 + std::count(all.begin(), all.end(), '|');
    };
    CHECK(counted("twice") == 4);
    CHECK(counted("len(a)") == 16);
    CHECK(counted("num_workgroups.x + workgroup_size.x") == 10);
    CHECK(counted("t[twice - 3u]") == 7);
    CHECK(counted("t[3u]") == 1);  // the loop has no iteration: one phase
    CHECK(counted("u32(q / 2i64 + 5i64)") == 2);
    CHECK(counted("u32(q % 4i64 + 5i64)") == 2);
    CHECK(counted("u32(q >> 1u) & 7u") == 4);
    CHECK(counted("n / 0u") == 2);
    CHECK(counted("select(ids.x > 3u, min(ids.y, 3u), 50u)") == 3);
    CHECK(counted("u32(len64(a)) - (n << 33u)") == 12);
}

TEST_CASE("bounds that only the device can compute are refused by name") {
    const Planned by_load = planned(
        "wye 1; program p; workgroup 8; input_output a: u32[]; input x: u32[1]; grid groups 2;\n"
        "main { for i in 0u..x[0] { a[0] = i; grid_barrier; } }");
    const auto launch = admitted(by_load, Ask().inout(0, 64).in(1, 4));
    const auto found = phases(by_load.plan, *launch);
    REQUIRE(!found.ok());
    CHECK(found.error().code == Code::UNSUPPORTED);
    CHECK(found.error().message.find("the end of the loop at 2:21") != std::string::npos);
    CHECK(found.error().fix.starts_with("Fix: "));
}

TEST_CASE("too many phases are refused") {
    const std::string text = schedule("for i in 0u..n { a[1] = i; grid_barrier; }", 1000000);
    CHECK(text.find("more than 65536 phases") != std::string::npos);
}

TEST_CASE("counters are parameters of the segments that use them, directly or through lets") {
    CHECK(schedule("for i in 0u..2u { grid_barrier; a[0] = n; }") == "+ | +");
    CHECK(schedule("for i in 0u..2u { for j in 5u..6u { a[0] = j; grid_barrier; } }") ==
          "+ 5 | + 5");
    CHECK(schedule("for i in 3u..5u { let t = i + n; let w = t * 2u; for j in 0u..1u { "
                   "grid_barrier; a[0] = w; } }") == "+ 3 | ++ 3 4 | + 4");
    CHECK(schedule("for i in 3u..5u { grid_barrier; for k in 0u..i { a[k] = k; } }") ==
          "+ 3 | + 4");
}

namespace {

// A program with `params` parameters besides those of `program`, and without `shared` arrays.
std::string with_params(std::size_t params, const std::string& body, const std::string& head = {}) {
    std::string text = "wye 1; program many; workgroup 8; param n: u32; param q: i64; ";
    for (std::size_t k = 0; k < params; ++k) text += "param p" + std::to_string(k) + ": u32; ";
    return text + head + "input_output a: u32[]; grid groups 2; main { " + body + " }";
}

std::string schedule_with(std::size_t params, const std::string& body, std::uint64_t n) {
    const Planned made = planned(with_params(params, body));
    Ask ask = Ask().param(n).param(0);
    for (std::size_t k = 0; k < params; ++k) ask.param(k);
    const auto launch = admitted(made, ask.inout(0, 64));
    const auto found = phases(made.plan, *launch);
    REQUIRE(found.ok());
    std::string out;
    for (const Phase& phase : *found) {
        out += std::string(out.empty() ? "" : " ") + std::to_string(phase.path.size()) + ":" +
               std::to_string(phase.counters.size());
        auto program = phase_program(*made.program, phase.path);
        CHECK(program.params.size() == 2 + params + phase.counters.size());
        CHECK(wye::ir::validate(program).empty());
    }
    return out;
}

}  // namespace

TEST_CASE("a phase never has more parameters than a program may have") {
    // The inner loop has no iterations, as q is 0. So no iteration of the outer loop has a barrier.
    const std::string rounds =
        "for i in 0u..n { a[0] = i; for j in 0i64..q { grid_barrier; a[1] = n; } }";
    CHECK(schedule_with(0, rounds, 62) == "62:62");
    CHECK(schedule_with(0, rounds, 130) == "62:62 62:62 6:6");
    CHECK(schedule_with(62, "for i in 0u..n { a[0] = n; grid_barrier; }", 2) == "1:0 1:0");
    // Six counters, of which each segment uses three at most.
    const std::string nested =
        "for i in 0u..n { for j in 0u..n { for k in 0u..n { a[0] = i + j + k; grid_barrier; "
        "a[1] = k; } a[2] = i; } }";
    CHECK(schedule_with(57, nested, 1) == "1:3 2:2");
    CHECK(schedule_with(59, nested, 2) ==
          "1:3 1:1 1:3 2:2 1:3 1:1 1:3 2:2 1:3 1:1 1:3 2:2 1:3 1:1 1:3 2:2");
}

TEST_CASE("programs whose segments have too many parameters are refused before any launch") {
    const auto plan_of = [](std::size_t params, const char* body) {
        wye::ir::ParseResult parsed = wye::ir::parse(with_params(params, body));
        REQUIRE(parsed.ok());
        CHECK(wye::ir::validate(parsed.program).empty());
        const auto plan = plan_program(parsed.program);
        return plan.ok() ? std::to_string(plan->params_bytes) : plan.error().message;
    };
    const char* body = "for i in 0u..n { for j in 0i64..q { a[0] = i + u32(j); grid_barrier; } }";
    CHECK(plan_of(60, body) == "272");  // n, padding, q, 60 words, i, padding, j
    const std::string refused = plan_of(61, body);
    CHECK(refused.find("`many` needs 65 parameters") != std::string::npos);
    CHECK(refused.find("the limit is 64") != std::string::npos);
}

TEST_CASE("phases of programs with shared arrays are not cut: further counters are literals") {
    const Planned made =
        planned(program("for i in -3..i32(n) - 3 { s[local_index] = u32(i); "
                        "for j in 0i64..q { grid_barrier; } }"));
    const auto launch = admitted(made, Ask().param(65).param(0).inout(0, 64));
    const auto found = phases(made.plan, *launch);
    REQUIRE(found.ok());
    REQUIRE(found->size() == 1);
    CHECK(found->front().counters.size() == 62);
    auto phase = phase_program(*made.program, found->front().path);
    CHECK(phase.params.size() == WYE_LIMIT_PARAMS);
    CHECK(wye::ir::validate(phase).empty());
    const std::string text = wye::ir::print(phase);
    CHECK(text.find("s[local_index] = u32(58)") == std::string::npos);
    for (const char* last : {"u32(59)", "u32(60)", "u32(61)"})
        CHECK(text.find(last) != std::string::npos);
}
