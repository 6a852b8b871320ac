// SPDX-License-Identifier: Apache-2.0
//
// Compares math functions with the baseline kernels of the built-in CPU device, whose accuracy is
// tested with MPFR. The first inputs are also compared with the oracle.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace conformance {
namespace {

constexpr std::uint64_t kMathChunk = 1U << 18U;
constexpr std::size_t kMathOracle = 256;  // inputs that the oracle evaluates too

struct Function {
    const char* name;
    unsigned operands;
    unsigned first;  // the first math set that has the function
};

constexpr Function kFunctions[] = {
#define WYE_SWEEP_MATH(name, code, text, operands) {text, operands, (code) > WYE_OP_ERF ? 2 : 1},
    WYE_MATH(WYE_SWEEP_MATH)
#undef WYE_SWEEP_MATH
};

std::string text_of(const Function& f, unsigned set, const std::string& type) {
    return "wye 1; math " + std::to_string(set) +
           "; program values; workgroup 64;\ninput x: " + type + "[]; input y: " + type +
           "[len(x)]; output r: " + type +
           "[len(x)]; grid elements len(x);\nmain {\n    let i = global_id.x;\n" +
           "    if i < len(r) { r[i] = " + f.name + (f.operands == 2 ? "(x[i], y[i])" : "(x[i])") +
           "; }\n}\n";
}

// Random bits, ordinary values, and values near 1 and near multiples of pi/2.
template <typename T>
std::vector<std::byte> arguments(support::Random& random, unsigned kind, std::size_t count) {
    std::vector<T> out(count);
    for (T& value : out) {
        const std::uint64_t bits = support::random_scalar(random, kind);
        std::memcpy(&value, &bits, sizeof(T));
        const auto whole = static_cast<T>(random.between(-(1 << 24), 1 << 24));
        switch (random.below(4)) {
            case 0:
                value = std::ldexp(whole, static_cast<int>(random.between(-30, -14)));
                break;
            case 1:
                value = 1 + whole * std::numeric_limits<T>::epsilon();
                break;
            case 2:
                value = whole * static_cast<T>(1.5707963267948966);
                break;
            default:
                break;
        }
    }
    std::vector<std::byte> bytes(count * sizeof(T));
    std::memcpy(bytes.data(), out.data(), bytes.size());
    return bytes;
}

template <typename T>
Launch inputs(unsigned kind, std::uint64_t seed, std::size_t count) {
    support::Random random(seed);
    Launch launch;
    launch.buffers = {{"x", true, false, arguments<T>(random, kind, count)},
                      {"y", true, false, arguments<T>(random, kind, count)},
                      {"r", false, true, std::vector<std::byte>(count * sizeof(T))}};
    return launch;
}

// The inputs for one type. All functions share them, since making inputs takes longer than most
// functions.
struct Inputs {
    Launch small;  // for the oracle
    std::vector<Launch> chunks;
};

template <typename T>
Inputs all_inputs(unsigned kind, std::uint64_t wanted) {
    Inputs out{inputs<T>(kind, 0, kMathOracle), {}};
    for (std::uint64_t done = 0; done < wanted; done += kMathChunk)
        out.chunks.push_back(inputs<T>(
            kind, done + 1, static_cast<std::size_t>(std::min(kMathChunk, wanted - done))));
    return out;
}

// Runs a program on both devices. Returns the first difference; empty: none.
wye::Result<std::string> sweep(const Device& device, const Device& reference,
                               const std::string& text, const Inputs& given) {
    WYE_ASSIGN(const wye::Program program, device.context().program_from_text(text));
    WYE_ASSIGN(const wye::Program same, reference.context().program_from_text(text));
    WYE_ASSIGN(const std::string expanded, program.lower("wye-program"));
    WYE_ASSIGN(const auto said, expected(expanded, {given.small}));
    WYE_ASSIGN(const auto got_small, device.run(program, {given.small}, true));
    std::string bad = difference(given.small.buffers, got_small, said);
    if (!bad.empty()) return "the oracle says otherwise: " + bad;
    for (const Launch& launch : given.chunks) {
        WYE_ASSIGN(const auto got, device.run(program, {launch}, false));
        WYE_ASSIGN(const auto right, reference.run(same, {launch}, false));
        bad = difference(launch.buffers, got, right);
        if (!bad.empty()) return bad;
    }
    return bad;
}

}  // namespace

void sweep_math(const Device& device, std::uint64_t wanted, Tally& tally) {
    if (!device.has("f64") || !device.has("ieee_f64"))
        return tally.add_left_out("math functions", "the device has no f64");
    const auto reference = Device::open("cpu", {{"cpu.isa", "baseline"}});
    if (!reference.ok()) return tally.add("math functions", reference.error().text());
    const Inputs f32 = all_inputs<float>(WYE_KIND_F32, wanted);
    const Inputs f64 = all_inputs<double>(WYE_KIND_F64, wanted);
    const auto judge = [&](const Function& f, unsigned set, const char* type, const Inputs& given) {
        const std::string name = std::string(type) + " " + f.name;
        if (!tally.begin(set == 1 ? name : name + " of math set " + std::to_string(set))) return;
        const std::string text = text_of(f, set, type);
        const auto problem = sweep(device, *reference, text, given);
        const auto program = device.context().program_from_text(text);
        const bool refused = !problem.ok() && program.ok();
        tally.end(problem.ok() ? *problem : problem.error().text(),
                  refused ? refused_for_lack(device, *program, problem.error()) : std::string());
    };
    for (const Function& f : kFunctions) {
        for (unsigned set = f.first; set <= WYE_PROGRAM_NEWEST_MATH_SET; ++set)
            judge(f, set, "f32", f32);
        judge(f, f.first, "f64", f64);  // f64 is the same in later math sets
    }
    std::printf("math: %zu functions on f32 and f64, %llu inputs each\n", std::size(kFunctions),
                static_cast<unsigned long long>(wanted));
}

}  // namespace conformance
