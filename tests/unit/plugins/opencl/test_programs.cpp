// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs on the device, compared with the scalar oracle.
#include <doctest/doctest.h>

#include "conformance/language/lowered_cases.hpp"

using harness::Device;
using harness::Launch;
using harness::Plugin;

TEST_CASE("open loops give what the oracle gives") {
    Plugin plugin;
    Device device(plugin);
    harness::cases::open_loops_are_right(plugin, device);
}

TEST_CASE("f32 division and roots are correctly rounded, also without f64") {
    Plugin plugin;
    Device device(plugin);
    harness::cases::roots_are_right(plugin, device);
}

TEST_CASE("functions of f32 give the same without f64 and 64-bit integers") {
    Plugin plugin;
    Device device(plugin);
    harness::cases::functions_need_nothing_wide(plugin, device);
}

TEST_CASE("random programs on folded grids give what the oracle gives") {
    Plugin plugin;
    Device device(plugin);
    harness::cases::random_programs_are_right(
        plugin, device, 3, 3, [](std::uint64_t seed, const Plugin&) {
            support::RandomProgramOptions options;
            options.traps = seed % 4 == 0;
            options.subgroups = {};
            options.size = 6 + static_cast<unsigned>(seed % 12);
            options.math = seed % 6 == 5 ? 1 + static_cast<unsigned>(seed / 6 % 2) : 0;
            return options;
        });
}

// Branches that only some invocations take, after barriers in conditional code: PoCL 3.1 needs a
// workaround for these.
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
            harness::cases::is_what_the_oracle_gives(plugin, device, program, launch, {}, shape);
        }
}
