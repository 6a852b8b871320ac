// SPDX-License-Identifier: Apache-2.0
//
// LaunchShape: the part of an artifact that launches of lowered code need. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "wye/sdk/command.hpp"
#include "wye/sdk/errors.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

struct LaunchShape {
    std::string label;  // the artifact's label, else the entry's name
    std::string entry;
    std::vector<wye_slot> slots;
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t binding_count = 0, params_size = 0;
    bool has_grid = false, has_trap = false, has_grid_barrier = false;

    // Errors: UNSUPPORTED for a kind of slot that this header does not know; INVALID_PROGRAM for a
    // slot that names no binding. `plugin` is the name in messages, such as "OpenCL".
    // `grid_barriers`: the plugin supports WYE_SLOT_GRID_BARRIER.
    [[nodiscard]] static Result<LaunchShape> of(std::string_view plugin,
                                                const wye_artifact& artifact,
                                                bool grid_barriers = false);

    [[nodiscard]] std::uint64_t invocations() const {
        return std::uint64_t{workgroup[0]} * workgroup[1] * workgroup[2];
    }
    [[nodiscard]] ArgumentSizes sizes() const { return {binding_count, params_size}; }
    // Checks a dispatch. Error: UNSUPPORTED for a launch of part of a grid, if the artifact has no
    // grid slot; or for a launch that is not cooperative, if the artifact has a grid barrier.
    [[nodiscard]] Result<void> check(const wye_dispatch_op& op) const {
        if (has_grid_barrier && (op.flags & WYE_LAUNCH_COOPERATIVE) == 0 && op.groups[0] != 0)
            return not_cooperative();
        return covers_grid(op) ? Result<void>() : errors::folded_grid(label);
    }
    // False: the dispatch is a launch of part of a grid, and the artifact has no grid slot.
    [[nodiscard]] bool covers_grid(const wye_dispatch_op& op) const {
        if (has_grid) return true;
        // An indirect launch has no logical grid of its own: the kernel sees the grid that runs.
        return (op.group_offset[0] | op.group_offset[1] | op.group_offset[2]) == 0 &&
               ((op.flags & WYE_LAUNCH_INDIRECT) != 0 ||
                std::memcmp(op.logical_groups, op.groups, sizeof op.groups) == 0);
    }

  private:
    [[nodiscard]] Error not_cooperative() const;
};

// The value of a WYE_SLOT_GRID.
struct GridWords {
    std::uint32_t words[6];

    explicit GridWords(const wye_dispatch_op& op)
        : words{op.group_offset[0],   op.group_offset[1],   op.group_offset[2],
                op.logical_groups[0], op.logical_groups[1], op.logical_groups[2]} {}
};

}  // namespace wye::sdk
