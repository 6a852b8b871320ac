// SPDX-License-Identifier: Apache-2.0
//
// The examples of the language reference. The document itself states the results.
#include <algorithm>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/language.hpp"

namespace conformance {
namespace {

using support::ReferenceExample;

bool has_word(const ReferenceExample& example, const std::string& word) {
    return example.text.find(word) != std::string::npos;
}

// Puts the buffers into the order of their bindings. False: the program lacks one of the buffers.
bool order_buffers(const wye::Program& program, ReferenceExample& example) {
    const auto described = program.describe();
    if (!described.ok()) return false;
    std::vector<support::ReferenceBuffer> ordered;
    for (std::uint64_t k = 0; k < described->buffer_count; ++k)
        for (support::ReferenceBuffer& b : example.buffers)
            if (b.name == wye::detail::view(described->buffers[k].name))
                ordered.push_back(std::move(b));
    const bool all = ordered.size() == example.buffers.size();
    example.buffers = std::move(ordered);
    return all;
}

Launch launch_of(const ReferenceExample& example) {
    Launch launch;
    launch.params = example.params;
    launch.groups = example.groups;
    for (const support::ReferenceBuffer& b : example.buffers)
        launch.buffers.push_back({b.name, b.input, b.output, b.before});
    return launch;
}

// Returns the first output that differs from the document; empty: none.
std::string compare(const ReferenceExample& example,
                    const std::vector<std::vector<std::byte>>& got) {
    std::vector<std::vector<std::byte>> stated;
    for (const support::ReferenceBuffer& b : example.buffers)
        stated.push_back(b.output ? b.after : b.before);
    return difference(launch_of(example).buffers, got, stated);
}

// Runs the example on the device. `apart`: why the example does not apply to the device.
std::string run_program(const Device& device, const wye::Program& program,
                        const ReferenceExample& example, std::string& apart) {
    const auto refused = [&](const wye::Error& error) {
        apart = refused_for_lack(device, program, error);
        return error.text();
    };
    if (example.trap_code != 0) {
        const auto ending = device.run_to_trap(program, launch_of(example));
        if (!ending.ok()) return refused(ending.error());
        if (ending->delivered) return "outputs were delivered after a trap";
        return ending->trap_code == example.trap_code && ending->trap_count == example.trap_count
                   ? ""
                   : "another trap: " + std::to_string(ending->trap_code) + ", " +
                         std::to_string(ending->trap_count) + " times";
    }
    const bool resident = has_word(example, "persistent ");
    const auto got = device.run(program, {launch_of(example)}, resident);
    return got.ok() ? compare(example, *got) : refused(got.error());
}

// Compares the stated results with those of the oracle. Leaves out examples that trap, and examples
// that copy back only a part of a buffer: the oracle gives whole buffers.
std::string evaluate(const wye::Program& program, const ReferenceExample& example) {
    if (example.trap_code != 0 || has_word(example, " bytes ")) return {};
    const auto wire = program.lower("wye-program");
    if (!wire.ok()) return wire.error().text();
    const auto got = expected(*wire, {launch_of(example)});
    if (!got.ok()) return got.error().text();
    const std::string problem = compare(example, *got);
    return problem.empty() ? problem : "the reference evaluator: " + problem;
}

// Checks all that the document states of an example. `apart`: as for `run_program`.
std::string check_stated(const Device& device, ReferenceExample example, std::string& apart) {
    const auto program = device.context().program_from_text(example.text);
    if (!example.refused.empty()) {
        if (program.ok()) return "the program is not refused";
        return program.error().text().find(example.refused) != std::string::npos
                   ? ""
                   : "another error: " + program.error().text();
    }
    if (!program.ok()) return program.error().text();
    if (!order_buffers(*program, example)) return "the launch has other buffers than the program";
    if (std::string problem = evaluate(*program, example); !problem.empty()) return problem;
    // Every example must lower to CUDA C, even on a machine without a CUDA device. Left out are
    // programs with subgroups, whose width depends on the device, and with grid barriers, which
    // become several kernels.
    const bool for_cuda = !has_word(example, "subgroup") && !has_word(example, "grid_barrier");
    if (const auto lowered = program->lower("cuda-c"); for_cuda && !lowered.ok())
        return "not lowered for CUDA: " + lowered.error().text();
    const std::string problem = run_program(device, *program, example, apart);
    const std::vector<std::uint32_t> widths = device.subgroup_sizes();
    if (!apart.empty()) return problem;
    if (!has_word(example, "subgroup 4;") || std::count(widths.begin(), widths.end(), 4U) > 0)
        return problem;
    return problem.empty() ? "ran, although the device has no subgroups of 4" : "";
}

}  // namespace

void run_reference(const Device& device, Tally& tally) {
    for (const ReferenceExample& example : support::language_reference().examples) {
        if (!tally.begin("LANGUAGE.md:" + std::to_string(example.line))) continue;
        std::string apart;
        const std::string problem = check_stated(device, example, apart);
        tally.end(problem.empty() ? problem : problem + "\n" + example.text, apart);
    }
}

}  // namespace conformance
