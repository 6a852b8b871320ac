// SPDX-License-Identifier: Apache-2.0
//
// The operations and the profile of a device as JSON: see wye/profile.h. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/device.hpp"
#include "registry/json.hpp"

namespace wye::exec {

[[nodiscard]] registry::Json operations_json(const registry::DeviceInfo& device);
[[nodiscard]] registry::Json profile_json(const registry::DeviceInfo& device);
// The reason why applications do not have a capability, although plugins may offer it: no call of
// the library uses it. Empty for other facts. `key`: enum wye_fact_key.
[[nodiscard]] std::string_view why_not_offered(std::uint32_t key) noexcept;

}  // namespace wye::exec
