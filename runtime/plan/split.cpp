// SPDX-License-Identifier: Apache-2.0
#include "plan/split.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::plan {
namespace {

std::uint32_t pieces(std::uint32_t groups, std::uint32_t box) {
    return groups / box + (groups % box != 0 ? 1U : 0U);
}

}  // namespace

Result<Split> split_grid(const Count3& groups, const Count3& limit) {
    Split out;
    out.groups = groups;
    std::uint64_t boxes = 1;
    bool in_pieces = false;  // whether a lower axis is split
    for (std::size_t axis = 0; axis < 3; ++axis) {
        out.box[axis] = in_pieces ? 1U : std::max(std::min(groups[axis], limit[axis]), 1U);
        in_pieces = in_pieces || out.box[axis] < groups[axis];
        boxes *= std::max(pieces(groups[axis], out.box[axis]), 1U);  // the product is below 2^32
        if (boxes > kMaxBoxes)
            return Error(
                Code::LIMIT_EXCEEDED,
                fmt::format("a grid of {}x{}x{} workgroups needs {} or more launches on "
                            "a device that takes {}x{}x{} at once",
                            groups[0], groups[1], groups[2], boxes, limit[0], limit[1], limit[2]),
                "Fix: use fewer workgroups, each doing more work");
    }
    out.boxes = static_cast<std::uint32_t>(boxes);
    return out;
}

Split::Box Split::operator[](std::uint32_t index) const {
    Box out{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint32_t count = std::max(pieces(groups[axis], box[axis]), 1U);
        out.offset[axis] = index % count * box[axis];
        out.groups[axis] = std::min(box[axis], groups[axis] - out.offset[axis]);
        index /= count;
    }
    return out;
}

}  // namespace wye::plan
