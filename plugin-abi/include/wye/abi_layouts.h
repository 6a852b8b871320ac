/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension `wye.layouts`, version 1: a device whose driver has descriptor layouts, which
 * several programs can share, returns this table from get_extension. The host's counters come from
 * it.
 */
#ifndef WYE_ABI_LAYOUTS_H
#define WYE_ABI_LAYOUTS_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WYE_EXTENSION_LAYOUTS "wye.layouts" /* the name for get_extension */

/* Counts since the device was opened. Both only grow. */
typedef struct wye_layout_counts {
    wye_header header;
    uint64_t made;   /* layouts that the driver made */
    uint64_t shared; /* programs that were given an existing layout */
} wye_layout_counts;

/* All slots [FREE]. */
typedef struct wye_layouts_table {
    wye_header header;

    /* Mandatory. Enters no driver; allowed for a lost device. The host sets out->header.size. */
    wye_status (*counts)(wye_device_object* device, wye_layout_counts* out, wye_error** error);
} wye_layouts_table;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_LAYOUTS_H */
