// SPDX-License-Identifier: Apache-2.0
//
// Random programs, byte for byte against the scalar oracle, which shares no code with the plugin.
// WYE_TEST_SEEDS=FIRST,COUNT runs other seeds than the fixed ones.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "lower/passes/strict.hpp"
#include "oracle/oracle.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "rig.hpp"
#include "support/random_program.hpp"

namespace {

struct Seeds {
    unsigned long long first = 1;
    unsigned long long count = 300;
};

Seeds seeds() {
    Seeds seeds;
    if (const char* text = std::getenv("WYE_TEST_SEEDS"))
        REQUIRE(std::sscanf(text, "%llu,%llu", &seeds.first, &seeds.count) == 2);
    return seeds;
}

// The program after the host's passes, as the plugin receives it.
std::string without_math(const std::string& text) {
    auto parsed = wye::ir::parse(text);
    REQUIRE(parsed.ok());
    REQUIRE(wye::ir::validate(parsed.program).empty());
    if (!wye::lower::uses_math(parsed.program)) return text;
    const auto expanded = wye::lower::expand_math(parsed.program);
    REQUIRE(expanded.ok());
    return wye::ir::print(*expanded);
}

void compare(test::Rig& rig, const support::RandomProgram& random) {
    test::Loaded program(rig, without_math(random.text));
    REQUIRE(program.failure().message == "");
    oracle::Launch launch;
    launch.groups = random.groups;
    launch.params = random.values;
    for (const auto& buffer : random.buffers) launch.buffers.push_back(buffer.before);
    const oracle::Outcome expected = oracle::run(program.wire(), launch);
    REQUIRE(expected.error == "");
    const auto result = program.run(random.values, launch.buffers, random.groups);
    REQUIRE(result.failure.message == "");
    CHECK(result.trap_code == expected.trap.code);
    CHECK(result.trap_count == expected.trap.count);
    for (std::size_t n = 0; n < expected.buffers.size(); ++n) {
        CAPTURE(random.buffers[n].name);
        CHECK(result.buffers[n] == expected.buffers[n]);
    }
}

}  // namespace

TEST_CASE("random programs give the oracle's bytes") {
    const auto [first, count] = seeds();
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa, 2);
        for (unsigned long long seed = first; seed < first + count; ++seed) {
            CAPTURE(isa);
            CAPTURE(seed);
            support::RandomProgramOptions options;
            options.traps = seed % 3 == 0;
            options.size = seed % 7 == 0 ? 40 : 12;
            options.math = seed % 5 == 4;
            compare(rig, support::random_program(seed, options));
        }
    }
}
