// SPDX-License-Identifier: Apache-2.0
//
// The self-test: compares the device's arithmetic with the host's on difficult inputs, since
// drivers advertise less than they support, and some do less than a program needs. Opens the device
// itself. Takes some 10 ms, and longer where the driver compiles slowly. Free-threaded.
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

[[nodiscard]] Result<Verdict> self_test(Plugin& plugin, const DeviceInfo& device);

}  // namespace wye::vulkan
