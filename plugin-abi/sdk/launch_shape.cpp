// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/launch_shape.hpp"

namespace wye::sdk {

Result<LaunchShape> LaunchShape::of(std::string_view plugin, const wye_artifact& artifact,
                                    bool grid_barriers) {
    const std::uint32_t last = grid_barriers ? WYE_SLOT_GRID_BARRIER : WYE_SLOT_TRAP;
    LaunchShape out;
    out.entry = from_abi(artifact.entry);
    out.label = artifact.label.size != 0 ? std::string(from_abi(artifact.label)) : out.entry;
    out.slots.assign(artifact.slots, artifact.slots + artifact.slot_count);
    for (unsigned k = 0; k < 3; ++k) out.workgroup[k] = artifact.workgroup_size[k];
    out.binding_count = artifact.binding_count;
    out.params_size = artifact.params_size;
    for (const wye_slot& slot : out.slots) {
        if (slot.kind < WYE_SLOT_BUFFER || slot.kind > last)
            return errors::unknown_slot(plugin, slot.kind, out.label);
        if (slot.flags != 0)
            return errors::unknown_flags(plugin, "a slot of `" + out.label + "`", slot.flags);
        const bool names_binding = slot.kind == WYE_SLOT_BUFFER || slot.kind == WYE_SLOT_LENGTH;
        if (names_binding && slot.binding >= out.binding_count)
            return errors::unknown_binding(slot.binding, out.binding_count, out.label);
        out.has_grid = out.has_grid || slot.kind == WYE_SLOT_GRID;
        out.has_trap = out.has_trap || slot.kind == WYE_SLOT_TRAP;
        out.has_grid_barrier = out.has_grid_barrier || slot.kind == WYE_SLOT_GRID_BARRIER;
    }
    return out;
}

Error LaunchShape::not_cooperative() const {
    return {Code::UNSUPPORTED,
            "a launch of `" + label + "`, whose workgroups wait for each other, is not cooperative",
            "Fix: launch it with WYE_LAUNCH_COOPERATIVE, or split the program at its grid barriers",
            label};
}

}  // namespace wye::sdk
