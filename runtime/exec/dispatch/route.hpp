// SPDX-License-Identifier: Apache-2.0
//
// The route step of a dispatch: calls route::route and caches its result in the program. Does not
// call the driver.
#pragma once

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "route/route.hpp"

namespace wye::exec {

// Errors: UNSUPPORTED with all reasons. The fix names another device that can run the launch, if
// there is one. `routed`: enum wye_routed, who named the device.
[[nodiscard]] Result<route::Route> route(const Context& context, LoadedProgram& program,
                                         const DeviceSession& session, const plan::Launch& launch,
                                         route::Demands demands,
                                         std::uint32_t routed = WYE_ROUTED_NAMED);

}  // namespace wye::exec
