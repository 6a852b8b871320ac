// SPDX-License-Identifier: Apache-2.0
//
// Reports an impossible number of devices.
#include "base.hpp"

static wye_status probe(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 0xffffffffU;
    return WYE_OK;
}
FAKE_TABLE("many_devices", t.probe_devices = probe)
