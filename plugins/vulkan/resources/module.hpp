// SPDX-License-Identifier: Apache-2.0
//
// Checks a SPIR-V module before a driver gets it: drivers do not check, and some crash. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::vulkan {

// COMPILE_FAILED unless `code` is a complete module with a compute entry point `entry` whose local
// size, if it has one, has as many invocations as `workgroup`. Does not check the contents of
// instructions.
[[nodiscard]] Result<void> check_module(std::span<const std::uint32_t> code, std::string_view entry,
                                        const std::array<std::uint32_t, 3>& workgroup);

}  // namespace wye::vulkan
