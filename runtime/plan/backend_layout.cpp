// SPDX-License-Identifier: Apache-2.0
#include "plan/backend_layout.hpp"

#include <algorithm>
#include <utility>

namespace wye::plan {
namespace {

constexpr std::uint32_t kGridBytes = 24, kTrapElement = 4;

std::uint32_t value_bytes(const wye_slot& slot, std::uint32_t params_size) {
    if (slot.kind == WYE_SLOT_PARAMS) return params_size;
    return slot.kind == WYE_SLOT_GRID ? kGridBytes : 8;  // for a length or the opaque zero
}

LayoutSlot buffer_slot(const BindingPlan& plan, const wye_slot& slot) {
    LayoutSlot out;
    out.read_only = slot.access == 1;
    if (slot.binding < plan.arguments.size()) {
        const Binding& binding = plan.bindings[plan.arguments[slot.binding]];
        out.kind = binding.role == ir::Role::UNIFORM ? LayoutClass::Uniform : LayoutClass::Storage;
        out.element_size = binding.element_size;
    }
    return out;
}

}  // namespace

BackendLayout backend_layout(const BindingPlan& plan, std::span<const wye_slot> slots,
                             std::uint32_t params_size, bool push_constants) {
    const auto buffers = static_cast<std::uint32_t>(plan.arguments.size());
    BackendLayout out;
    std::uint32_t block = 0;  // size of the block in bytes
    for (std::uint32_t i = 0; i < slots.size(); ++i) {
        const wye_slot& slot = slots[i];
        LayoutSlot made;
        if (slot.kind == WYE_SLOT_BUFFER) {
            made = buffer_slot(plan, slot);
            made.binding = push_constants ? slot.binding : i;
        } else if (slot.kind == WYE_SLOT_TRAP || slot.kind == WYE_SLOT_GRID_BARRIER) {
            made.element_size = kTrapElement;
            made.binding = push_constants ? buffers : i;
        } else if (push_constants) {
            block = std::max(block, slot.offset + value_bytes(slot, params_size));
            continue;
        } else {
            made = {0, i, LayoutClass::Uniform, true, value_bytes(slot, params_size)};
        }
        out.push_back(made);
    }
    if (block != 0) out.push_back({0, buffers + 1, LayoutClass::Uniform, true, block});
    std::ranges::sort(out);
    const auto same = [](const LayoutSlot& a, const LayoutSlot& b) {
        return a.group == b.group && a.binding == b.binding;
    };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    return out;
}

LayoutFingerprint layout_fingerprint(const BackendLayout& layout) {
    std::vector<std::uint32_t> words;
    for (const LayoutSlot& slot : layout)
        words.insert(words.end(), {slot.group, slot.binding, static_cast<std::uint32_t>(slot.kind),
                                   slot.read_only ? 1U : 0U, slot.element_size});
    return layout_fingerprint(std::span<const std::uint32_t>(words));
}

}  // namespace wye::plan
