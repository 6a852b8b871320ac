// SPDX-License-Identifier: Apache-2.0
//
// What the self-test found out about one device. A value; false and zero are the careful answers.
#pragma once

#include <cstdint>

namespace wye::vulkan {

// How one width of float behaves: each "equal to the host's bit for bit" on every tried input, NaN
// payloads aside.
struct FloatVerdict {
    bool arithmetic = false;  // + - *, comparison, f32 to f64 and back; subnormals kept
    bool divides = false;
    bool square_root = false;
    bool fuses = false;   // Fma rounds once
    bool rounds = false;  // Floor, Ceil, Trunc, RoundEven
    bool folds_literal_zero = true;
};

struct Verdict {
    bool ran = false;        // false: the test could not run, and nothing below says anything
    FloatVerdict f32_plain;  // without asking for DenormPreserve
    FloatVerdict
        f32_preserved;  // asking for it, advertised or not; tried where plain is not enough
    FloatVerdict f64;
    bool f16_convert = false;  // OpFConvert between f32 and f16
    // Loops end by themselves after this many rounds of an invocation; 0: none did.
    std::uint64_t loop_rounds = 0;

    // f32 as lowered programs meet it: without the mode where that is enough.
    [[nodiscard]] const FloatVerdict& f32() const {
        return f32_plain.arithmetic ? f32_plain : f32_preserved;
    }
};

// Calls `flag(name, bool&)` for each flag of a Verdict but `ran`, and `number(name, u64&)` for each
// number. The list of what is saved, in its order.
template <typename V, typename Flag, typename Number>
void visit(V& verdict, Flag&& flag, Number&& number) {
#define WYE_VULKAN_FLOAT(member)                              \
    flag(#member ".arithmetic", verdict.member.arithmetic);   \
    flag(#member ".divides", verdict.member.divides);         \
    flag(#member ".square_root", verdict.member.square_root); \
    flag(#member ".fuses", verdict.member.fuses);             \
    flag(#member ".rounds", verdict.member.rounds);           \
    flag(#member ".folds_literal_zero", verdict.member.folds_literal_zero);
    WYE_VULKAN_FLOAT(f32_plain)
    WYE_VULKAN_FLOAT(f32_preserved)
    WYE_VULKAN_FLOAT(f64)
#undef WYE_VULKAN_FLOAT
    flag("f16_convert", verdict.f16_convert);
    number("loop_rounds", verdict.loop_rounds);
}

}  // namespace wye::vulkan
