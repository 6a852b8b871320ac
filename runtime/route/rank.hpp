// SPDX-License-Identifier: Apache-2.0
//
// Scores a device for the selector `auto`, with the reasons. Pure; thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "registry/choose/catalogue.hpp"

namespace wye::route {

// A higher score is better; search order breaks ties. The resulting order: GPUs, accelerators, the
// CPU without a driver, the CPU behind a driver, other devices. Last come devices that take no
// format that the host lowers to (`formats`).
[[nodiscard]] registry::Score rank(const registry::DeviceInfo& device,
                                   std::span<const std::string_view> formats);

}  // namespace wye::route
