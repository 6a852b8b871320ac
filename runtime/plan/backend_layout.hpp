// SPDX-License-Identifier: Apache-2.0
//
// The backend layout: what a compiled program binds on its device, in terms that no driver owns.
// Programs with equal backend layouts can share what a driver makes of one (a VkPipelineLayout).
// Pure values; thread-safe when shared const.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/binding.hpp"
#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::plan {

enum class LayoutClass : std::uint32_t { Storage = 1, Uniform = 2 };

struct LayoutSlot {
    std::uint32_t group = 0;    // the descriptor set: 0, all formats have one
    std::uint32_t binding = 0;  // in the group
    LayoutClass kind = LayoutClass::Storage;
    bool read_only = false;
    std::uint32_t element_size = 0;  // bytes; of a block of values: all of it

    friend auto operator<=>(const LayoutSlot&, const LayoutSlot&) = default;
};
using BackendLayout = std::vector<LayoutSlot>;  // ascending by group and binding, none twice

// The layout of an artifact with these slots. `push_constants`: its buffers have the numbers of
// their bindings, then come the trap words, then one block with all other values (whether the
// driver takes it as push constants or as a buffer); else each slot is a kernel argument of its
// own.
[[nodiscard]] BackendLayout backend_layout(const BindingPlan& plan, std::span<const wye_slot> slots,
                                           std::uint32_t params_size, bool push_constants);

// XXH3 128-bit over the slots, the same on every machine. Most significant byte first.
[[nodiscard]] LayoutFingerprint layout_fingerprint(const BackendLayout& layout);

}  // namespace wye::plan
