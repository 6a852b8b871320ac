// SPDX-License-Identifier: Apache-2.0
//
// Compares random programs and all regressions, run as C11, with the oracle. They use the middle
// form as the lowerings do, but another writer and another compiler.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "differential/c11/runner.hpp"
#include "support/random_case.hpp"

namespace {

constexpr std::uint64_t kSeeds = 150;
using Kind = support::Finding::Kind;

// Returns whether the case ran.
bool check(const wye::Context& context, const support::Case& what, const std::string& name) {
    const auto found = support::judge(context, c11::run, what, support::kTrusted);
    if (found.kind == Kind::Error && found.code == wye::Code::UNSUPPORTED) return false;
    CHECK_MESSAGE(found.kind == Kind::Equal, name, ": ", found.text);
    return true;
}

}  // namespace

TEST_CASE("random programs mean the same as C11") {
    const auto context = wye::Context::create();
    REQUIRE(context.ok());
    support::RandomProgramOptions options;
    options.largest_group = 64;
    options.subgroups = {4, 32};
    unsigned ran = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto what = support::random_case(seed, options, seed % 7 == 3);
        if (check(*context, what, "seed " + std::to_string(seed))) ++ran;
    }
    CHECK(ran >= 100);  // the others have grid barriers
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
