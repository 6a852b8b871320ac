// SPDX-License-Identifier: Apache-2.0
//
// Opens devices whose table lacks a mandatory slot.
#include "base.hpp"

static constexpr wye_device_table kBadTable = [] {
    auto t = fake::kDeviceTable;
    t.buffer_destroy = nullptr;
    return t;
}();
static wye_status open(wye_plugin_object*, const wye_open_desc*, wye_device_object** out,
                       const wye_device_table** table, wye_error**) {
    static wye_device_object device{};
    *out = &device;
    *table = &kBadTable;
    return WYE_OK;
}
FAKE_TABLE("bad_device_table", t.open_device = open)
