// SPDX-License-Identifier: Apache-2.0
//
// Tests which loops over a range in the data are written twice, once without checks of the counter,
// and which loops are left unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lower/analysis/loop_lengths.hpp"
#include "lower/lower.hpp"
#include "programs.hpp"
#include "support/random_program.hpp"
#include "support/spirv_check.hpp"
#include "wye/program_format.h"

namespace test_loop_lengths {

namespace {

using wye::ir::Op;
using wye::lower::DataLoops;
using wye::lower::LoopLengths;
using wye::lower::Ranges;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

// `x` and `y` have the same length. `row` and `z` each have another length.
wye::ir::Program program_around(const std::string& body, const std::string& function = {}) {
    return valid_program(R"(wye 1; program loops; workgroup 64; param n: u32; param m: i32;
input row: u32[]; input x: u32[]; input y: u32[len(x)]; input_output z: u32[];
output o: u32[64]; shared s: u32[64];
table t: u32[5] = { 1u, 2u, 3u, 4u, 5u };
)" + function + "\nmain { let r = local_index; " +
                         body + " }");
}

// Returns the lengths of the first FOR statement.
LoopLengths lengths(const wye::ir::Program& program) {
    const Ranges ranges(program, program.workgroup);
    for (const auto& s : program.main.stmts)
        if (s.op == Op::FOR)
            return DataLoops(program, program.main).lengths(ranges.of(wye::ir::kNone), s);
    FAIL("no loop");
    return {};
}

std::string opencl_c(const wye::ir::Program& program) {
    const auto lowered = wye::lower::lower(program, WYE_FORMAT_OPENCL_C, {}, {});
    REQUIRE(lowered.ok());
    return std::string(reinterpret_cast<const char*>(lowered->code.data()), lowered->code.size());
}

// Returns, for each loop, the instructions from its OpLoopMerge up to the next OpLoopMerge.
std::vector<std::string> spirv_loops(const wye::ir::Program& program,
                                     const wye::lower::TargetFacts& facts = {}) {
    const auto lowered = wye::lower::lower(program, WYE_FORMAT_SPIRV, facts, {});
    REQUIRE(lowered.ok());
    const std::string text = support::spirv_text(lowered->code);
    CHECK_MESSAGE(support::spirv_complaint(lowered->code) == "", text);
    std::vector<std::string> loops;
    for (auto at = text.find("OpLoopMerge"); at != std::string::npos;) {
        const auto next = text.find("OpLoopMerge", at + 1);
        loops.push_back(text.substr(at, next == std::string::npos ? next : next - at));
        at = next;
    }
    return loops;
}

struct Case {
    const char* what;
    const char* body;
    std::size_t accesses, stores, arrays;
};

const Case kCases[] = {
    {"loads", "for j in row[r]..row[r + 1u] { o[r] = x[j] + z[j]; }", 2, 0, 2},
    {"a store and an atomic", "for j in row[r]..row[r + 1u] { z[j] = 1u; atomic_add(z[j], y[j]); }",
     2, 1, 2},
    {"a table", "for j in 0u..row[r] { o[r] = t[j]; }", 1, 0, 1},
    {"signed, from zero on", "for j in 0..i32(row[r]) { o[r] = x[j]; }", 1, 0, 1},
    {"signed", "for j in i32(row[r])..i32(row[r + 1u]) { o[r] = x[j]; }", 1, 0, 1},
    {"of 64 bits, with a step", "for j in 0u64..u64(row[r]) * 3u64 step 3u64 { z[j] = 2u; }", 0, 1,
     1},
    {"branches and ways out",
     "for j in row[r]..row[r + 1u] { if x[j] == 3u { break; } if z[j] == 1u { continue; } "
     "o[r] = x[j]; }",
     3, 0, 2},
    {"beside another place", "for j in 0u..row[r] { o[r] = x[j] + x[j + 1u]; }", 1, 0, 1},
    {"a loop inside", "for j in 0u..row[r] { for k in 0u..3u { o[r] = x[j]; } }", 0, 0, 0},
    {"proven already", "for j in row[r]..len(x) { o[r] = x[j]; }", 0, 0, 0},
    {"for a launch to prove", "for j in 0u..n { o[r] = x[j]; }", 0, 0, 0},
    {"between literals", "for j in 0u..70u { o[j] = x[r]; }", 0, 0, 0},
    {"nothing at the counter", "for j in 0u..row[r] { o[r] = x[j * 2u]; }", 0, 0, 0},
    {"a barrier inside", "for j in 0u..n { o[r] = s[63u - r]; barrier; s[r] = row[j]; barrier; }",
     0, 0, 0},
    {"a subgroup operation", "for j in 0u..n * n { let v = subgroup_add(z[j]); o[r] = v; }", 0, 0,
     0},
};

}  // namespace

TEST_CASE("accesses at the counter of a loop over a range of the data") {
    for (const Case& c : kCases) {
        CAPTURE(c.what);
        const LoopLengths found = lengths(program_around(c.body));
        CHECK(found.accesses.size() == c.accesses);
        CHECK(found.stores.size() == c.stores);
        CHECK(found.buffers.size() + found.tables.size() == c.arrays);
    }
}

TEST_CASE("a loop whose body is long stands once") {
    const auto body = [](int statements) {
        std::string text = "for j in 0u..row[r] { var v = x[j]; ";
        for (int i = 0; i < statements; ++i) text += "v = v * 3u + 1u; ";
        return text + "o[r] = v; }";
    };
    CHECK_FALSE(lengths(program_around(body(10))).empty());
    CHECK(lengths(program_around(body(60))).empty());
}

TEST_CASE("the checks leave the loop") {
    const auto program = program_around(
        "var v = 0u; for j in row[r]..row[r + 1u] { v = v + x[j] * z[j]; } o[r] = v;");
    const std::string text = opencl_c(program);
    CHECK(count(text, "// j") == 2);
    const auto first = text.find("// j");
    const std::string unchecked = text.substr(first, text.find("} else {", first) - first);
    CHECK(count(unchecked, " < ") == 0);
    CHECK(count(unchecked, " ? ") == 0);
    CHECK(count(unchecked, "b1[v2] * b3[v2]") == 1);
    const std::string checked = text.substr(text.find("// j", first + 1));
    CHECK(count(checked, " < n") == 2);
    // The test before the loop compares the end with each length once.
    const auto test = text.rfind("if (", first);
    CHECK(count(text.substr(test, first - test), " <= n") == 2);
}

TEST_CASE("a signed counter starts at zero or above where nothing is checked") {
    const std::string text = opencl_c(program_around("for j in m..i32(row[r]) { o[r] = y[j]; }"));
    CHECK(count(text, ">= 0 && ") == 1);
    CHECK(count(text, " <= m2") == 1);
}

TEST_CASE("in SPIR-V the rounds that run together have no checks") {
    const auto program = program_around(
        "var v = 0u; for j in row[r]..row[r + 1u] { v = v + x[j] * z[j]; } o[r] = v;");
    const auto loops = spirv_loops(program);
    REQUIRE(loops.size() == 2);
    CHECK(count(loops[0], "OpIMul") == 4);
    CHECK(count(loops[0], "OpSelect") == 0);
    CHECK(count(loops[1], "OpIMul") == 1);
    CHECK(count(loops[1], "OpSelect ") >= 2);
    wye::lower::TargetFacts cpu;
    cpu.workgroup_loops = true;
    cpu.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    CHECK(spirv_loops(program, cpu).size() == 1);
}

TEST_CASE("functions hold such loops too, and regions of whole workgroups") {
    const char* function =
        "fn sum(a: u32, b: u32) -> u32 { var v = 0u; for j in a..b { v = v + "
        "x[j]; } return v; }";
    const std::string called =
        opencl_c(program_around("o[r] = sum(row[r], row[r + 1u]);", function));
    CHECK(count(called, "// j") == 2);
    const auto program = program_around(
        "s[r] = r; barrier; var v = s[63u - r]; for j in 0u..row[r] { v = v + x[j]; } o[r] = v;");
    wye::lower::TargetFacts facts;
    facts.workgroup_loops = true;
    facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    const auto lowered = wye::lower::lower(program, WYE_FORMAT_OPENCL_C, facts, {});
    REQUIRE(lowered.ok());
    const std::string text(reinterpret_cast<const char*>(lowered->code.data()),
                           lowered->code.size());
    CHECK(count(text, "// j") == 2);
}

TEST_CASE("random programs hold such loops") {
    unsigned with = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto program = valid_program(support::random_program(seed, {}).text);
        const Ranges ranges(program, program.workgroup);
        const bool some =
            std::any_of(program.main.stmts.begin(), program.main.stmts.end(), [&](const auto& s) {
                return s.op == Op::FOR && !DataLoops(program, program.main)
                                               .lengths(ranges.of(wye::ir::kNone), s)
                                               .empty();
            });
        with += some ? 1 : 0;
    }
    CHECK(with >= 10);
}

}  // namespace test_loop_lengths
