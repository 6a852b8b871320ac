// SPDX-License-Identifier: Apache-2.0
//
// Copies between buffers of two devices, through host memory.
#pragma once

#include "exec/device/buffer.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Runs a copy and waits for its end. If both buffers are on one device, that device copies the
// bytes itself. Errors: those of `check_transfer`, and of the transfers on both devices.
[[nodiscard]] Result<void> copy_across(const registry::HandleTable& handles,
                                       const wye_transfer_desc& copy);

}  // namespace wye::exec
