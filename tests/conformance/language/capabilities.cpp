// SPDX-License-Identifier: Apache-2.0
//
// One small program for each capability that programs can need. The oracle gives the expected
// results.
#include <algorithm>
#include <array>
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
constexpr const char* kIndirect = "P-19, P-46";
constexpr std::size_t kCount = 256;  // elements of x, in 4 workgroups of 64

struct Exercise {
    std::string_view capability;
    std::vector<const char*> needs;  // other capabilities that the program needs
    unsigned input;                  // kind of the elements of x
    std::size_t output_bytes;        // size of r
    const char* text;                // the program after its header, which declares x
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
         kCount * 8,
         R"(output r: f64[len(x)];
main { r[global_id.x] = -select(x[global_id.x] % 2u == 0u, 1.5f64, 3e-310f64); })"},
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

// Capabilities that no program needs, and the cases of the kit that exercise them.
struct Elsewhere {
    std::string_view capability, where;
};
constexpr Elsewhere kElsewhere[] = {
    {"grid_sync", "the cases of `launch`"},
    {"device_timestamps", "the cases of `timeline`"},
    {"unified_memory", "the cases of `memory`"},
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

// Each workgroup counts itself in `ran`; the first one writes the number of workgroups that it
// sees.
constexpr const char* kMarks = R"(wye 1; program marks; workgroup 4;
input_output ran: u32[]; output seen: u32[3];
main {
    let g = workgroup_id.x + num_workgroups.x * (workgroup_id.y + num_workgroups.y * workgroup_id.z);
    if g < len(ran) { atomic_add(ran[g], 1u); }
    if g == 0u && local_index == 0u {
        seen[0] = num_workgroups.x; seen[1] = num_workgroups.y; seen[2] = num_workgroups.z;
    }
})";

// Checks launches whose number of workgroups comes from a buffer, and returns the first difference.
// The host does not know that number, so the plugin gives num_workgroups to the program.
wye::Result<std::string> run_indirect(const Device& device) {
    using Words = std::vector<std::uint32_t>;
    constexpr std::size_t kMost = 64;
    constexpr std::array<std::array<std::uint32_t, 3>, 6> kGrids = {
        {{1, 1, 1}, {3, 2, 1}, {2, 3, 4}, {64, 1, 1}, {1, 1, 64}, {0, 5, 5}}};
    WYE_ASSIGN(const wye::Device opened, device.context().open(device.selector()));
    WYE_ASSIGN(const wye::Program program, device.context().program_from_text(kMarks, "marks"));
    WYE_ASSIGN(wye::Buffer grid, opened.buffer(16));
    WYE_ASSIGN(wye::Buffer ran, opened.buffer(kMost * 4));
    WYE_ASSIGN(wye::Buffer seen, opened.buffer(12));
    for (const auto& [x, y, z] : kGrids) {
        const Words groups = {77, x, y, z};
        WYE_TRY(grid.upload(groups));
        WYE_TRY(ran.fill(0, 0, kMost * 4));
        WYE_TRY(seen.fill(0, 0, 12));
        wye::Dispatch dispatch(program, opened);
        dispatch.bind("ran", ran).bind("seen", seen).grid_from(grid, 4);
        WYE_TRY(dispatch.run());
        Words ran_now(kMost), seen_now(3);
        WYE_TRY(ran.download(ran_now));
        WYE_TRY(seen.download(seen_now));
        const std::size_t count = std::size_t{x} * y * z;
        const Words wanted = count == 0 ? Words{0, 0, 0} : Words{x, y, z};
        const auto text = [](const Words& words) {
            return std::to_string(words[0]) + " x " + std::to_string(words[1]) + " x " +
                   std::to_string(words[2]);
        };
        if (seen_now != wanted)
            return "in a launch of " + text({x, y, z}) +
                   " workgroups, which come from a buffer, num_workgroups is " + text(seen_now);
        for (std::size_t g = 0; g < kMost; ++g)
            if (ran_now[g] != (g < count ? 4U : 0U))
                return "in a launch of " + text({x, y, z}) +
                       " workgroups, which come from a buffer, " + std::to_string(ran_now[g]) +
                       " invocations of workgroup " + std::to_string(g) + " ran, not " +
                       (g < count ? "4" : "0");
    }
    return std::string();
}

void check(const Device& device, const std::string& capability, Tally& tally) {
    if (!device.has(capability)) return tally.leave_out("the device does not claim it");
    if (capability == "indirect_dispatch") {
        const auto problem = run_indirect(device);
        return tally.end(problem.ok() ? *problem : problem.error().text());
    }
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
        if (capability != nullptr &&
            tally.begin(capability,
                        std::string_view(capability) == "indirect_dispatch" ? kIndirect : kRules))
            check(device, capability, tally);
}

}  // namespace conformance
