// SPDX-License-Identifier: Apache-2.0
//
// Verdict: the self-test's result for one device. The initial values of the flags are the
// conservative answers.
#pragma once

#include <cstdint>

namespace wye::vulkan {

// Properties of one width of float. Each but the last means that the device's results equal the
// host's bit for bit on every input, apart from NaN payloads.
struct FloatVerdict {
    bool arithmetic = false;  // + - *, comparison, f32 to f64 and back; subnormals are kept
    bool divides = false;
    bool square_root = false;
    bool fuses = false;          // Fma rounds once
    bool fuses_normals = false;  // the same if no operand and no result is subnormal
    bool rounds = false;         // Floor, Ceil, Trunc, RoundEven
    // Whether operations with literal zeros may give other results than on the host.
    bool folds_literal_zero = true;
};

struct Verdict {
    bool ran = false;            // false: the test could not run; ignore the other members
    FloatVerdict f32_plain;      // without DenormPreserve
    FloatVerdict f32_preserved;  // with DenormPreserve; tested if f32_plain is inexact and this
                                 // mode may be declared
    FloatVerdict f64;
    bool f16_convert = false;  // OpFConvert between f32 and f16
    // The number of iterations after which the driver ends loops; 0: the driver lets them run.
    std::uint64_t loop_rounds = 0;
    // The number of f32 products that take as long as one f64 product; 0: not measured.
    std::uint64_t f32_to_f64_rate = 0;

    // The verdict on f32 in the mode that lowered programs use: without DenormPreserve if that
    // suffices.
    [[nodiscard]] const FloatVerdict& f32() const {
        return f32_plain.arithmetic ? f32_plain : f32_preserved;
    }
};

// Visits the members that are saved, in order: `flag(name, bool&)` for each flag except `ran`, and
// `number(name, u64&)` for each number.
template <typename V, typename Flag, typename Number>
void visit(V& verdict, Flag&& flag, Number&& number) {
#define WYE_VULKAN_FLOAT(member)                                  \
    flag(#member ".arithmetic", verdict.member.arithmetic);       \
    flag(#member ".divides", verdict.member.divides);             \
    flag(#member ".square_root", verdict.member.square_root);     \
    flag(#member ".fuses", verdict.member.fuses);                 \
    flag(#member ".fuses_normals", verdict.member.fuses_normals); \
    flag(#member ".rounds", verdict.member.rounds);               \
    flag(#member ".folds_literal_zero", verdict.member.folds_literal_zero);
    WYE_VULKAN_FLOAT(f32_plain)
    WYE_VULKAN_FLOAT(f32_preserved)
    WYE_VULKAN_FLOAT(f64)
#undef WYE_VULKAN_FLOAT
    flag("f16_convert", verdict.f16_convert);
    number("loop_rounds", verdict.loop_rounds);
    number("f32_to_f64_rate", verdict.f32_to_f64_rate);
}

}  // namespace wye::vulkan
