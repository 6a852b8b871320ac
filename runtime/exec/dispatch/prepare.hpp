// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program ahead of its dispatches: route, lower and compile without a launch.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/context.hpp"
#include "route/route.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// What decides a program's compiled forms, besides the sizes and parameters of a launch.
struct CompileOptions {
    plan::Count3 workgroup = {0, 0, 0};  // override; zeros: none
    std::uint32_t ulp_budget = 0;
    route::Demands demands;
    std::uint64_t profile = 0;  // its profile_id
};

// Compiles every form that a dispatch with these options may choose, makes the driver generate its
// code, and returns them. None for programs with grid barriers, whose kernels depend
// on the launch. Errors: INVALID_ARGUMENT for options, UNSUPPORTED with all reasons, those of
// compiling.
[[nodiscard]] Result<std::vector<CompiledRef>> compile_ahead(const Context& context,
                                                             LoadedProgram& program,
                                                             DeviceSession& session,
                                                             const CompileOptions& options,
                                                             CompileStats& stats);

// As above with the options of a plain dispatch. Fills the report except its header. UNSUPPORTED
// for programs with grid barriers.
[[nodiscard]] Result<void> prepare(Context& context, wye_program program, wye_device device,
                                   wye_prepare_report& report);

}  // namespace wye::exec
