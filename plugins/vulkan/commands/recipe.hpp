// SPDX-License-Identifier: Apache-2.0
//
// What a command buffer was recorded from, so that an equal submit sends the same one again instead
// of recording it anew: a repeated launch costs one vkQueueSubmit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wye/abi.h"

namespace wye::vulkan {

using Recipe = std::vector<std::uint64_t>;

// Writes what `operations` are into `out`: equal recipes record equal commands. Buffers and
// programs count by serial, so nothing is taken for another at the same address. False, and `out`
// is not to be used: staged bytes belong to the operations, or the recipe would be long.
[[nodiscard]] bool describe(std::span<const wye_operation> operations, Recipe& out);

}  // namespace wye::vulkan
