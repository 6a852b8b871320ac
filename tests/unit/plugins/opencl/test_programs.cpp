// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs on the device, against plain C++ (the examples) and the scalar oracle (random
// programs). WYE_RANDOM_PROGRAMS and WYE_RANDOM_SEED widen the search by hand.
#include <doctest/doctest.h>

#include <cstdlib>

#include "harness/lowered.hpp"
#include "lower/strict.hpp"
#include "oracle/oracle.hpp"
#include "program/encode.hpp"
#include "support/examples.hpp"
#include "support/random_program.hpp"

using harness::Device;
using harness::Launch;
using harness::Plugin;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// "byte 8: 00 not 80": where two equally long buffers differ first.
std::string difference(const std::vector<std::byte>& got, const std::vector<std::byte>& right) {
    const auto hex = [](std::byte b) {
        const auto value = std::to_integer<unsigned>(b);
        return std::string{"0123456789abcdef"[value >> 4U], "0123456789abcdef"[value & 15U]};
    };
    std::string out;
    unsigned shown = 0;
    for (std::size_t i = 0; i < got.size() && i < right.size() && shown < 16; ++i)
        if (got[i] != right[i]) {
            out +=
                "byte " + std::to_string(i) + ": " + hex(got[i]) + " not " + hex(right[i]) + "; ";
            ++shown;
        }
    return out;
}

}  // namespace

TEST_CASE("the example programs give what plain C++ gives") {
    Plugin plugin;
    Device device(plugin);
    for (const std::string& name : support::example_programs()) {
        const auto program = harness::valid_program(support::example_text(name));
        for (const support::Example& example : support::examples(name, 7)) {
            Launch launch;
            for (const auto& buffer : example.buffers) launch.buffers.push_back(buffer.before);
            for (const auto& params : example.dispatches) {
                launch.params = params;
                launch.buffers = harness::run_lowered(plugin, device, program, launch).buffers;
            }
            for (std::size_t b = 0; b < example.buffers.size(); ++b)
                if (example.buffers[b].output)
                    CHECK_MESSAGE(launch.buffers[b] == example.buffers[b].expected, name, ", ",
                                  example.what, ": ", example.buffers[b].name);
        }
    }
}

TEST_CASE("random programs give what the oracle gives") {
    Plugin plugin;
    Device device(plugin);
    const std::uint64_t first = number_from("WYE_RANDOM_SEED", 1);
    const std::uint64_t count = number_from("WYE_RANDOM_PROGRAMS", 24);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        support::RandomProgramOptions options;
        options.traps = seed % 4 == 0;
        options.subgroups = {};
        options.size = 6 + static_cast<unsigned>(seed % 12);
        options.math = seed % 6 == 5;
        const auto random = support::random_program(seed, options);
        auto program = harness::valid_program(random.text);
        if (wye::lower::uses_math(program)) {
            auto expanded = wye::lower::expand_math(program);
            REQUIRE(expanded.ok());
            program = std::move(expanded).value();
        }
        const auto wire = wye::ir::encode(program, wye::ir::Notes::Drop);
        REQUIRE(wire.ok());

        Launch launch;
        launch.params = random.values;
        launch.groups = random.groups;
        launch.folded = seed % 3 == 0;
        for (const auto& buffer : random.buffers) launch.buffers.push_back(buffer.before);
        oracle::Launch expected;
        expected.params = random.values;
        expected.groups = random.groups;
        expected.buffers = launch.buffers;
        const auto right = oracle::run(*wire, expected);
        REQUIRE_MESSAGE(right.ok(), right.error);

        const auto got = harness::run_lowered(plugin, device, program, launch);
        CHECK(got.trap_code == right.trap.code);
        CHECK(got.trap_count == right.trap.count);
        for (std::size_t b = 0; b < launch.buffers.size(); ++b)
            if (random.buffers[b].output)
                CHECK_MESSAGE(got.buffers[b] == right.buffers[b], "seed ", seed, ", buffer ",
                              random.buffers[b].name, ", ",
                              difference(got.buffers[b], right.buffers[b]), "\n", random.text, "\n",
                              got.source);
    }
}

// Branches that only some invocations take, after barriers that the workgroup may pass by: PoCL 3.1
// needs help with these.
TEST_CASE("divergent branches around conditional barriers give what the oracle gives") {
    const std::string divergent =
        "let v = x[i]; if v == 1u { r[i] = 7u; } else { let t = v * 12345u + n; "
        "if t == 1u { atomic_add(r[i], 9u); } }";
    const std::string leaving =
        "let w = x[i]; if w == 1u { r[i] = 7u; return; } let t = w * 12345u + n; "
        "if t == 1u { atomic_add(r[i], 9u); }";
    const std::string shapes[] = {
        "if n == 0u { return; } barrier; " + divergent,
        "if n == 0u { return; } barrier; " + leaving,
        "if n == 0u { return; } barrier; if n == 5u { return; } barrier; " + leaving,
        "if n != 0u { barrier; " + divergent + " }",
        "if n != 0u { barrier; " + leaving + " } r[i] = r[i] + 100u;",
        "if n != 0u { if n != 3u { barrier; " + leaving + " } r[i] = r[i] + 50u; } s[i] = 1u;",
        "for j in 0u..n { if j == 0u { barrier; " + divergent + " } }",
        "for j in 0u..n { if j != 0u { continue; } barrier; " + divergent + " }",
        "for j in 0u..n + 1u { if j != 0u { break; } barrier; " + divergent + " }",
        "for j in 0u..n + 1u { barrier; " + divergent + " if j == 0u { break; } }",
        "for j in 0u..n + 1u { barrier; " + divergent + " if j == 0u { return; } }",
        "if n == 0u { barrier; } else { barrier; " + divergent + " }",
        "var j = 0u; while j < n { barrier; " + divergent + " j += 1u; }",
        "if n == 1u { barrier; if x[i] == 1u { trap 5; } r[i] = 1u; } r[i] = r[i] + 9u;",
    };
    Plugin plugin;
    Device device(plugin);
    for (const std::string& shape : shapes)
        for (const bool folded : {false, true}) {
            const auto program = harness::valid_program(
                "wye 1; program shape; workgroup 16; param n: u32; input x: u32[16]; "
                "output r: u32[16]; shared s: u32[16]; main { let i = local_index; "
                "s[i] = x[i]; barrier; " +
                shape + " }");
            std::vector<std::uint32_t> x(16);
            for (std::uint32_t i = 0; i < 16; ++i) x[i] = i % 5 == 4 ? 1 : 0;
            Launch launch;
            launch.params = {1};
            launch.groups = {1, 1, 1};
            launch.folded = folded;
            const auto bytes = harness::bytes_of(x);
            launch.buffers = {{bytes.begin(), bytes.end()}, std::vector<std::byte>(64)};
            oracle::Launch expected;
            expected.params = launch.params;
            expected.groups = launch.groups;
            expected.buffers = launch.buffers;
            const auto right =
                oracle::run(*wye::ir::encode(program, wye::ir::Notes::Drop), expected);
            REQUIRE_MESSAGE(right.ok(), right.error);
            const auto got = harness::run_lowered(plugin, device, program, launch);
            CHECK_MESSAGE(got.buffers[1] == right.buffers[1], shape,
                          std::string(folded ? " (folded): " : ": "),
                          difference(got.buffers[1], right.buffers[1]), got.source);
            CHECK(got.trap_count == right.trap.count);
        }
}
