// SPDX-License-Identifier: Apache-2.0
//
// Exports the plugin from a shared object of its own.
#include "cpu/cpu_plugin.h"

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);

extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye_cpu_plugin_query(hello, out);
}
