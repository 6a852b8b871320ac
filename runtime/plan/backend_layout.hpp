// SPDX-License-Identifier: Apache-2.0
//
// The backend layout: the slots that a compiled program binds on its device, described
// independently of the driver. Programs with equal backend layouts can share the driver's layout
// object (a VkPipelineLayout). Pure values; thread-safe when shared const.
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
    std::uint32_t group = 0;    // descriptor set, always 0, since all formats use one set
    std::uint32_t binding = 0;  // binding number in the group
    LayoutClass kind = LayoutClass::Storage;
    bool read_only = false;
    std::uint32_t element_size = 0;  // in bytes; for a block of values, the size of the block

    friend auto operator<=>(const LayoutSlot&, const LayoutSlot&) = default;
};
// Ascending by group and binding, without repetitions.
using BackendLayout = std::vector<LayoutSlot>;

// Returns the layout of an artifact with these slots. With `push_constants`, buffers are numbered
// by their bindings. The trap words follow, then one block with all other values, which the driver
// takes as push constants or as a buffer. Without `push_constants`, each slot is a separate kernel
// argument.
[[nodiscard]] BackendLayout backend_layout(const BindingPlan& plan, std::span<const wye_slot> slots,
                                           std::uint32_t params_size, bool push_constants);

// Returns the 128-bit XXH3 of the slots, most significant byte first. The result is the same on
// every machine.
[[nodiscard]] LayoutFingerprint layout_fingerprint(const BackendLayout& layout);

}  // namespace wye::plan
