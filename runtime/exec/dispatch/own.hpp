// SPDX-License-Identifier: Apache-2.0
//
// The own step of a dispatch: checks that the device is not lost and owns every resident buffer.
// The submit step checks again when it marks the buffers in flight. Does not call the driver.
#pragma once

#include <span>

#include "exec/device/session.hpp"
#include "exec/dispatch/resolve.hpp"
#include "plan/launch.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// DEVICE_LOST if the session's device, or that of a buffer, is lost. WRONG_OWNER names the first
// buffer of another device by list and index: inputs, then outputs, then the buffer of the grid.
[[nodiscard]] Result<void> own(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                               const DeviceSession& session, const Residents& residents,
                               std::span<const plan::Argument> arguments);

}  // namespace wye::exec
