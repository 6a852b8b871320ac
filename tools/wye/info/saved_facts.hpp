// SPDX-License-Identifier: Apache-2.0
//
// Converts the facts of a saved device to the registry's values, so that the registry's comparisons
// and selectors work on saved reports. Pure.
#pragma once

#include <optional>

#include "document.hpp"
#include "registry/open/device.hpp"
#include "registry/open/facts.hpp"

namespace wye::tool {

// Converts a value to `type`, one of enum wye_fact_type in the ABI header; nullopt: the value is
// not reported, or has another type.
[[nodiscard]] std::optional<registry::FactValue> fact_of(const Report& value, std::uint32_t type);

[[nodiscard]] registry::Facts facts_of(const Report& device);

// Returns a device with the members that selectors and filters read.
[[nodiscard]] registry::DeviceInfo device_of(const Report& device);

}  // namespace wye::tool
