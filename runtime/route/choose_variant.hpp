// SPDX-License-Identifier: Apache-2.0
//
// Chooses the native variant that replaces a program's body on a device, and explains why other
// variants were not chosen. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registry/open/device.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::route {

// Returns the index of the first variant whose format the device accepts and whose filter matches
// the device; ir::kNone if there is none. INVALID_ARGUMENT for a filter that is not a selector.
[[nodiscard]] Result<std::uint32_t> choose_variant(const registry::DeviceInfo& device,
                                                   const ir::Program& program);

struct VariantChoice {
    std::uint32_t chosen = ir::kNone;  // the result of choose_variant
    // Why each variant before the chosen one (each variant if none is chosen) was passed over, such
    // as "its format is not among those of the device (wye-program)".
    std::vector<std::string> passed;
};
// Explains the choice for users. Reads only the program's name, and the format, entry and filter of
// each variant.
[[nodiscard]] Result<VariantChoice> explain_variants(const registry::DeviceInfo& device,
                                                     const ir::Program& program);

}  // namespace wye::route
