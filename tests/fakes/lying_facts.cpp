// SPDX-License-Identifier: Apache-2.0
//
// Answers facts with the wrong type, an impossible bool and a null list.
#include "base.hpp"

static wye_status fact(wye_plugin_object*, std::uint32_t, std::uint32_t key, wye_fact* out) {
    switch (key) {
        case WYE_FACT_KEY_INT64:  // a number where a bool belongs
            out->type = WYE_FACT_U64;
            out->u = 1;
            return WYE_OK;
        case WYE_FACT_KEY_F64:
            out->type = WYE_FACT_BOOL;
            out->u = 2;
            return WYE_OK;
        case WYE_FACT_KEY_SUBGROUP_SIZES:
            out->type = WYE_FACT_U64_LIST;
            out->list_size = 3;
            return WYE_OK;
        default:
            return WYE_UNSUPPORTED;
    }
}
FAKE_TABLE("lying_facts", t.device_fact = fact)
