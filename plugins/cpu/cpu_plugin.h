/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU plugin, for a host that links it in. `wye_cpu_plugin_query` has the contract of
 * `wye_plugin_query_1`, the function of a plugin that is opened at run time: no side effects,
 * static data, any thread.
 */
#ifndef WYE_CPU_PLUGIN_H
#define WYE_CPU_PLUGIN_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

wye_status wye_cpu_plugin_query(const wye_hello* hello, const wye_plugin_desc** out);

#ifdef __cplusplus
}
#endif

#endif /* WYE_CPU_PLUGIN_H */
