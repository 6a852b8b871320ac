// SPDX-License-Identifier: Apache-2.0
#include "conformance/language/suites.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "conformance/language/judge.hpp"
#include "support/examples.hpp"
#include "support/random_case.hpp"
#include "support/referee.hpp"

namespace conformance {
namespace {

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

// Runs an example and compares the results. `apart`: why the example does not apply to the device.
std::string check_example(const Device& device, const wye::Program& program,
                          const std::string& wire, const support::Example& e, bool resident,
                          std::string& apart) {
    const std::vector<Launch> all = launches(e);
    const auto got = device.run(program, all, resident);
    if (!got.ok()) {
        apart = refused_for_lack(device, program, got.error());
        return got.error().text();
    }
    std::vector<std::vector<std::byte>> plain;
    for (const auto& b : e.buffers) plain.push_back(b.output ? b.expected : b.before);
    const std::string bad = difference(all[0].buffers, *got, plain);
    if (!bad.empty()) return "against plain C++: " + bad;
    const auto wanted = expected(wire, all);
    if (!wanted.ok()) return wanted.error().text();
    const std::string worse = difference(all[0].buffers, *got, *wanted);
    return worse.empty() ? worse : "against the oracle: " + worse;
}

void dump(const std::string& folder, const std::string& name, const support::Case& what,
          const std::string& problem) {
    if (folder.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    std::ofstream(folder + "/" + name + ".wye") << support::write_case(what, {problem});
}

// Why a random program does not apply to the device; empty: the program applies.
std::string apart_from(const Device& device, const support::Case& what,
                       const support::Finding& finding) {
    if (finding.kind != support::Finding::Kind::Error) return {};
    const auto program = device.context().program_from_text(what.text, "random");
    return program.ok()
               ? refused_for_lack(device, *program, wye::Error(finding.code, finding.text, ""))
               : std::string();
}

void run_seeds(const Device& device, const Seeds& seeds, bool traps, Tally& tally) {
    const support::RandomProgramOptions o = support::options_for(device);
    std::printf("random programs with:%s%s%s%s%s%s%s\n", o.int64 ? " int64" : "",
                o.f32 ? " f32" : "", o.f64 ? " f64" : "", o.storage16 ? " storage16" : "",
                o.subgroups.empty() ? "" : " subgroup", o.atomic_int64 ? " atomic_int64" : "",
                o.atomic_int64_shared ? " atomic_int64_shared" : "");
    const support::Runner runner = support::on(device);
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t seed = seeds.first; seed < seeds.last; seed += seeds.every) {
        if (!tally.skips() && std::chrono::steady_clock::now() - begun >= seeds.time)
            return tally.stop((seeds.last - seed + seeds.every - 1) / seeds.every);
        if (!tally.begin("seed " + std::to_string(seed))) continue;
        const support::Case what = support::random_case(seed, o, traps);
        const support::Finding finding =
            support::judge(device.context(), runner, what, support::kTrusted);
        const std::string apart = apart_from(device, what, finding);
        tally.end(finding.text, apart);
        if (!finding.text.empty() && apart.empty())
            dump(seeds.dump, std::to_string(seed), what, finding.text);
    }
}

}  // namespace

void run_examples(const Device& device, const std::string& only, std::uint64_t seed,
                  std::size_t scale, Tally& tally) {
    for (const std::string& name : support::example_programs()) {
        if (!only.empty() && only != name) continue;
        const auto program = device.context().program_from_text(support::example_text(name), name);
        const auto wire = program.ok() ? program->lower("wire") : wye::Result<std::string>("");
        if (!program.ok() || !wire.ok()) {
            tally.add(name, program.ok() ? wire.error().text() : program.error().text());
            continue;
        }
        const std::vector<support::Example> launches =
            scale == 0 ? std::vector{support::small_example(name)}
                       : support::examples(name, seed, scale);
        for (const support::Example& e : launches)
            for (const bool resident : {false, true}) {
                if (!tally.begin(name + ", " + e.what + (resident ? ", resident" : ""))) continue;
                std::string apart;
                const std::string problem =
                    check_example(device, *program, *wire, e, resident, apart);
                tally.end(problem, apart);
            }
    }
}

void run_random(const Device& device, const Seeds& seeds, Tally& tally) {
    run_seeds(device, seeds, false, tally);
}

void run_traps(const Device& device, const Seeds& seeds, Tally& tally) {
    run_seeds(device, seeds, true, tally);
}

}  // namespace conformance
