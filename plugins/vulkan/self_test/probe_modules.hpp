// SPDX-License-Identifier: Apache-2.0
//
// The SPIR-V modules of the self-test. Pure. Workgroups of one axis; entry point "main"; storage
// buffers in set 0.
#pragma once

#include <cstdint>
#include <vector>

#include "vulkan/self_test/probe_inputs.hpp"

namespace wye::vulkan {

// The float-control modes that a module asks for, as lowered programs do.
struct ProbeModes {
    bool denorm_preserve = false;
    bool sign_nan = false;  // SignedZeroInfNanPreserve
    bool nearest = false;   // RoundingModeRTE
};

// Bindings 0 to 2: a, b, c. Binding 3: the results, kProbeCount of each operation after the other.
[[nodiscard]] std::vector<std::uint32_t> float_module(std::uint32_t workgroup, unsigned bits,
                                                      const ProbeModes& modes,
                                                      const std::vector<ProbeOp>& ops);
// Binding 0: f32, 1: f16 made of them. Binding 2: f16, 3: f32 made of them. Binding 4:
// those of binding 1 as f32 again, without a way through memory. kProbeCount each.
[[nodiscard]] std::vector<std::uint32_t> convert_module(std::uint32_t workgroup,
                                                        const ProbeModes& modes);

// What the spot check asks of a device.
struct SpotPlan {
    std::vector<ProbeOp> f32_ops, f64_ops;  // empty: nothing of this width
    ProbeModes f32_modes, f64_modes;
    bool f16 = false;  // conversions; f32_modes hold for them
};
// Rows of kSpotCount elements each. Binding 0, where f32 or f16 is asked for: a, b, c, the result
// of each operation, then f32 made of the given f16, and a made f16 and f32 again. The next one,
// where f64 is asked for: likewise, without conversions. The next one, for f16: given ones, and
// those made of a. The last one, words: rounds, and the number that a loop made.
[[nodiscard]] std::vector<std::uint32_t> spot_module(std::uint32_t workgroup, const SpotPlan& plan);

// Binding 0: word 0 is a number of rounds; word 1 becomes the number that a loop made.
[[nodiscard]] std::vector<std::uint32_t> loop_module(std::uint32_t workgroup);

}  // namespace wye::vulkan
