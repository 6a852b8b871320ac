// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/barriers.hpp"

namespace wye::vulkan {
namespace {

bool conflict(const Access& a, const Access& b) {
    if (!(a.writes || b.writes)) return false;
    if (a.buffer == kAnyBuffer || b.buffer == kAnyBuffer) return a.size != 0 && b.size != 0;
    if (a.buffer != b.buffer) return false;
    return a.offset < b.offset + b.size && b.offset < a.offset + a.size && a.size != 0 &&
           b.size != 0;
}

}  // namespace

bool BarrierPlanner::conflicts(std::span<const Access> accesses) const {
    for (const Open& earlier : open_)
        for (const Access& access : accesses)
            if (conflict(earlier.access, access)) return true;
    return false;
}

std::optional<Barrier> BarrierPlanner::before(Stage stage, std::span<const Access> accesses) {
    std::optional<Barrier> out;
    if (open_.size() + accesses.size() > kMostOpen || conflicts(accesses)) {
        out.emplace();
        for (const Open& earlier : open_) {
            out->after_compute = out->after_compute || earlier.stage == Stage::Compute;
            out->after_transfer = out->after_transfer || earlier.stage == Stage::Transfer;
        }
        open_.clear();
    }
    for (const Access& access : accesses)
        if (access.size != 0) open_.push_back({access, stage});
    return out;
}

}  // namespace wye::vulkan
