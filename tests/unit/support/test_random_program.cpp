// SPDX-License-Identifier: Apache-2.0
// Random programs are valid: they parse, run to their end on the oracle, and have no races.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "oracle/oracle.hpp"
#include "program/analysis/analysis.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "support/random_program.hpp"

TEST_CASE("random programs are well-formed, end and have no races") {
    std::size_t changed = 0;
    std::size_t with_barrier = 0;
    std::size_t with_function = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        support::RandomProgramOptions options;
        options.grid_barriers = seed % 5 == 2;
        options.kept = seed % 3 == 1;
        options.largest_group = 1024;
        const support::RandomProgram program = support::random_program(seed, options);
        CAPTURE(program.text);
        wye::ir::ParseResult parsed = wye::ir::parse(program.text);
        if (!parsed.ok()) {
            CAPTURE(parsed.diagnostics[0].place.line);
            CAPTURE(parsed.diagnostics[0].message);
            REQUIRE(parsed.ok());
        }
        for (const auto& d : wye::ir::validate(parsed.program))
            FAIL(d.place.line << ": " << d.message);
        // The limit is the workgroup memory of every Vulkan device, less what the runtime adds.
        CHECK(wye::ir::analyse(parsed.program).shared_bytes <= 16384 - 64);
        const auto wire = wye::ir::encode(parsed.program);
        REQUIRE(wire.ok());

        oracle::Launch launch;
        if (!program.clause) launch.groups = program.groups;
        launch.params = program.values;
        launch.step_limit = 20000000;
        launch.check_races = true;
        for (const auto& b : program.buffers) launch.buffers.push_back(b.before);
        const oracle::Outcome outcome = oracle::run(wire.value(), launch);
        REQUIRE(outcome.error == "");
        CHECK(outcome.race == "");
        CHECK(outcome.trap == oracle::Trap{});
        for (std::size_t i = 0; i < program.buffers.size(); ++i) {
            if (program.buffers[i].name.starts_with("in"))
                CHECK(outcome.buffers[i] == launch.buffers[i]);
            changed += outcome.buffers[i] != launch.buffers[i] ? 1 : 0;
        }
        with_barrier += program.text.find("barrier;") != std::string::npos ? 1 : 0;
        with_function += program.text.find("fn f") != std::string::npos ? 1 : 0;
    }
    CHECK(changed > 300);  // the programs do something
    CHECK(with_barrier > 50);
    CHECK(with_function > 100);
}

TEST_CASE("the same seed gives the same program") {
    CHECK(support::random_program(5).text == support::random_program(5).text);
    CHECK(support::random_program(5).text != support::random_program(6).text);
}
