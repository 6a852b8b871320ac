/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension `wye.loss`, version 1: a device that can be lost returns this table from
 * get_extension, so that `wye conform` can try what the plugin does after a loss, which no driver
 * reports on demand. The host never asks for it.
 */
#ifndef WYE_ABI_LOSS_H
#define WYE_ABI_LOSS_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WYE_EXTENSION_LOSS "wye.loss" /* the name for get_extension */

/* All slots [FREE]. */
typedef struct wye_loss_table {
    wye_header header;

    /* Mandatory. From its return on, the plugin treats the opened device as if its driver had just
     * reported its loss. Work may be pending: the plugin first waits until the driver has ended it,
     * or ends it, so that no object or memory is in use any more; then it fails all values that
     * nobody knows to be reached. No other thread submits work meanwhile. Other opened devices are
     * not affected. Of a lost device: WYE_DEVICE_LOST. */
    wye_status (*lose)(wye_device_object* device, wye_error** error);
} wye_loss_table;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_LOSS_H */
