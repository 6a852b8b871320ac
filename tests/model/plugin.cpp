// SPDX-License-Identifier: Apache-2.0
//
// The plugin's file. The scripted device itself is in the executable.
#include "plugin.hpp"

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return model_plugin_query(hello, out);
}
