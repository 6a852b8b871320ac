// SPDX-License-Identifier: Apache-2.0
//
// query_over_cpu(): answers a plugin's query as the built-in CPU plugin does, but under another id
// and with some slots replaced. For fakes that are the CPU plugin except for what they break.
#pragma once

#include "cpu/cpu_plugin.h"
#include "wye/abi.h"
#include "wye/sdk/plugin.hpp"

namespace fake {

// `behind` becomes the CPU plugin's own table. `replace` gets the copy that the host will see. The
// first call's `id` and `replace` count for all later calls.
template <typename Replace>
wye_status query_over_cpu(const wye_hello* hello, const wye_plugin_desc** out, const char* id,
                          const wye_plugin_table*& behind, Replace replace) {
    const wye_status status = wye_cpu_plugin_query(hello, out);
    if (status != WYE_OK) return status;
    behind = (*out)->table;
    static const wye_plugin_table kTable = [&] {
        wye_plugin_table table = *behind;
        replace(table);
        return table;
    }();
    static const wye_plugin_desc kDesc = [&] {
        wye_plugin_desc desc = **out;
        desc.id = wye::sdk::to_abi(id);
        desc.table = &kTable;
        return desc;
    }();
    *out = &kDesc;
    return WYE_OK;
}

}  // namespace fake
