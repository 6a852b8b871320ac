// SPDX-License-Identifier: Apache-2.0
//
// The route step of a dispatch: asks route::route whether and how the device runs the launch, and
// remembers the answer with the program. Enters no driver.
#pragma once

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "route/route.hpp"

namespace wye::exec {

// UNSUPPORTED with all reasons, and with an open device that can run the launch, if there is one.
[[nodiscard]] Result<route::Route> route(const Context& context, LoadedProgram& program,
                                         const DeviceSession& session, const plan::Launch& launch,
                                         route::Demands demands);

}  // namespace wye::exec
