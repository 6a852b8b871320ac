// SPDX-License-Identifier: Apache-2.0
//
// Looks once at a device for what a remembered verdict claims of it, on a few hundred inputs of the
// self-test in one dispatch: the file may be older than a driver that kept its name, or forged.
// [FREE]
#pragma once

#include "vulkan/device.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// Empty: everything that lets programs run in native forms was seen to hold. Else what was not, or
// why it could not be tried.
[[nodiscard]] std::string spot_check(Plugin& plugin, const DeviceInfo& device,
                                     const Verdict& verdict);

}  // namespace wye::vulkan
