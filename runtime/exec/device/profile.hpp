// SPDX-License-Identifier: Apache-2.0
//
// What a device can run and how it is made, as JSON: see wye/profile.h. Thread-safe.
#pragma once

#include "registry/device.hpp"
#include "registry/json.hpp"

namespace wye::exec {

[[nodiscard]] registry::Json operations_json(const registry::DeviceInfo& device);
[[nodiscard]] registry::Json profile_json(const registry::DeviceInfo& device);

}  // namespace wye::exec
