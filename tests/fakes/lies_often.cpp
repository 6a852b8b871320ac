// SPDX-License-Identifier: Apache-2.0
//
// Lists 300 devices, each with two facts of the wrong type.
#include "base.hpp"

static wye_status probe(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 300;
    return WYE_OK;
}
static wye_status fact(wye_plugin_object*, std::uint32_t, std::uint32_t key, wye_fact* out) {
    if (key != WYE_FACT_KEY_INT64 && key != WYE_FACT_KEY_F64) return WYE_UNSUPPORTED;
    out->type = WYE_FACT_U64;
    out->u = 1;
    return WYE_OK;
}
FAKE_TABLE("lies_often", t.probe_devices = probe; t.device_fact = fact)
