// SPDX-License-Identifier: Apache-2.0
//
// Runs random programs and all regressions as C11, and compares the results with the oracle. Like
// the lowerings for drivers, these programs go through the middle form, but with another writer and
// compiler.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "differential/c11/runner.hpp"
#include "support/random.hpp"
#include "support/random_case.hpp"
#include "support/slice.hpp"
#include "wye/program_format.h"

namespace {

constexpr std::uint64_t kSeeds = 150;
using Kind = support::Finding::Kind;

// Runs a case and checks the result. False: the case cannot run as C11.
bool check(const wye::Context& context, const support::Case& what, const std::string& name) {
    const auto found = support::judge(context, c11::run, what, support::kTrusted);
    if (found.kind == Kind::Error && found.code == wye::Code::UNSUPPORTED) return false;
    CHECK_MESSAGE(found.kind == Kind::Equal, name, ": ", found.text);
    return true;
}

// 512 values of f32, half of them with magnitudes from 2^-12 to 2^9.
std::vector<std::byte> arguments(support::Random& random) {
    std::vector<std::byte> out = support::random_scalars(random, WYE_KIND_F32, 512);
    for (std::size_t i = 0; i < out.size(); i += 8) {
        auto bits = static_cast<std::uint32_t>(random.next());
        bits = (bits & 0x807fffffU) | (static_cast<std::uint32_t>(115 + random.below(21)) << 23U);
        std::memcpy(&out[i], &bits, sizeof bits);
    }
    return out;
}

}  // namespace

TEST_CASE("random programs mean the same as C11") {
    const auto context = wye::Context::create();
    REQUIRE(context.ok());
    support::RandomProgramOptions options;
    options.largest_group = 64;
    options.subgroups = {4, 32};
    constexpr std::size_t kParts = 2;
    const auto slice = support::Slice::of_this_run();
    std::cout << "slice: random programs as C11, " << slice.text(kParts) << '\n';
    unsigned ran = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        if (!slice.has(seed / 10, kParts)) continue;
        const auto what = support::random_case(seed, options, seed % 7 == 3);
        if (check(*context, what, "seed " + std::to_string(seed))) ++ran;
    }
    CHECK(ran >= 50);  // all others have grid barriers
}

// The oracle computes the same functions through f64.
TEST_CASE("f32 functions give the same bytes in words, and in pairs") {
    constexpr wye::lower::MathWays kWays[] = {
        {.words = true}, {.words = true, .pairs = true}, {.pairs = true, .fused_f32 = true}};
    const auto context = wye::Context::create();
    REQUIRE(context.ok());
    struct Function {
        const char* name;
        int operands;
    };
#define WYE_TEST_FUNCTION(name, code, text, operands) {text, operands},
    constexpr Function kFunctions[] = {WYE_MATH(WYE_TEST_FUNCTION)};
#undef WYE_TEST_FUNCTION
    constexpr std::size_t kParts = 16;
    const auto slice = support::Slice::of_this_run();
    std::cout << "slice: math functions in words, " << slice.text(kParts) << '\n';
    std::size_t index = 0;
    for (unsigned set = 1; set <= WYE_PROGRAM_NEWEST_MATH_SET; ++set) {
        for (const Function& f : kFunctions) {
            const std::string name = f.name;
            const bool added =
                name == "expm1" || name == "log1p" || name == "sinpi" || name == "cospi";
            if ((set == 1 && added) || !slice.has(index++, kParts)) continue;
            support::Case what;
            what.text =
                "wye 1; math " + std::to_string(set) +
                "; program words; workgroup 1; input x: f32[512]; input y: f32[512]; "
                "output r: f32[512]; grid elements 512;\nmain { let i = global_id.x; r[i] = " +
                name + (f.operands == 2 ? "(x[i], y[i]); }" : "(x[i]); }");
            support::Random random(index);
            for (const char* buffer : {"x", "y"})
                what.launch.buffers.push_back({buffer, true, false, arguments(random)});
            what.launch.buffers.push_back({"r", false, true, std::vector<std::byte>(2048)});
            for (const wye::lower::MathWays& ways : kWays) {
                const auto run = [&](const wye::Program&, const support::Case& one) {
                    return c11::run_in(ways, one);
                };
                const auto found = support::judge(*context, run, what, support::kTrusted);
                CHECK_MESSAGE(found.kind == Kind::Equal, name, " of set ", set, ": ", found.text);
            }
        }
    }
}

TEST_CASE("what once differed on a device means the same as C11") {
    const auto context = wye::Context::create();
    REQUIRE(context.ok());
    unsigned ran = 0;
    for (const auto& entry : std::filesystem::directory_iterator(WYE_REGRESSIONS)) {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const auto what = support::read_case(text.str());
        REQUIRE(what.ok());
        if (check(*context, *what, entry.path().filename().string())) ++ran;
    }
    CHECK(ran >= 40);
}
