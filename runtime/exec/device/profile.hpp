// SPDX-License-Identifier: Apache-2.0
//
// The operations and the profile of a device as JSON: see wye/profile.h. Free-threaded.
#pragma once

#include "registry/json.hpp"
#include "registry/open/device.hpp"

namespace wye::exec {

[[nodiscard]] registry::Json operations_json(const registry::DeviceInfo& device);
[[nodiscard]] registry::Json profile_json(const registry::DeviceInfo& device);

}  // namespace wye::exec
