// SPDX-License-Identifier: Apache-2.0
// The example programs on the oracle, compared with plain C++ on the host.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "oracle/oracle.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "support/examples.hpp"
#include "support/random.hpp"

namespace test_examples {

namespace {

std::vector<std::byte> wire_of(const std::string& program) {
    wye::ir::ParseResult parsed = wye::ir::parse(support::example_text(program));
    for (const auto& d : parsed.diagnostics)
        FAIL(program << ":" << d.place.line << ": " << d.message);
    for (const auto& d : wye::ir::validate(parsed.program))
        FAIL(program << ":" << d.place.line << ": " << d.message);
    auto wire = wye::ir::encode(parsed.program);
    REQUIRE(wire.ok());
    return std::move(wire).value();
}

oracle::Outcome run(const std::vector<std::byte>& wire, const std::vector<std::uint64_t>& params,
                    const std::vector<std::vector<std::byte>>& buffers) {
    oracle::Launch launch;
    launch.params = params;
    launch.buffers = buffers;
    launch.check_races = true;
    oracle::Outcome outcome = oracle::run(wire, launch);
    REQUIRE(outcome.error == "");
    CHECK(outcome.race == "");
    return outcome;
}

}  // namespace

TEST_CASE("the example programs give what plain C++ gives, without races") {
    for (const std::string& name : support::example_programs()) {
        const std::vector<std::byte> wire = wire_of(name);
        for (const support::Example& e : support::examples(name, 20)) {
            CAPTURE(name);
            CAPTURE(e.what);
            std::vector<std::vector<std::byte>> buffers;
            for (const auto& b : e.buffers) buffers.push_back(b.before);
            for (const auto& params : e.dispatches) buffers = run(wire, params, buffers).buffers;
            for (std::size_t i = 0; i < buffers.size(); ++i) {
                CAPTURE(e.buffers[i].name);
                CHECK(buffers[i] ==
                      (e.buffers[i].output ? e.buffers[i].expected : e.buffers[i].before));
            }
        }
    }
}

TEST_CASE("three prefix_sum dispatches scan a long array") {
    const std::vector<std::byte> wire = wire_of("prefix_sum");
    support::Random random(3);
    const std::vector<std::byte> x = support::random_bytes(random, 4 * 30001);
    std::vector<std::uint32_t> expected(30001);
    std::memcpy(expected.data(), x.data(), x.size());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());

    const auto sums = run(wire, {}, {x, {}, {}, {}}).buffers[3];
    const auto offsets = run(wire, {}, {sums, {}, {}, {}}).buffers[2];
    const auto scan = run(wire, {}, {x, offsets, {}, {}}).buffers[2];
    CHECK(std::memcmp(scan.data(), expected.data(), scan.size()) == 0);
}

}  // namespace test_examples
