// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program ahead of its dispatches: route, lower and compile without a launch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/context.hpp"
#include "route/route.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// The options that decide a program's compiled forms, besides the sizes and parameters of a launch.
struct CompileOptions {
    plan::Count3 workgroup = {0, 0, 0};  // zeros: the program's own
    std::uint32_t ulp_budget = 0;
    route::Demands demands;
    std::uint64_t profile = 0;  // profile_id of the profile
};

// Compiles and returns every form that a dispatch with these options may choose, and makes the
// driver generate their code. Returns none for a program that is split at its grid barriers, since
// its kernels depend on the launch. Errors: INVALID_ARGUMENT for bad options, UNSUPPORTED with all
// reasons, and the errors of compile.
[[nodiscard]] Result<std::vector<CompiledRef>> compile_ahead(
    const Context& context, LoadedProgram& program, DeviceSession& session,
    const CompileOptions& options, CompileStats& stats,
    std::optional<Clock::time_point> deadline = {});
// The checks of `compile_ahead`, without compiling.
[[nodiscard]] Result<void> check_ahead(const Context& context, LoadedProgram& program,
                                       const DeviceSession& session, const CompileOptions& options);

// The program to prepare, and its device.
struct Prepared {
    registry::Pin program, device;
    Routed routed;
    [[nodiscard]] DeviceSession& session() const { return device.as<DeviceSession>(); }
};
// Finds the program and the device by their handles. If `device` is 0, chooses a device as for a
// dispatch without buffers. UNSUPPORTED for programs with grid barriers.
[[nodiscard]] Result<Prepared> find_prepared(Context& context, wye_program program,
                                             wye_device device);

// Like `compile_ahead`, with the options of a plain dispatch. Fills the report except its header.
// UNSUPPORTED for programs with grid barriers.
[[nodiscard]] Result<void> prepare(Context& context, wye_program program, wye_device device,
                                   wye_prepare_report& report);

}  // namespace wye::exec
