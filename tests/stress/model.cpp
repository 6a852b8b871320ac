// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace wye::stress {
namespace {

constexpr std::uint32_t kFactor = 1664525;
constexpr std::uint32_t kStep = 1013904223;
constexpr std::uint32_t kTrapCode = 7;

// Computes `k` rounds of v = v * kFactor + kStep. The variables `factor` and `step` combine 1, 2,
// 4, ... rounds into one.
std::uint32_t rounds(std::uint32_t v, std::uint32_t k) {
    std::uint32_t factor = kFactor;
    std::uint32_t step = kStep;
    for (; k != 0; k >>= 1) {
        if ((k & 1) != 0) v = v * factor + step;
        step += step * factor;
        factor *= factor;
    }
    return v;
}

}  // namespace

std::string Model::text() const {
    const std::string word = std::to_string(xor_word) + "u";
    switch (kind) {
        case Kind::Map:
            return "wye 1; program stress_map; workgroup 64; param k: u32; input x: u32[];\n"
                   "output r: u32[len(x)]; grid elements len(x);\n"
                   "main { let i = global_id.x;\n"
                   "if i < len(r) { r[i] = (x[i] ^ " +
                   word + ") * k + rotl(x[i], " + std::to_string(turn) + "u); } }\n";
        case Kind::Sum:
            return "wye 1; program stress_sum; workgroup 64; param k: u32; input x: u32[];\n"
                   "output total: u32[1]; shared part: u32[64]; grid elements len(x);\n"
                   "main { let i = global_id.x; var v = 0u;\n"
                   "if i < len(x) { v = x[i] * k ^ " +
                   word +
                   "; }\n"
                   "part[local_index] = v; barrier;\n"
                   "if local_index == 0u { var s = 0u;\n"
                   "for n in 0u..64u { s += part[n]; }\n"
                   "atomic_add(total[0u], s); } }\n";
        case Kind::Loop:
            return "wye 1; program stress_loop; workgroup 64; param k: u32;\n"
                   "input_output x: u32[]; grid elements len(x);\n"
                   "main { let i = global_id.x; if i < len(x) { var v = x[i] ^ " +
                   word + ";\nfor n in 0u..k { v = v * " + std::to_string(kFactor) + "u + " +
                   std::to_string(kStep) + "u; }\nx[i] = v; } }\n";
        case Kind::Trap:
            return "wye 1; program stress_trap; workgroup 64; param k: u32; input x: u32[];\n"
                   "output r: u32[len(x)]; grid elements len(x);\n"
                   "main { let i = global_id.x; if i < len(r) {\n"
                   "if x[i] == k { trap " +
                   std::to_string(kTrapCode) + "; }\nr[i] = x[i] ^ " + word + "; } }\n";
    }
    return {};
}

Words Model::expected(std::span<const std::uint32_t> x, std::uint32_t k) const {
    Words out(outputs(x.size()));
    switch (kind) {
        case Kind::Map:
            std::ranges::transform(x, out.begin(), [&](std::uint32_t v) {
                return (v ^ xor_word) * k + std::rotl(v, static_cast<int>(turn));
            });
            break;
        case Kind::Sum:
            out[0] = std::accumulate(
                x.begin(), x.end(), std::uint32_t{0},
                [&](std::uint32_t sum, std::uint32_t v) { return sum + ((v * k) ^ xor_word); });
            break;
        case Kind::Loop:
            std::ranges::transform(x, out.begin(),
                                   [&](std::uint32_t v) { return rounds(v ^ xor_word, k); });
            break;
        case Kind::Trap:
            std::ranges::transform(x, out.begin(), [&](std::uint32_t v) { return v ^ xor_word; });
            break;
    }
    return out;
}

std::uint32_t Model::traps(std::span<const std::uint32_t> x, std::uint32_t k) const {
    if (kind != Kind::Trap) return 0;
    return static_cast<std::uint32_t>(std::ranges::count(x, k));
}

Model random_model(Random& random, std::uint64_t variety) {
    Random chosen(below(random, variety));
    Model model;
    model.kind = static_cast<Model::Kind>(below(chosen, 4));
    model.xor_word = static_cast<std::uint32_t>(chosen());
    model.turn = static_cast<std::uint32_t>(1 + below(chosen, 31));
    return model;
}

}  // namespace wye::stress
