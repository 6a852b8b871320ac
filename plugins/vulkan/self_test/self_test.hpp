// SPDX-License-Identifier: Apache-2.0
//
// Tries the device's arithmetic on nasty inputs and compares it with the host's, because drivers
// advertise less than they do, and some do less than a program needs. Opens the device for itself;
// takes some 10 ms, and longer where the driver compiles slowly. [FREE]
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

[[nodiscard]] Result<Verdict> self_test(Plugin& plugin, const DeviceInfo& device);

}  // namespace wye::vulkan
