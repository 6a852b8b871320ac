// SPDX-License-Identifier: Apache-2.0
//
// Folded grids: a grid above the device's limit is split into boxes. Each box is one dispatch,
// whose kernels see the workgroup ids and counts of the whole grid. A kernel computes its workgroup
// id by counting from the box's first workgroup in the order of the whole grid, x fastest. So a box
// must be contiguous in that order: if an axis is split, the box has one workgroup along every
// higher axis. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

inline constexpr std::uint64_t kMaxBoxes = 4096;  // in one launch

struct Split {
    Count3 groups = {0, 0, 0};  // workgroups of the whole launch
    Count3 box = {0, 0, 0};     // workgroups of the largest box
    std::uint32_t boxes = 1;

    struct Box {
        Count3 offset;
        Count3 groups;
    };
    [[nodiscard]] Box operator[](std::uint32_t index) const;
};

// Splits a grid into boxes of at most `limit` workgroups on each axis. No axis of `limit` may be 0.
// Error: LIMIT_EXCEEDED if more than kMaxBoxes are needed.
[[nodiscard]] Result<Split> split_grid(const Count3& groups, const Count3& limit);

}  // namespace wye::plan
