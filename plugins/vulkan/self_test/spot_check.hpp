// SPDX-License-Identifier: Apache-2.0
//
// Checks the claims of a saved verdict once, on a few hundred inputs of the self-test in one
// dispatch: the file may be forged, or older than a driver that kept its name and version. [FREE]
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// Whether the self-test can give such a verdict for such a device.
[[nodiscard]] bool possible(const DeviceInfo& device, const Verdict& verdict);
// On an opened device. Empty: every claim that lets programs use native forms holds. Else the claim
// that does not, or why it could not be tested.
[[nodiscard]] std::string spot_check(Device& device, const Verdict& verdict);

}  // namespace wye::vulkan
