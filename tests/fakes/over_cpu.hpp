// SPDX-License-Identifier: Apache-2.0
//
// query_over_cpu(): answers a plugin's query like the built-in CPU plugin, but with another id and
// with some slots replaced. For fakes that are the CPU plugin except for what they break.
#pragma once

#include "cpu/cpu_plugin.h"
#include "wye/abi.h"
#include "wye/sdk/plugin.hpp"

namespace fake {

// `*table` points to a table of the CPU plugin. Sets `behind` to this table, and `*table` to a copy
// that `replace` has changed. The copy is made once: the `replace` of later calls is ignored.
template <typename Table, typename Replace>
void replace_slots(const Table*& behind, const Table** table, Replace replace) {
    behind = *table;
    static const Table kTable = [&] {
        Table out = *behind;
        replace(out);
        return out;
    }();
    *table = &kTable;
}

// The query of a fake: replaces slots of the plugin table, and gives the plugin the id `id`.
template <typename Replace>
wye_status query_over_cpu(const wye_hello* hello, const wye_plugin_desc** out, const char* id,
                          const wye_plugin_table*& behind, Replace replace) {
    const wye_status status = wye_cpu_plugin_query(hello, out);
    if (status != WYE_OK) return status;
    const wye_plugin_table* table = (*out)->table;
    replace_slots(behind, &table, replace);
    static const wye_plugin_desc kDesc = [&] {
        wye_plugin_desc desc = **out;
        desc.id = wye::sdk::to_abi(id);
        desc.table = table;
        return desc;
    }();
    *out = &kDesc;
    return WYE_OK;
}

}  // namespace fake
