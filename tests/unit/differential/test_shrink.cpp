// SPDX-License-Identifier: Apache-2.0
//
// The shrinker on artificial faults: the device is the oracle with one operation of the program
// replaced by another.
#include <doctest/doctest.h>

#include <span>

#include "differential/shrink.hpp"
#include "oracle/oracle.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "support/random_case.hpp"
#include "support/referee.hpp"

using namespace differential;
namespace ir = wye::ir;

namespace {

void replace(ir::Program& program, ir::Op from, ir::Op to) {
    const auto in = [&](ir::Code& code) {
        for (ir::Expr& e : code.exprs)
            if (e.op == from) e.op = to;
    };
    for (ir::Function& f : program.functions) in(f.code);
    in(program.main);
}

support::Runner taking(ir::Op from, ir::Op to) {
    return [=](const wye::Program& program, const Case& what) -> wye::Result<support::Ending> {
        WYE_ASSIGN(const std::string text, program.lower("text"));
        ir::ParseResult parsed = ir::parse(text);
        REQUIRE(parsed.ok());
        replace(parsed.program, from, to);
        WYE_ASSIGN(const std::vector<std::byte> wire, ir::encode(parsed.program));
        oracle::Launch launch;
        launch.groups = what.launch.groups;
        launch.params = what.launch.params;
        launch.step_limit = support::kChanged.steps;
        for (const auto& b : what.launch.buffers) launch.buffers.push_back(b.bytes);
        oracle::Outcome outcome = oracle::run(wire, launch);
        if (!outcome.ok()) return wye::Error(wye::Code::INTERNAL, outcome.error, "Fix: none");
        support::Ending ending;
        ending.trap_code = outcome.trap.code;
        ending.trap_count = outcome.trap.count;
        ending.bytes = std::move(outcome.buffers);
        return ending;
    };
}

// The first random program from `seed` on that shows the fault.
struct Found {
    Case what;
    Finding finding;
};
Found find(const wye::Context& context, const support::Runner& fault, std::uint64_t seed) {
    support::RandomProgramOptions options;
    options.subgroups = {};
    for (;; ++seed) {
        REQUIRE(seed < 1'000'000);
        if (seed % 5 == 4) continue;  // calls math functions: these use every operation
        Case what = support::random_case(seed, options, false);
        Finding finding = judge(context, fault, what, support::kChanged);
        INFO("seed " << seed << ": " << finding.text);
        CHECK(finding.kind != Finding::Kind::Useless);
        if (finding.differs()) return {std::move(what), std::move(finding)};
    }
}

}  // namespace

TEST_CASE("what a wrong operation breaks becomes a few statements") {
    const auto context = wye::Context::create();
    REQUIRE(context.ok());
    const struct {
        ir::Op from, to;
    } faults[] = {{ir::Op::ROTL, ir::Op::ROTR},
                  {ir::Op::MUL_HI, ir::Op::MUL},
                  {ir::Op::ATOMIC_MIN, ir::Op::ATOMIC_MAX},
                  {ir::Op::FLOOR, ir::Op::CEIL}};
    std::uint64_t seed = 0;
    for (const auto& fault : faults) {
        const support::Runner runner = taking(fault.from, fault.to);
        const Found found = find(*context, runner, seed);
        seed += 1000;
        const Judge judged = [&](const Case& c) {
            return judge(*context, runner, c, support::kChanged);
        };
        ShrinkLimits limits;
        limits.seconds = 1e6;  // in practice no limit, so the result is the same on any machine
        limits.tries = 20000;
        const Shrunk shrunk = shrink(found.what, found.finding, judged, limits);
        INFO(support::write_case(found.what, {}));
        INFO(support::write_case(shrunk.smallest, {shrunk.finding.text}));
        CHECK(shrunk.finished);
        CHECK(shrunk.statements <= 4);
        CHECK(shrunk.smallest.text.find(std::string(ir::op_text(fault.from))) != std::string::npos);
        CHECK(shrunk.finding.kind == Finding::Kind::Bytes);
        // The smallest program still shows the fault, and no other difference.
        CHECK(judged(shrunk.smallest).kind == Finding::Kind::Bytes);
        const support::Runner right = taking(fault.from, fault.from);
        CHECK(judge(*context, right, shrunk.smallest, support::kChanged).kind ==
              Finding::Kind::Equal);
    }
}
