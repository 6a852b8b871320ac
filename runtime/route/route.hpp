// SPDX-License-Identifier: Apache-2.0
//
// The route step of a dispatch: compares a program's needs with a device's facts, and chooses the
// format and variant. The registry walks the candidates of a selector and calls this for the
// reasons against each. Works on snapshots of the catalogue. Pure; thread-safe.
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

// A program's needs of a device, before the sizes of a launch are known.
[[nodiscard]] registry::Requirements requirements(const plan::ProgramPlan& plan);

// The device's most preferred artifact format that the host can produce; empty: none.
[[nodiscard]] std::string_view choose_format(const registry::DeviceInfo& device,
                                             std::span<const std::string_view> formats);

// Every reason against the device; empty: it fits, with its native variants if it takes no format
// that the host can lower to (`formats`).
[[nodiscard]] std::vector<std::string> reasons_against(const registry::DeviceInfo& device,
                                                       const plan::ProgramPlan& plan,
                                                       const registry::Requirements& needs,
                                                       std::span<const std::string_view> formats);

// The device limits that every launch is compared with.
struct Limits {
    plan::Count3 max_groups = {1, 1, 1};          // per axis; 1 where it is not reported
    std::uint64_t max_buffer_bytes = UINT64_MAX;  // not reported: left to the driver

    // A larger grid runs folded: as several dispatches with their workgroup ids.
    [[nodiscard]] bool folds(const plan::Count3& groups) const noexcept {
        return groups[0] > max_groups[0] || groups[1] > max_groups[1] || groups[2] > max_groups[2];
    }
};
[[nodiscard]] Limits limits(const registry::DeviceInfo& device);

// A request's options for its route.
struct Demands {
    bool cooperative = false;  // needs grid_sync
    bool variants = false;     // a native variant may run in place of the body
};

// True if the device fits with a native variant only, and the request allows none.
[[nodiscard]] bool lacks_only_variants(const registry::DeviceInfo& device,
                                       const plan::ProgramPlan& plan, const Demands& demands,
                                       std::span<const std::string_view> formats);

// The code that runs on the device.
struct Route {
    std::string_view format;            // of the artifact; borrowed from `formats` or the program
    std::uint32_t variant = ir::kNone;  // the native variant in place of the body
};

// Routes one launch on one device. Errors: UNSUPPORTED with all reasons; those of choose_variant.
[[nodiscard]] Result<Route> route(const registry::DeviceInfo& device, const plan::ProgramPlan& plan,
                                  const plan::Launch& launch, const Demands& demands,
                                  std::span<const std::string_view> formats);

}  // namespace wye::route
