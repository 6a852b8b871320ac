// SPDX-License-Identifier: Apache-2.0
//
// Finds facts and members of a device by name, for --prop. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

// The property of that name; null: the device has no such property. `_bytes` and `device_` may be
// left out of the name.
[[nodiscard]] const Report* property_of(const Report& device, const std::string& name);

// INVALID_ARGUMENT, with the nearest names, if no device of the report has the property.
[[nodiscard]] std::optional<Error> unknown_property(const Report& report, const std::string& name);

}  // namespace wye::tool
