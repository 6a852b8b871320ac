// SPDX-License-Identifier: Apache-2.0
#include "conformance/suites.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "conformance/judge.hpp"
#include "support/examples.hpp"
#include "support/random_program.hpp"

namespace conformance {
namespace {

void judge(Count& count, const std::string& what, const std::string& problem) {
    if (problem.empty()) {
        ++count.passed;
        return;
    }
    ++count.failed;
    std::printf("FAILED %s: %s\n", what.c_str(), problem.c_str());
}

std::vector<Launch> launches(const support::Example& e) {
    std::vector<Launch> out;
    for (const auto& params : e.dispatches) {
        Launch launch;
        launch.params = params;
        for (const auto& b : e.buffers)
            launch.buffers.push_back({b.name, b.input, b.output, b.before});
        out.push_back(std::move(launch));
    }
    return out;
}

std::string check_example(const Device& device, const wye::Program& program,
                          const std::string& wire, const support::Example& e, bool resident) {
    const std::vector<Launch> all = launches(e);
    const auto got = device.run(program, all, resident);
    if (!got.ok()) return got.error().text();
    std::vector<std::vector<std::byte>> plain;
    for (const auto& b : e.buffers) plain.push_back(b.output ? b.expected : b.before);
    const std::string bad = difference(all[0].buffers, *got, plain);
    if (!bad.empty()) return "against plain C++: " + bad;
    const auto wanted = expected(wire, all);
    if (!wanted.ok()) return wanted.error().text();
    const std::string worse = difference(all[0].buffers, *got, *wanted);
    return worse.empty() ? worse : "against the oracle: " + worse;
}

void dump_program(const std::string& folder, std::uint64_t seed,
                  const support::RandomProgram& program) {
    if (folder.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::string stem = folder + "/" + std::to_string(seed);
    std::ofstream(stem + ".wye") << program.text;
    for (const auto& b : program.buffers)
        std::ofstream(stem + "." + b.name, std::ios::binary)
            .write(reinterpret_cast<const char*>(b.before.data()),
                   static_cast<std::streamsize>(b.before.size()));
}

Launch launch_of(const support::RandomProgram& random) {
    Launch launch;
    launch.params = random.values;
    launch.groups = random.groups;
    for (const auto& b : random.buffers)
        launch.buffers.push_back({b.name, b.input, b.output, b.before});
    return launch;
}

std::string check_random(const Device& device, const wye::Program& program, const std::string& wire,
                         const Launch& launch, bool resident) {
    const auto got = device.run(program, {launch}, resident);
    if (!got.ok()) return got.error().text();
    const auto wanted = expected(wire, {launch});
    if (!wanted.ok()) return wanted.error().text();
    return difference(launch.buffers, *got, *wanted);
}

std::string check_trap(const Device& device, const wye::Program& program, const std::string& wire,
                       const Launch& launch, std::uint64_t& trapped) {
    const auto got = device.run_to_trap(program, launch);
    if (!got.ok()) return got.error().text();
    std::vector<std::vector<std::byte>> bytes;
    for (const Binding& b : launch.buffers) bytes.push_back(b.bytes);
    const auto wanted = evaluate(wire, launch, bytes);
    if (!wanted.ok()) return wanted.error().text();
    if (got->trap_code != wanted->trap.code || got->trap_count != wanted->trap.count)
        return "trap " + std::to_string(got->trap_code) + " x " + std::to_string(got->trap_count) +
               ", wanted " + std::to_string(wanted->trap.code) + " x " +
               std::to_string(wanted->trap.count);
    if (wanted->trap.count == 0) return difference(launch.buffers, got->bytes, wanted->buffers);
    ++trapped;
    return got->delivered ? "outputs were written although the program trapped" : "";
}

support::RandomProgramOptions options_for(const Device& device) {
    support::RandomProgramOptions options;
    options.int64 = device.has("int64");
    options.f32 = device.has("ieee_f32");
    options.f64 = device.has("ieee_f64");
    options.storage16 = device.has("storage16");
    options.subgroups = device.subgroup_sizes();
    options.atomic_int64 = device.has("atomic_int64");
    options.atomic_int64_shared = device.has("atomic_int64_shared");
    std::printf("random programs with:%s%s%s%s%s%s%s\n", options.int64 ? " int64" : "",
                options.f32 ? " f32" : "", options.f64 ? " f64" : "",
                options.storage16 ? " storage16" : "", options.subgroups.empty() ? "" : " subgroup",
                options.atomic_int64 ? " atomic_int64" : "",
                options.atomic_int64_shared ? " atomic_int64_shared" : "");
    return options;
}

Count run_seeds(const Device& device, std::uint64_t first, std::uint64_t last, bool traps,
                const std::string& dump) {
    support::RandomProgramOptions options = options_for(device);
    options.traps = traps;
    Count count;
    std::uint64_t trapped = 0;
    for (std::uint64_t seed = first; seed < last; ++seed) {
        options.size = seed % 4 == 3 ? 30 : 12;
        options.grid_barriers = seed % 5 == 2;
        options.math = seed % 5 == 4 && device.has("int64") && device.has("ieee_f64");
        const support::RandomProgram random = support::random_program(seed, options);
        const Launch launch = launch_of(random);
        const auto program = device.context().program_from_text(random.text);
        // The oracle knows no math functions: it runs their definitions.
        const char* form = options.math ? "wye-program" : "wire";
        const auto wire = program.ok() ? program->lower(form) : wye::Result<std::string>("");
        std::string problem;
        if (!program.ok() || !wire.ok())
            problem = program.ok() ? wire.error().text() : program.error().text();
        else if (traps)
            problem = check_trap(device, *program, *wire, launch, trapped);
        else
            problem = check_random(device, *program, *wire, launch, seed % 3 == 1);
        judge(count, "seed " + std::to_string(seed), problem);
        if (!problem.empty()) dump_program(dump, seed, random);
    }
    if (traps) std::printf("%llu programs trapped\n", static_cast<unsigned long long>(trapped));
    return count;
}

}  // namespace

Count run_examples(const Device& device, const std::string& only, std::uint64_t seed,
                   std::size_t scale) {
    Count count;
    for (const std::string& name : support::example_programs()) {
        if (!only.empty() && only != name) continue;
        const auto program = device.context().program_from_text(support::example_text(name), name);
        const auto wire = program.ok() ? program->lower("wire") : wye::Result<std::string>("");
        if (!program.ok() || !wire.ok()) {
            judge(count, name, program.ok() ? wire.error().text() : program.error().text());
            continue;
        }
        for (const support::Example& e : support::examples(name, seed, scale))
            for (const bool resident : {false, true})
                judge(count, name + ", " + e.what + (resident ? ", resident" : ""),
                      check_example(device, *program, *wire, e, resident));
    }
    return count;
}

Count run_random(const Device& device, std::uint64_t first, std::uint64_t last,
                 const std::string& dump) {
    return run_seeds(device, first, last, false, dump);
}

Count run_traps(const Device& device, std::uint64_t first, std::uint64_t last,
                const std::string& dump) {
    return run_seeds(device, first, last, true, dump);
}

}  // namespace conformance
