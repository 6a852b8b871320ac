// SPDX-License-Identifier: Apache-2.0
//
// The route step of a dispatch: compares a program's needs with a device's facts, and chooses the
// format and variant. For each candidate of a selector, the registry asks this code for the reasons
// against it. Works on a snapshot of the catalogue. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/launch.hpp"
#include "registry/choose/capability.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::route {

// Returns what a program needs from a device, as far as it is known before the sizes of a launch.
[[nodiscard]] registry::Requirements requirements(const plan::ProgramPlan& plan);

// Returns the device's most preferred artifact format among those that the library can produce
// (`formats`), or an empty text if there is none.
[[nodiscard]] std::string_view choose_format(const registry::DeviceInfo& device,
                                             std::span<const std::string_view> formats);

// Returns every reason against the device; empty: the device fits. `formats`: the formats that the
// host can lower to. A device that accepts none of them needs a native variant of the program.
[[nodiscard]] std::vector<std::string> reasons_against(const registry::DeviceInfo& device,
                                                       const plan::ProgramPlan& plan,
                                                       const registry::Requirements& needs,
                                                       std::span<const std::string_view> formats);

// The device limits that every launch is compared with.
struct Limits {
    plan::Count3 max_groups = {1, 1, 1};  // per axis; 1 if not reported
    // UINT64_MAX if not reported: the driver then checks the size.
    std::uint64_t max_buffer_bytes = UINT64_MAX;
    std::uint64_t memory_bytes = UINT64_MAX;  // likewise
    bool grid_sync = false;                   // whether all workgroups of a launch can run at once
    // The offset of a range that is bound to a program must be a multiple of this. 1 if not
    // reported: the driver then checks the offset.
    std::uint64_t buffer_alignment = 1;

    // Whether a grid exceeds the limits and must run folded, as several dispatches
    // (plan/split.hpp).
    [[nodiscard]] bool folds(const plan::Count3& groups) const noexcept {
        return groups[0] > max_groups[0] || groups[1] > max_groups[1] || groups[2] > max_groups[2];
    }
};
[[nodiscard]] Limits limits(const registry::DeviceInfo& device);

// The options of a request that influence its route.
struct Demands {
    bool cooperative = false;  // needs grid_sync, unless the body is split at its grid barriers
    bool variants = false;     // a native variant may run in place of the body
};

// Whether the device fits only if the request allows native variants.
[[nodiscard]] bool lacks_only_variants(const registry::DeviceInfo& device,
                                       const plan::ProgramPlan& plan, const Demands& demands,
                                       std::span<const std::string_view> formats);

// Returns the demands of a launch on a device with these limits, without
//   - native variants, if the launch must be folded;
//   - a cooperative launch, if no variant may run and the body is split at its grid barriers.
[[nodiscard]] Demands demands_on(const Limits& limits, const plan::ProgramPlan& plan,
                                 const plan::Launch& launch, Demands demands);

// The sizes of a launch that are compared with a device's limits, in bytes.
struct LaunchBytes {
    std::uint64_t largest = 0;  // of one buffer; `shared` arrays do not count
    std::uint64_t total = 0;    // that the library allocates for the launch
    friend bool operator==(const LaunchBytes&, const LaunchBytes&) = default;
};
[[nodiscard]] LaunchBytes bytes_of(const plan::Launch& launch);

// The code that runs on the device.
struct Route {
    std::string_view format;            // of the artifact; borrowed from `formats` or the program
    std::uint32_t variant = ir::kNone;  // index of the native variant that replaces the body
};

// Like `reasons_against`, for one launch. `out` is set if there is no reason. Errors: those of
// choose_variant.
[[nodiscard]] Result<std::vector<std::string>> reasons_against_launch(
    const registry::DeviceInfo& device, const plan::ProgramPlan& plan, const plan::Launch& launch,
    const Demands& demands, std::span<const std::string_view> formats, Route& out);

// Routes one launch on one device. Errors: UNSUPPORTED with all reasons; those of choose_variant.
[[nodiscard]] Result<Route> route(const registry::DeviceInfo& device, const plan::ProgramPlan& plan,
                                  const plan::Launch& launch, const Demands& demands,
                                  std::span<const std::string_view> formats);

}  // namespace wye::route
