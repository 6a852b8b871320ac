// SPDX-License-Identifier: Apache-2.0
//
// Admission: the first step of a dispatch. Checks a request against its program and computes every
// size, the grid and the parameter block. Pure: no driver, no registry, no allocation on success.
// Thread-safe.
//
// Order of the checks: options, parameters, arguments (unknown, duplicate and missing ones, and
// kinds), sizes, grid, overlap, output limit.
#pragma once

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

[[nodiscard]] Result<void> admit(const ProgramPlan& plan, const Request& request, Launch& out);

// ---- The parts of admission, in order; each writes different members of `out` -----------------

// Checks the options. Errors: UNSUPPORTED with the name of the construct or option;
// INVALID_ARGUMENT for a bad workgroup size, or for a grid, grid buffer, element count or fixpoint
// that contradicts its flag.
[[nodiscard]] Result<void> admit_options(const ProgramPlan& plan, const Request& request,
                                         Launch& out);
[[nodiscard]] Result<void> admit_params(const ProgramPlan& plan, const Request& request,
                                        Launch& out);
// Packs the parameters as the kernel reads them: plan.params.size bytes.
[[nodiscard]] Result<void> pack_params(const ProgramPlan& plan,
                                       std::span<const std::uint64_t> params, std::byte* block);
[[nodiscard]] Result<void> admit_arguments(const ProgramPlan& plan, const Request& request,
                                           Launch& out);
// Element counts by buffer index, including those of `shared` arrays.
using Lengths = std::uint64_t[WYE_LIMIT_BUFFERS];
[[nodiscard]] Result<void> admit_sizes(const ProgramPlan& plan, const Request& request,
                                       Lengths& lengths, Launch& out);
[[nodiscard]] Result<void> admit_grid(const ProgramPlan& plan, const Request& request,
                                      const Lengths& lengths, Launch& out);
// Whether the program's body is deterministic in a launch of at most `groups` workgroups on each
// axis. `params` and `lengths` are as in ir::evaluate_size.
[[nodiscard]] bool is_deterministic(const ProgramPlan& plan, std::span<const std::uint64_t> params,
                                    std::span<const std::uint64_t> lengths, const Count3& groups,
                                    const Count3& workgroup);
// Marks the outputs that need a zero fill. Called after sizes and grid are known.
void plan_zero_fill(const ProgramPlan& plan, const Lengths& lengths, Launch& out);
// Whether the language defines that the output starts at zero. If a native variant runs, such an
// output must be filled with zeros, since the stores of a variant are unknown.
[[nodiscard]] bool starts_at_zero(const ProgramPlan& plan, const BoundBuffer& bound);
[[nodiscard]] Result<void> admit_overlap(const ProgramPlan& plan, const Launch& launch);

}  // namespace wye::plan
