// SPDX-License-Identifier: Apache-2.0
//
// Admission: the first stage of a dispatch. Holds a request against its program and works out every
// size, the grid and the parameter block. Pure: no driver, no registry, no allocation on success.
// Thread-safe.
//
// Order of the checks: the request's options, parameters,
// arguments (known, once, complete, of a fitting kind), sizes, grid, overlap, the output limit.
#pragma once

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

[[nodiscard]] Result<void> admit(const ProgramPlan& plan, const Request& request, Launch& out);

// ---- The parts of admission, in order; each writes its own members of `out` -------------------

// UNSUPPORTED with the construct's or option's name; INVALID_ARGUMENT for a bad override.
[[nodiscard]] Result<void> admit_options(const ProgramPlan& plan, const Request& request,
                                         Launch& out);
[[nodiscard]] Result<void> admit_params(const ProgramPlan& plan, const Request& request,
                                        Launch& out);
// Writes plan.params.size bytes, as the kernel reads them.
[[nodiscard]] Result<void> pack_params(const ProgramPlan& plan,
                                       std::span<const std::uint64_t> params, std::byte* block);
[[nodiscard]] Result<void> admit_arguments(const ProgramPlan& plan, const Request& request,
                                           Launch& out);
// Counts by buffer index, `shared` included.
using Lengths = std::uint64_t[WYE_LIMIT_BUFFERS];
[[nodiscard]] Result<void> admit_sizes(const ProgramPlan& plan, const Request& request,
                                       Lengths& lengths, Launch& out);
[[nodiscard]] Result<void> admit_grid(const ProgramPlan& plan, const Request& request,
                                      const Lengths& lengths, Launch& out);
// Which outputs need a zero fill; after sizes and grid.
void plan_zero_fill(const ProgramPlan& plan, const Lengths& lengths, Launch& out);
// The program sees zeros in this output before it stores: code that promises nothing about what it
// stores (native variants) needs the fill wherever this holds.
[[nodiscard]] bool starts_at_zero(const ProgramPlan& plan, const BoundBuffer& bound);
[[nodiscard]] Result<void> admit_overlap(const ProgramPlan& plan, const Launch& launch);

}  // namespace wye::plan
