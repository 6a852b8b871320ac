// SPDX-License-Identifier: Apache-2.0
//
// Routing: may this device run this program, and if not, why. The registry walks the candidates in
// the order of a selector; what is here gives each of them its reasons. Works on snapshots of the
// catalogue: opens nothing. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/launch.hpp"
#include "registry/capability.hpp"
#include "registry/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::route {

// What a program asks of any device, before the sizes of a launch are known.
[[nodiscard]] registry::Requirements requirements(const plan::ProgramPlan& plan);

// The device's most preferred artifact format that the host can produce; empty: none.
[[nodiscard]] std::string_view choose_format(const registry::DeviceInfo& device,
                                             std::span<const std::string_view> formats);

// Every reason against the device ("needs int64, has no"); empty: it fits. `formats` is what the
// host can lower to.
[[nodiscard]] std::vector<std::string> reasons_against(const registry::DeviceInfo& device,
                                                       const plan::ProgramPlan& plan,
                                                       const registry::Requirements& needs,
                                                       std::span<const std::string_view> formats);

// One launch on one device: UNSUPPORTED with all reasons. `cooperative` asks for grid_sync.
[[nodiscard]] Result<void> check_launch(const registry::DeviceInfo& device,
                                        const plan::ProgramPlan& plan, const plan::Launch& launch,
                                        bool cooperative,
                                        std::span<const std::string_view> formats);

}  // namespace wye::route
