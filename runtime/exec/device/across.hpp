// SPDX-License-Identifier: Apache-2.0
//
// Copies between the buffers of two devices, through host memory.
#pragma once

#include "exec/device/buffer.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Runs a copy and waits for its end: within the device if both buffers are on one. Errors as of
// check_transfer, and of the transfers of both devices.
[[nodiscard]] Result<void> copy_across(const registry::HandleTable& handles,
                                       const wye_transfer_desc& copy);

}  // namespace wye::exec
