/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension `wye.compiler`, version 1: a plugin with a compiler of its own returns this table
 * from get_extension. The host's cache of compiled programs uses it.
 */
#ifndef WYE_ABI_COMPILER_H
#define WYE_ABI_COMPILER_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WYE_EXTENSION_COMPILER "wye.compiler" /* the name for get_extension */

/* All slots [FREE]. */
typedef struct wye_compiler_table {
    wye_header header;

    /* Mandatory. Name and version of the compiler that the plugin would use now, if possible
     * without opening it. The host ignores programs saved under another identity. `out` is
     * WYE_STATIC. WYE_NOT_FOUND: there is no compiler. */
    wye_status (*identity)(wye_plugin_object* plugin, wye_string* out);
} wye_compiler_table;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_COMPILER_H */
