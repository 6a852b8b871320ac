// SPDX-License-Identifier: Apache-2.0
//
// Describes its three devices badly: the first has no name and no formats, the second has an
// unknown state, the third is unusable without a reason.
#include "base.hpp"

static wye_status probe(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 3;
    return WYE_OK;
}
static wye_status info(wye_plugin_object*, std::uint32_t index, wye_device_info* out, wye_error**) {
    if (index == 0) return WYE_OK;
    out->name = fake::text("Fake device");
    out->formats = fake::kFormats;
    out->format_count = 1;
    out->state = index == 1 ? 7 : WYE_DEVICE_UNUSABLE;
    return WYE_OK;
}
FAKE_TABLE("vague_devices", t.probe_devices = probe; t.device_info = info)
