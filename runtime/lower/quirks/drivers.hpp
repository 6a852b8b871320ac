// SPDX-License-Identifier: Apache-2.0
//
// Chooses the workarounds for a device from its driver's name and version and from the plugin's
// self-test. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/quirks/quirks.hpp"

namespace wye::lower {

inline constexpr std::uint32_t kDriverNvidia = 1;  // NVIDIA's CUDA, Vulkan and OpenCL drivers
// Every Vulkan driver of Mesa, since they share one compiler.
inline constexpr std::uint32_t kDriverMesa = 2;
inline constexpr std::uint32_t kDriverLlvmpipe = 4;  // lavapipe
inline constexpr std::uint32_t kDriverPocl = 8;
// Drivers that were tested with large numbers of programs, so they need only the entries that list
// them. All other drivers also get the cautious set.
inline constexpr std::uint32_t kTestedDrivers = kDriverNvidia | kDriverLlvmpipe | kDriverPocl;

// Facts of a device. The caller's strings must outlive the object.
struct DriverIdentity {
    std::string_view platform = {};  // the facts `platform` and `driver`
    std::string_view driver = {};
    bool whole_workgroups = false;    // the fact `workgroup_loops`
    bool folds_literal_zero = false;  // the fact `folds_literal_zero`, from a self-test
};

// Returns the kDriver... bits of the device, or 0 if it has none of these drivers.
[[nodiscard]] std::uint32_t driver_bits(const DriverIdentity& device);
// Returns major * 1000 + minor of the first version number in a driver's text, or 0 if it has none.
// "Mesa 22.3.6 (LLVM 15.0.6)" gives 22003.
[[nodiscard]] std::uint32_t driver_version(std::string_view text);

[[nodiscard]] QuirkSet quirks_of(const DriverIdentity& device);

}  // namespace wye::lower
