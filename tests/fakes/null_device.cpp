// SPDX-License-Identifier: Apache-2.0
//
// Its open_device returns OK, but gives no device.
#include "base.hpp"

static wye_status open(wye_plugin_object*, const wye_open_desc*, wye_device_object**,
                       const wye_device_table**, wye_error**) {
    return WYE_OK;
}
FAKE_TABLE("null_device", t.open_device = open)
