// SPDX-License-Identifier: Apache-2.0
//
// What the self-test found out about one device's arithmetic. A value; false is the careful answer.
#pragma once

namespace wye::vulkan {

// How one width of float behaves in a module: each "equal to the host's bit for bit" on every tried
// input, NaN payloads aside.
struct FloatVerdict {
    bool arithmetic = false;  // + - *, negation, comparisons, conversions; subnormals kept
    bool divides = false;
    bool square_root = false;
    bool fuses = false;  // Fma rounds once
    bool folds_literal_zero = false;
};

struct Verdict {
    bool ran = false;            // false: the test could not run, and nothing below says anything
    FloatVerdict f32_plain;      // without asking for a mode
    FloatVerdict f32_preserved;  // asking for DenormPreserve, advertised or not
    FloatVerdict f64;            // asking for DenormPreserve only where it is advertised
    bool f16_convert = false;    // OpFConvert between f32 and f16

    // f32 as lowered programs meet it: without a mode where that is enough.
    [[nodiscard]] const FloatVerdict& f32() const {
        return f32_plain.arithmetic ? f32_plain : f32_preserved;
    }
};

}  // namespace wye::vulkan
