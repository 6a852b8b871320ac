// SPDX-License-Identifier: Apache-2.0
//
// Chooses the native variant that replaces a program's body on a device, and says why the others do
// not. Pure; thread-safe.
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
    std::uint32_t chosen = ir::kNone;  // as choose_variant
    // Why each variant before that one, or each if there is none, was passed over: "its format is
    // not among those of the device (wye-program)".
    std::vector<std::string> passed;
};
// Explains the choice to people. Reads only the program's name, and format, entry and filter of
// its variants.
[[nodiscard]] Result<VariantChoice> explain_variants(const registry::DeviceInfo& device,
                                                     const ir::Program& program);

}  // namespace wye::route
