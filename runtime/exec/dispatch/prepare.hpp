// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program ahead of its dispatches: route, lower and compile without a launch.
#pragma once

#include "exec/context.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Compiles every form that a plain dispatch may choose, and makes the driver generate its code.
// Fills the report except its header. UNSUPPORTED for programs with grid barriers, whose kernels
// depend on the launch.
[[nodiscard]] Result<void> prepare(Context& context, wye_program program, wye_device device,
                                   wye_prepare_report& report);

}  // namespace wye::exec
