/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of devices and contexts, an addition to wye.h, whose conventions hold: set-up ahead of
 * time, loss and recovery, closing a device, shutting a context down.
 */
#ifndef WYE_DEVICE_H
#define WYE_DEVICE_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does the set-up that the first dispatch on a device would do: a native queue, scratch memory, and
 * what the driver postpones. Compiles nothing; see wye_program_prepare. */
WYE_API wye_status wye_device_prepare(wye_context* context, wye_device device, wye_error** error);

/* Sets *lost to 1 if the device was lost since it was opened, else to 0. Asks the driver, which may
 * learn of a loss only when it is given work. */
WYE_API wye_status wye_device_is_lost(wye_context* context, wye_device device, uint32_t* lost,
                                      wye_error** error);

/* Takes a lost device back and opens it again: *out is its new handle, or `device` if it is not
 * lost. As wye_device_open of its selector; buffers, queues and graphs of the old handle stay lost.
 * WYE_UNSUPPORTED: it cannot be taken back in this process; the cause says why. WYE_DEVICE_BUSY:
 * what belongs to the old handle must be freed first, as the error says. */
WYE_API wye_status wye_device_recover(wye_context* context, wye_device device, wye_device* out,
                                      wye_error** error);

/* Closes a device before the end of the context: frees its buffers, queues, graphs, registered
 * memory, pending dispatches and compiled programs, whose handles become stale at once, as that of
 * the device. Calls that are in progress on other threads end as usual, and the driver's device is
 * closed after the last of them. Opening it again gives a new handle. The counters of the context
 * keep what it did.
 *
 * WYE_DEVICE_BUSY while its work is pending; WYE_BUFFER_IN_USE while one of its buffers is mapped.
 * Then nothing is closed. */
WYE_API wye_status wye_device_close(wye_context* context, wye_device device, wye_error** error);

/* As wye_context_destroy_within, but calls that begin with the context meanwhile and afterwards
 * return WYE_SHUTTING_DOWN, until wye_context_destroy frees what is left of it. */
WYE_API wye_status wye_context_shutdown(wye_context* context, uint64_t timeout_ns,
                                        wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_DEVICE_H */
