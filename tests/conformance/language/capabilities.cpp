// SPDX-License-Identifier: Apache-2.0
//
// One small program for each capability that programs can need. The oracle gives the expected
// results.
#include <algorithm>
#include <string_view>
#include <vector>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/random.hpp"
#include "wye/abi.h"
#include "wye/program_format.h"

namespace conformance {
namespace {

constexpr const char* kRules = "P-19";
constexpr std::size_t kCount = 256;  // elements of x, in 4 workgroups of 64

struct Exercise {
    std::string_view capability;
    std::vector<const char*> needs;  // other capabilities of the program
    unsigned input;                  // kind of the elements of x
    std::size_t output_bytes;        // of r
    const char* text;                // what follows the header, which declares x
};

const std::vector<Exercise>& exercises() {
    static const std::vector<Exercise> kExercises = {
        {"barrier",
         {},
         WYE_KIND_U32,
         kCount * 4,
         R"(output r: u32[len(x)]; shared s: u32[64];
main { s[local_index] = x[global_id.x]; barrier; r[global_id.x] = s[63u - local_index]; })"},
        {"atomic_int32",
         {},
         WYE_KIND_U32,
         32,
         R"(output r: u32[8];
main { atomic_add(r[x[global_id.x] % 8u], x[global_id.x]); })"},
        {"int64",
         {},
         WYE_KIND_U32,
         kCount * 4,
         R"(output r: u32[len(x)];
main { r[global_id.x] = u32((u64(x[global_id.x]) * 0x9e3779b97f4a7c15u64) >> 32u); })"},
        {"atomic_int64",
         {"int64"},
         WYE_KIND_U32,
         64,
         R"(output r: u64[8];
main { atomic_add(r[x[global_id.x] % 8u], u64(x[global_id.x]) << 20u); })"},
        {"atomic_int64_shared",
         {"int64"},
         WYE_KIND_U32,
         kCount * 8,
         R"(output r: u64[len(x)]; shared s: u64[4];
main {
    atomic_add(s[x[global_id.x] % 4u], u64(x[global_id.x]) << 20u);
    barrier;
    r[global_id.x] = s[local_index % 4u];
})"},
        {"ieee_f32",
         {},
         WYE_KIND_U32,
         kCount * 4,
         R"(output r: u32[len(x)];
main { r[global_id.x] = bitcast<u32>(f32(x[global_id.x]) / 3.0); })"},
        {"f64",
         {},
         WYE_KIND_U32,
         kCount * 4,
         R"(output r: u32[len(x)];
main { r[global_id.x] = u32(f64(x[global_id.x] & 0xffffu) * 1.5f64); })"},
        {"ieee_f64",
         {"f64"},
         WYE_KIND_U32,
         kCount * 8,
         R"(output r: f64[len(x)];
main { r[global_id.x] = f64(x[global_id.x]) / 3.0f64; })"},
        {"atomic_f32_add",
         {"ieee_f32"},
         WYE_KIND_U32,
         32,
         R"(output r: f32[8];
main { atomic_add(r[x[global_id.x] % 8u], f32(x[global_id.x] & 0xffu)); })"},
        {"atomic_f64_add",
         {"f64", "ieee_f64"},
         WYE_KIND_U32,
         64,
         R"(output r: f64[8];
main { atomic_add(r[x[global_id.x] % 8u], f64(x[global_id.x] & 0xffffu)); })"},
        {"storage8",
         {},
         WYE_KIND_U8,
         kCount,
         R"(output r: u8[len(x)];
main { r[global_id.x] = x[global_id.x] * 3u + 1u; })"},
        {"storage16",
         {},
         WYE_KIND_U16,
         kCount * 2,
         R"(output r: u16[len(x)];
main { r[global_id.x] = x[global_id.x] * 3u + 1u; })"},
        {"subgroup",
         {},
         WYE_KIND_U32,
         kCount * 4,
         R"(output r: u32[len(x)];
main { r[global_id.x] = subgroup_add(x[global_id.x]); })"},
    };
    return kExercises;
}

// Capabilities that no program needs, with the cases that exercise them.
struct Elsewhere {
    std::string_view capability, where;
};
constexpr Elsewhere kElsewhere[] = {
    {"indirect_dispatch", "the cases of `launch`"},    {"grid_sync", "the cases of `launch`"},
    {"device_timestamps", "the cases of `timeline`"},  {"unified_memory", "the cases of `memory`"},
    {"native_wait", "the cases of `native`, in part"},
};

constexpr const char* kCapabilities[] = {
#define WYE_CAPABILITY(name, key, json, type) ((key) < 0x100 ? json : nullptr),
    WYE_FACTS(WYE_CAPABILITY)
#undef WYE_CAPABILITY
};

std::string run(const Device& device, const Exercise& exercise) {
    std::string head = "wye 1; program capability; workgroup 64;";
    if (exercise.capability == "subgroup") {
        const std::vector<std::uint32_t> widths = device.subgroup_sizes();
        if (widths.empty()) return "it has no `subgroup_sizes`";
        head += " subgroup " + std::to_string(widths.front()) + ";";
    }
    const std::string type = exercise.input == WYE_KIND_U8    ? "u8"
                             : exercise.input == WYE_KIND_U16 ? "u16"
                                                              : "u32";
    const std::string text = head + "\ninput x: " + type + "[]; " + exercise.text;
    support::Random random(1);
    Launch launch;
    launch.groups = std::array<std::uint32_t, 3>{kCount / 64, 1, 1};
    launch.buffers = {{"x", true, false, support::random_scalars(random, exercise.input, kCount)},
                      {"r", false, true, std::vector<std::byte>(exercise.output_bytes)}};
    const auto program = device.context().program_from_text(text, "capability");
    if (!program.ok()) return program.error().text();
    const auto wire = program->lower("wire");
    if (!wire.ok()) return wire.error().text();
    const auto wanted = expected(*wire, {launch});
    if (!wanted.ok()) return wanted.error().text();
    const auto got = device.run(*program, {launch}, false);
    if (!got.ok()) return got.error().text();
    return difference(launch.buffers, *got, *wanted);
}

void check(const Device& device, const std::string& capability, Tally& tally) {
    if (!device.has(capability)) return tally.leave_out("the device does not claim it");
    for (const Exercise& exercise : exercises())
        if (exercise.capability == capability) {
            for (const char* need : exercise.needs)
                if (!device.has(need))
                    return tally.end("it is claimed without " + std::string(need));
            return tally.end(run(device, exercise));
        }
    for (const Elsewhere& one : kElsewhere)
        if (one.capability == capability)
            return tally.leave_out("exercised by " + std::string(one.where));
    tally.end("nothing can exercise it, since the language and the contract have no use of it");
}

}  // namespace

void run_capabilities(const Device& device, Tally& tally) {
    for (const char* capability : kCapabilities)
        if (capability != nullptr && tally.begin(capability, kRules))
            check(device, capability, tally);
}

}  // namespace conformance
