// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs under the validation layer, compared with plain C++ (the examples) and with the
// scalar oracle (random programs).
#include "checked.hpp"
#include "conformance/language/lowered_cases.hpp"

using harness::Device;

TEST_CASE("the example programs give what plain C++ gives, and no message") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::examples_are_right(plugin, device);
}

TEST_CASE("open loops give what the oracle gives, and no message") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::open_loops_are_right(plugin, device);
}

TEST_CASE("f32 division and roots are correctly rounded, also without f64, and no message") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::roots_are_right(plugin, device);
}

TEST_CASE("functions of f32 give the same without f64 and 64-bit integers") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::functions_need_nothing_wide(plugin, device);
}

TEST_CASE("random programs give what the oracle gives, and no message") {
    CheckedPlugin plugin;
    Device device(plugin);
    harness::cases::random_programs_are_right(
        plugin, device, 101, 1, [](std::uint64_t seed, const harness::Plugin& subject) {
            support::RandomProgramOptions options;
            options.traps = seed % 4 == 0;
            options.size = 6 + static_cast<unsigned>(seed % 12);
            options.storage16 = subject.flag(WYE_FACT_KEY_STORAGE16);
            options.subgroups = harness::target_facts(subject).subgroup_sizes;
            return options;
        });
}
