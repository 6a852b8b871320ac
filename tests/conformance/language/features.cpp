// SPDX-License-Identifier: Apache-2.0
//
// Small programs for features that the examples lack, with the capabilities that each needs: grid
// barriers, subgroups, f16 and bf16, float atomics. The oracle gives the expected results.
#include <algorithm>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace conformance {
namespace {

// Loops with more iterations than some drivers allow an invocation.
constexpr const char* kLongLoops = R"(wye 1; program long_loops; workgroup 16;
param rounds: u32;
input x: u32[]; output r: u32[len(x)];
main {
    var s = x[global_id.x];
    for i in 0u..rounds { s = s * 1664525u + i; if s == 1u { break; } }
    var left = rounds;
    while left > 0u { left -= 1u; s = rotl(s, 3u) ^ left; }
    r[global_id.x] = s;
})";

struct Input {
    const char* name;
    unsigned kind;
    std::size_t count;
    bool output = false;  // whether the buffer is an output, too
    bool zero = false;    // begins as zeros, not as random values
};
struct Output {
    const char* name;
    std::size_t bytes;
};
struct Feature {
    const char* name;
    std::vector<const char*> needs;
    const char* text;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<std::vector<std::uint64_t>> launches;  // parameters of each launch
    std::array<std::uint32_t, 3> groups;
};

// An element's neighbours may belong to other workgroups, so each workgroup must wait for all
// others before it begins the next round.
constexpr const char* kRelax = R"(wye 1; program relax; workgroup 64;
param rounds: u32;
input_output a: u32[]; output b: u32[len(a)];
main {
    for n in 0u..rounds {
        let n_cells = len(a);
        let j = global_id.x;
        b[j] = a[(j + n_cells - 1u) % n_cells] * 3u + a[(j + 1u) % n_cells] + n;
        grid_barrier;
        a[global_id.x] = b[global_id.x] ^ (b[(global_id.x + 67u) % len(a)] >> 3u);
        grid_barrier;
    }
    a[global_id.x] = a[global_id.x] + 1u;
})";

// `distance` is a `let` of the loop whose value is kept across the grid barriers in the loop.
constexpr const char* kScan = R"(wye 1; program scan; workgroup 32;
input_output a: u32[]; output t: u32[len(a)];
main {
    let most = 10u;
    for k in 0u..most {
        let distance = 1u << k;
        t[global_id.x] = a[global_id.x];
        grid_barrier;
        if global_id.x >= distance {
            a[global_id.x] = t[global_id.x] + t[global_id.x - distance];
        }
        grid_barrier;
    }
})";

// Inner loops without iterations, shared arrays that are zeros in each phase, 64-bit loop counters.
constexpr const char* kPhases = R"(wye 1; program phases; workgroup 16;
param first: i64; param stride: i64;
input_output a: u32[]; output sums: u32[len(a)]; shared s: u32[16];
fn mixed(x: u32, y: u32) -> u32 { return rotl(x ^ y, 5u) * 2654435761u; }
main {
    let size = len(a);
    s[local_index] = a[global_id.x];
    for i in first..9i64 step stride {
        barrier;
        for j in 0u..u32(i) % 3u {
            atomic_add(sums[(global_id.x + j * 17u) % size], mixed(s[15u - local_index], u32(i) + j));
            grid_barrier;
            s[local_index] = mixed(s[local_index], j + u32(i) + global_id.x);
            barrier;
        }
        barrier;
        a[global_id.x] = mixed(a[global_id.x], s[local_index]);
        grid_barrier;
        a[global_id.x] = a[global_id.x] + sums[(global_id.x * 7u) % size];
        grid_barrier;
    }
    grid_barrier;
    a[global_id.x] = a[global_id.x] ^ s[local_index];
})";

constexpr const char* kTrap = R"(wye 1; program late; workgroup 32;
input_output a: u32[];
main {
    a[global_id.x] = a[global_id.x] | 1u;
    grid_barrier;
    if a[global_id.x] == 0u { trap 7; }
    a[global_id.x] = 5u;
})";

constexpr const char* kSubgroups = R"(wye 1; program lanes; workgroup 64, 2;
input x: u32[]; input f: f32[len(x)]; output r: u32[len(x) * 8]; output g: f32[len(x) * 4];
main {
    let i = global_id.x + num_workgroups.x * workgroup_size.x * global_id.y;
    let v = x[i];
    let w = f[i];
    let sum = subgroup_add(v);
    let least = subgroup_min(w);
    let up_to = subgroup_inclusive_add(v);
    let below = subgroup_exclusive_add(w);
    let votes = subgroup_ballot(v % 3u == 0u);
    let some = subgroup_any(v == 0u);
    let every = subgroup_all(v != 1u);
    let other = subgroup_shuffle(w, v);
    let across = subgroup_shuffle_xor(v, 1u);
    let lead = subgroup_broadcast(v, 3u);
    let total = subgroup_add(w);
    r[i * 8u] = sum;
    r[i * 8u + 1u] = up_to;
    r[i * 8u + 2u] = votes.x ^ votes.y ^ votes.z ^ votes.w;
    r[i * 8u + 3u] = u32(some) + 2u * u32(every);
    r[i * 8u + 4u] = across;
    r[i * 8u + 5u] = lead;
    r[i * 8u + 6u] = subgroup_lane + 1000u * subgroup_id;
    if subgroup_id % 2u == 1u {
        let odd = subgroup_xor(v);
        r[i * 8u + 7u] = odd;
    }
    g[i * 4u] = least;
    g[i * 4u + 1u] = below;
    g[i * 4u + 2u] = other;
    g[i * 4u + 3u] = total;
})";

constexpr const char* kHalves = R"(wye 1; program halves; workgroup 64;
param a: f32;
table steps: f16[4] = { 0.1f16, 65504.0f16, 0x1p-24f16, -inf_f16 };
input x: f16x4[]; input y: bf16x3[]; shared s: f16[64];
output r: f16x4[len(x)]; output q: bf16x3[len(y)]; output p: u32[len(x)];
main {
    let i = global_id.x;
    let v = x[i];
    var sums: f16[4];
    for k in 0u..4u { sums[k] = steps[k] * v.x + sums[(k + 3u) % 4u]; }
    s[local_index] = v.y / v.z;
    barrier;
    r[i] = fma(v, f16x4(f16(a)), f16x4(sums[0u], sums[1u], sums[2u], s[63u - local_index]));
    q[i] = y[i] * f32x3(a) + f32x3(f32(v.w));
    p[i] = bitcast<u32>(f16x2(v.x, v.w));
})";

// Sums of small integers are exact in every order of additions.
constexpr const char* kFloatSums = R"(wye 1; program float_sums; workgroup 64;
input x: u8[]; input_output r: f32[8]; shared s: f32[4];
main {
    let v = f32(x[global_id.x]);
    atomic_add(s[local_index % 4u], v);
    atomic_add(r[u32(x[global_id.x]) % 8u], 0.5 * v);
    barrier;
    if local_index < 4u { atomic_add(r[local_index], s[local_index]); }
})";

const std::vector<Feature>& features() {
    static const std::vector<Feature> kFeatures = {
        {"grid barriers: neighbours",
         {},
         kRelax,
         {{"a", WYE_KIND_U32, 640, true}},
         {{"b", 2560}},
         {{0}, {1}, {7}},
         {10, 1, 1}},
        {"grid barriers: scan",
         {},
         kScan,
         {{"a", WYE_KIND_U32, 1024, true}},
         {{"t", 4096}},
         {{}},
         {32, 1, 1}},
        {"grid barriers: nested loops",
         {"int64"},
         kPhases,
         {{"a", WYE_KIND_U32, 80, true}},
         {{"sums", 320}},
         {{0, 1}, {9, 1}, {static_cast<std::uint64_t>(-3), 4}, {2, 0}},
         {5, 1, 1}},
        {"grid barriers: traps that do not happen",
         {},
         kTrap,
         {{"a", WYE_KIND_U32, 128, true}},
         {},
         {{}},
         {4, 1, 1}},
        {"subgroups",
         {"subgroup", "ieee_f32"},
         kSubgroups,
         {{"x", WYE_KIND_U32, 1536}, {"f", WYE_KIND_F32, 1536}},
         {{"r", 49152}, {"g", 24576}},
         {{}},
         {6, 2, 1}},
        {"f16 and bf16",
         {"storage16", "ieee_f32"},
         kHalves,
         {{"x", WYE_KIND_F16, 4096}, {"y", WYE_KIND_BF16, 3072}},
         {{"r", 8192}, {"q", 6144}, {"p", 4096}},
         {{0x3f8ccccdU}, {0xc7000000U}},
         {16, 1, 1}},
        {"float atomics",
         {"storage8", "ieee_f32", "atomic_f32_add"},
         kFloatSums,
         {{"x", WYE_KIND_U8, 1024}, {"r", WYE_KIND_F32, 8, true, true}},
         {},
         {{}},
         {16, 1, 1}},
        {"long loops",
         {},
         kLongLoops,
         {{"x", WYE_KIND_U32, 32}},
         {{"r", 128}},
         {{1000}, {32000}, {40000}, {70000}},
         {2, 1, 1}},
    };
    return kFeatures;
}

Launch launch_of(const Feature& feature, const std::vector<std::uint64_t>& params) {
    support::Random random(feature.groups[0]);
    Launch launch;
    launch.params = params;
    launch.groups = feature.groups;
    for (const Input& in : feature.inputs) {
        launch.buffers.push_back(
            {in.name, true, in.output, support::random_scalars(random, in.kind, in.count)});
        auto& bytes = launch.buffers.back().bytes;
        if (in.zero) std::fill(bytes.begin(), bytes.end(), std::byte{0});
    }
    for (const Output& out : feature.outputs)
        launch.buffers.push_back({out.name, false, true, std::vector<std::byte>(out.bytes)});
    return launch;
}

// The text of a feature's program. A `width` above 0 adds a `subgroup` clause.
std::string text_of(const Feature& feature, std::uint32_t width) {
    std::string text = feature.text;
    if (width == 0) return text;
    const std::size_t at = text.find(';', text.find("workgroup")) + 1;
    return text.insert(at, " subgroup " + std::to_string(width) + ";");
}

std::string check(const Device& device, const Feature& feature, std::uint32_t width,
                  const std::vector<std::uint64_t>& params, bool resident) {
    const auto program = device.context().program_from_text(text_of(feature, width), feature.name);
    if (!program.ok()) return program.error().text();
    const auto wire = program->lower("wire");
    if (!wire.ok()) return wire.error().text();
    const std::vector<Launch> launches = {launch_of(feature, params)};
    const auto wanted = expected(*wire, launches);
    if (!wanted.ok()) return wanted.error().text();
    const auto got = device.run(*program, launches, resident);
    const std::uint64_t limit = device.limit("loop_rounds", 0);
    if (feature.text == kLongLoops && limit != 0 && 2 * params[0] > limit) {
        if (got.ok()) return "the driver ends loops, and nobody said so";
        if (got.error().code == wye::Code::LIMIT_EXCEEDED) return {};
    }
    if (!got.ok()) return got.error().text();
    return difference(launches[0].buffers, *got, *wanted);
}

}  // namespace

void run_features(const Device& device, const std::string& only, Tally& tally) {
    for (const Feature& feature : features()) {
        if (!only.empty() && only != feature.name) continue;
        const char* lack = nullptr;
        for (const char* need : feature.needs)
            if (!device.has(need)) lack = need;
        if (lack != nullptr) {
            tally.add_left_out(feature.name, std::string("the device has no ") + lack);
            continue;
        }
        std::vector<std::uint32_t> widths = {0};
        if (feature.text == kSubgroups) widths = device.subgroup_sizes();
        for (const std::uint32_t width : widths)
            for (std::size_t n = 0; n < feature.launches.size(); ++n) {
                const std::string subgroups =
                    width == 0 ? "" : ", subgroups of " + std::to_string(width);
                if (tally.begin(feature.name + subgroups + ", launch " + std::to_string(n)))
                    tally.end(check(device, feature, width, feature.launches[n], n % 2 == 1));
            }
    }
}

}  // namespace conformance
