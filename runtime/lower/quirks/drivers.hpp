// SPDX-License-Identifier: Apache-2.0
//
// Which workarounds a device gets: by what its driver says of itself, and by what the plugin's
// self-test found. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/quirks/quirks.hpp"

namespace wye::lower {

inline constexpr std::uint32_t kDriverNvidia = 1;    // all three APIs
inline constexpr std::uint32_t kDriverMesa = 2;      // every Vulkan driver of Mesa: one compiler
inline constexpr std::uint32_t kDriverLlvmpipe = 4;  // lavapipe
inline constexpr std::uint32_t kDriverPocl = 8;
// Programs were run on these in large numbers, so what is not listed for them is not needed. A
// driver of which this cannot be said gets the cautious set, too.
inline constexpr std::uint32_t kTestedDrivers = kDriverNvidia | kDriverLlvmpipe | kDriverPocl;

// Facts of a device, borrowed.
struct DriverIdentity {
    std::string_view platform = {};  // the facts `platform` and `driver`
    std::string_view driver = {};
    bool whole_workgroups = false;    // the fact `workgroup_loops`
    bool folds_literal_zero = false;  // of the self-test
};

// kDriver... that it is, or 0.
[[nodiscard]] std::uint32_t driver_bits(const DriverIdentity& device);
// Major * 1000 + minor of the first number in a driver's text ("Mesa 22.3.6 (LLVM 15.0.6)": 22003).
// 0: there is none.
[[nodiscard]] std::uint32_t driver_version(std::string_view text);

[[nodiscard]] QuirkSet quirks_of(const DriverIdentity& device);

}  // namespace wye::lower
