// SPDX-License-Identifier: Apache-2.0
//
// Checks the claims of a saved verdict, on a few hundred inputs of the self-test in one dispatch.
// The file may be forged, or older than a driver that kept its name and version. [FREE]
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// Whether the self-test can give this verdict for this device.
[[nodiscard]] bool possible(const DeviceInfo& device, const Verdict& verdict);
// Checks on an opened device. Empty: all claims that let programs use native forms hold. Else the
// claim that does not hold, or why it could not be tested.
[[nodiscard]] std::string spot_check(Device& device, const Verdict& verdict);

}  // namespace wye::vulkan
