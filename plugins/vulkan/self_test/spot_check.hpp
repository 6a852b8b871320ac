// SPDX-License-Identifier: Apache-2.0
//
// Checks the claims of a saved verdict, on a few hundred inputs of the self-test in one dispatch.
// The verdict's file may be forged, or older than a driver that changed but kept its name and
// version. Free-threaded.
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// Whether the self-test of this device could have this result.
[[nodiscard]] bool possible(const DeviceInfo& device, const Verdict& verdict);
// Checks a verdict on an opened device. Returns an empty text if all claims that let programs use
// native operations hold, and otherwise the claim that does not hold, or why the check could not
// run.
[[nodiscard]] std::string spot_check(Device& device, const Verdict& verdict);

}  // namespace wye::vulkan
