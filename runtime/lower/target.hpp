// SPDX-License-Identifier: Apache-2.0
//
// TargetFacts: the facts of a device that the lowering depends on, without naming a driver.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/quirks/quirks.hpp"

namespace wye::lower {

// Plain values. The defaults are conservative: no native operation counts as exact. `wye lower`
// without a device uses the defaults.
struct TargetFacts {
    bool native_f32_div = false;
    bool native_f32_sqrt = false;
    bool native_f32_fma = false;
    bool native_normal_f32_fma = false;  // exact unless an operand or the result is subnormal
    bool native_f64_div = false;
    bool native_f64_sqrt = false;
    bool native_f64_fma = false;
    bool native_f32_round = false;  // floor, ceil, trunc and rounding to even (SPIR-V only)
    bool native_f64_round = false;
    bool workgroup_loops = false;  // the driver runs a workgroup as a loop over its invocations
    // Whether the device has 64-bit floats that conform to IEEE 754, and 64-bit integers.
    // Emulations use these types where they exist. A folded grid needs 64-bit integers.
    bool f64 = true;
    bool int64 = true;
    // The device's f32 throughput divided by its f64 throughput; 0: unknown.
    std::uint64_t f32_to_f64_rate = 0;
    // SPIR-V only: whether buffers may have elements of 8 and of 16 bits. If not, such elements are
    // accessed as parts of 32-bit words.
    bool storage8 = true, storage16 = true;
    // SPIR-V only: whether f32 subnormals are kept, and the available float-control modes.
    bool keeps_f32_denormals = false;
    bool f32_denorm_mode = false;
    bool f32_sign_nan_mode = false;
    bool f64_sign_nan_mode = false;
    bool f32_rte_mode = false;
    bool f64_rte_mode = false;
    // Whether conversions between f32 and f16 round to nearest even and keep subnormals.
    bool native_f16_convert = false;
    bool native_f32_atomic_add = false;
    bool native_f64_atomic_add = false;
    std::uint64_t max_push_bytes = 128;
    // C only: the maximum size, in bytes, of a workgroup's variables on the stack of a driver's
    // thread.
    std::uint64_t stack_bytes = std::uint64_t{1} << 20U;
    // For SPIR-V only: the driver ends an invocation's loops after this many iterations in total;
    // 0: never. Loops that may run longer are watched, and trap with kLoopsEnded.
    std::uint64_t loop_rounds = 0;
    std::vector<std::uint32_t> subgroup_sizes;  // ascending; empty: unknown
    // Workarounds that the device needs or may need. All driver defects are expressed here; the
    // other members are measured properties.
    QuirkSet quirks = QuirkSet::of_no_device();
};

}  // namespace wye::lower
