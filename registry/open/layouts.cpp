// SPDX-License-Identifier: Apache-2.0
//
// Counts how programs share a driver's descriptor layouts, through the extension wye.layouts.
#include "registry/open/contain.hpp"
#include "registry/open/device.hpp"
#include "wye/abi_layouts.h"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {

LayoutCounts NativeDevice::layout_counts() const {
    wye_layout_counts out{};
    out.header = sdk::header_of(sizeof out);
    const auto asked = contain(info().plugin, "layout counts", [&](wye_error** error) {
        const auto* table = static_cast<const wye_layouts_table*>(
            table_.get_extension(object_, sdk::to_abi(WYE_EXTENSION_LAYOUTS), 1));
        if (table == nullptr || table->header.size < sdk::kSizeOfMinor0<wye_layouts_table> ||
            table->counts == nullptr)
            return static_cast<wye_status>(WYE_OK);
        return table->counts(object_, &out, error);
    });
    return asked.ok() ? LayoutCounts{out.made, out.shared} : LayoutCounts{};
}

}  // namespace wye::registry
