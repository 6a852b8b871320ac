// SPDX-License-Identifier: Apache-2.0
//
// A look at a SPIR-V module before a driver sees it: drivers do not check, and some crash. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::vulkan {

// COMPILE_FAILED unless `code` is a module that is whole, and has a compute entry point `entry`
// with as many invocations, where the module states its local size, as `workgroup`. What is inside
// the instructions is left to whoever wrote them.
[[nodiscard]] Result<void> check_module(std::span<const std::uint32_t> code, std::string_view entry,
                                        const std::array<std::uint32_t, 3>& workgroup);

}  // namespace wye::vulkan
