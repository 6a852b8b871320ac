// SPDX-License-Identifier: Apache-2.0
//
// The own step of a dispatch: the device is there, and owns every resident buffer. Reads the table
// of handles as it is now; submit checks again, with the buffers marked in flight. Enters no
// driver.
#pragma once

#include <span>

#include "exec/device/session.hpp"
#include "exec/dispatch/resolve.hpp"
#include "plan/launch.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// DEVICE_LOST, of the session or of the one that a buffer is on. WRONG_OWNER names the first buffer
// of another device by list and index: inputs, then outputs.
[[nodiscard]] Result<void> own(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                               const DeviceSession& session, const Residents& residents,
                               std::span<const plan::Argument> arguments);

}  // namespace wye::exec
