// SPDX-License-Identifier: Apache-2.0
//
// LayoutSlots: implements the extension `wye.layouts` for a device whose `context()` has a member
// `layouts` with `LayoutCounts counts() const`. Threads as in abi_layouts.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "wye/abi_layouts.h"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

struct LayoutCounts {
    std::uint64_t made = 0;
    std::uint64_t shared = 0;
};

template <typename Device>
struct LayoutSlots {
    static constexpr bool kHas = requires(const Device& device) {
        device.context().layouts.counts();
    };

    static wye_status counts(wye_device_object* device, wye_layout_counts* out,
                             wye_error**) noexcept {
        const LayoutCounts counts =
            reinterpret_cast<const Device*>(device)->context().layouts.counts();
        out->made = counts.made;
        out->shared = counts.shared;
        return WYE_OK;
    }

    static constexpr wye_layouts_table kTable = {{sizeof(wye_layouts_table), 0, nullptr}, counts};

    // Returns the extension's table; null for other names and versions.
    static const void* find(std::string_view name, std::uint32_t version) {
        return name == WYE_EXTENSION_LAYOUTS && version == 1 ? &kTable : nullptr;
    }
};

}  // namespace wye::sdk
