// SPDX-License-Identifier: Apache-2.0
//
// The SPIR-V modules of the self-test. Pure. Workgroups have one axis, the entry point is "main",
// and storage buffers are in set 0.
#pragma once

#include <cstdint>
#include <vector>

#include "vulkan/self_test/probe_inputs.hpp"

namespace wye::vulkan {

// The float-control modes that a module declares, as lowered programs do.
struct ProbeModes {
    bool denorm_preserve = false;
    bool sign_nan = false;  // SignedZeroInfNanPreserve
    bool nearest = false;   // RoundingModeRTE
};

// Bindings 0 to 2: a, b, c. Binding 3: the results, kProbeCount for each operation, one operation
// after the other.
[[nodiscard]] std::vector<std::uint32_t> float_module(std::uint32_t workgroup, unsigned bits,
                                                      const ProbeModes& modes,
                                                      const std::vector<ProbeOp>& ops);
// Binding 0: f32; binding 1: f16 converted from these. Binding 2: f16; binding 3: f32 converted
// from these. Binding 4: f32 converted to f16 and back without storing. kProbeCount each.
[[nodiscard]] std::vector<std::uint32_t> convert_module(std::uint32_t workgroup,
                                                        const ProbeModes& modes);

// The operations that a spot check tests.
struct SpotPlan {
    std::vector<ProbeOp> f32_ops, f64_ops;  // empty: none of this width
    ProbeModes f32_modes, f64_modes;
    bool f16 = false;  // conversions, in f32_modes
};
// Each binding has rows of kSpotCount elements. The first binding is present if f32 or f16 is
// tested. Its rows are `a`, `b`, `c`, and the result of each operation; for f16 also the f16 inputs
// converted to f32, and `a` converted to f16 and back. The next binding, if f64 is tested, has the
// same rows without conversions. The next binding, if f16 is tested, has two rows: the f16 inputs,
// and `a` converted to f16. The last binding has two rows of 32-bit words. Element 0 of the first
// row is the requested number of loop iterations; element 0 of the second row is the actual one.
[[nodiscard]] std::vector<std::uint32_t> spot_module(std::uint32_t workgroup, const SpotPlan& plan);

// Binding 0: word 0 is the requested number of iterations; word 1 becomes the actual number.
[[nodiscard]] std::vector<std::uint32_t> loop_module(std::uint32_t workgroup);

// Binding 0: word 0 is the number of iterations n. Binding 1: floats of 32 or 64 bits; element 0 is
// a factor f. Each invocation starts with the values 1 to kChains, and multiplies each by f in
// every iteration. Element 1 + i becomes the sum in invocation i: f^n * (1 + 2 + ... + kChains).
inline constexpr std::uint32_t kChains = 16;
[[nodiscard]] std::vector<std::uint32_t> product_module(std::uint32_t workgroup, unsigned bits);

}  // namespace wye::vulkan
