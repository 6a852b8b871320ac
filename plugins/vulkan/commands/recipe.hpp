// SPDX-License-Identifier: Apache-2.0
//
// Recipe: a description of the commands in a command buffer. A submit with an equal recipe reuses
// the command buffer instead of recording it again, so a repeated launch costs one vkQueueSubmit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wye/abi.h"

namespace wye::vulkan {

using Recipe = std::vector<std::uint64_t>;

// Writes a description of `operations` to `out`: equal recipes record equal commands. Buffers and
// programs are identified by serial, since addresses may be reused. Returns false, with `out`
// invalid, if an operation needs staged bytes, or the recipe would be too long.
[[nodiscard]] bool describe(std::span<const wye_operation> operations, Recipe& out);

}  // namespace wye::vulkan
