// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs under the validation layer, against plain C++ (the examples) and the scalar
// oracle (random programs). WYE_RANDOM_PROGRAMS and WYE_RANDOM_SEED widen the search by hand.
#include <cstdlib>

#include "checked.hpp"
#include "harness/lowered.hpp"
#include "oracle/oracle.hpp"
#include "program/encode.hpp"
#include "support/examples.hpp"
#include "support/random_program.hpp"

using harness::Device;
using harness::Launch;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("the example programs give what plain C++ gives, and no message") {
    CheckedPlugin plugin;
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

TEST_CASE("random programs give what the oracle gives, and no message") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::uint64_t first = number_from("WYE_RANDOM_SEED", 101);
    const std::uint64_t count = number_from("WYE_RANDOM_PROGRAMS", 24);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        support::RandomProgramOptions options;
        options.traps = seed % 4 == 0;
        options.size = 6 + static_cast<unsigned>(seed % 12);
        options.storage16 = plugin.flag(WYE_FACT_KEY_STORAGE16);
        options.subgroups = harness::target_facts(plugin).subgroup_sizes;
        const auto random = support::random_program(seed, options);
        const auto program = harness::valid_program(random.text);
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
                              random.buffers[b].name, "\n", random.text);
    }
}
