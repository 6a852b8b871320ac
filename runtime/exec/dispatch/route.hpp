// SPDX-License-Identifier: Apache-2.0
//
// The route step of a dispatch: calls route::route, and keeps its result with the program. Enters
// no driver.
#pragma once

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "route/route.hpp"

namespace wye::exec {

// UNSUPPORTED with all reasons; the remedy names an open device that can run the launch, if any.
[[nodiscard]] Result<route::Route> route(const Context& context, LoadedProgram& program,
                                         const DeviceSession& session, const plan::Launch& launch,
                                         route::Demands demands);

}  // namespace wye::exec
