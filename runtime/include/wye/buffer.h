/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers and host memory, an addition to wye.h, whose conventions hold: what a buffer is, its
 * bytes in the host's address space, copies between devices, and registered memory.
 */
#ifndef WYE_BUFFER_H
#define WYE_BUFFER_H

#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Description ------------------------------------------------------------------------- */

/* Owner, sizes, label and use of a buffer. */
typedef struct wye_buffer_info {
    wye_header header;
    wye_device device;   /* its owner */
    wye_string selector; /* of that device; lives as long as the context, as does the next */
    wye_string plugin;   /* "cuda" */
    wye_string label;    /* lives until the buffer is freed or gets another label */
    uint64_t size;       /* as asked for, as the next two */
    uint64_t alignment;
    uint32_t usage;  /* enum wye_buffer_usage */
    uint32_t in_use; /* 1: work that uses it is pending, and wye_buffer_free would be refused */
    uint32_t maps;   /* wye_buffer_map calls that wye_buffer_unmap has not undone */
    uint32_t reserved;
} wye_buffer_info;

/* Describes a buffer, also of a lost device. */
WYE_API wye_status wye_buffer_describe(wye_context* context, wye_buffer buffer,
                                       wye_buffer_info* out, wye_error** error);

/* Gives a buffer another label, for the errors and descriptions to come. The driver keeps the one
 * of its creation. */
WYE_API wye_status wye_buffer_set_label(wye_context* context, wye_buffer buffer, wye_string label,
                                        wye_error** error);

/* ---- Mapping ----------------------------------------------------------------------------- */

/* Where a buffer is in the host's address space. */
typedef struct wye_buffer_mapping {
    wye_header header;
    void* address; /* of the first byte */
    uint64_t size;
    uint32_t cached; /* 1: the host reads it as fast as its own memory */
    uint32_t reserved;
} wye_buffer_mapping;

/* Maps the whole buffer, until as many calls of wye_buffer_unmap. The address is the same in every
 * call. It stays valid while work uses the buffer; the caller keeps host and device from accessing
 * the same bytes at the same time, and calls wye_buffer_sync in between. It ends with the device's
 * loss, too: the memory may be gone once the device was opened again.
 *
 * WYE_UNSUPPORTED: the device cannot map this buffer. One that can maps those of the usages UPLOAD,
 * READBACK and SHARED. */
WYE_API wye_status wye_buffer_map(wye_context* context, wye_buffer buffer, wye_buffer_mapping* out,
                                  wye_error** error);
/* WYE_INVALID_ARGUMENT: it is not mapped. */
WYE_API wye_status wye_buffer_unmap(wye_context* context, wye_buffer buffer, wye_error** error);

/* Makes bytes of a mapped buffer, written on one side, visible on the other; `direction` is enum
 * wye_sync_direction. TO_DEVICE: what the host wrote, for work that is submitted afterwards.
 * TO_HOST: waits for pending work that uses the buffer, and makes visible what it wrote.
 * WYE_INVALID_ARGUMENT: not mapped, or a range outside the buffer. */
WYE_API wye_status wye_buffer_sync(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   uint64_t size, uint32_t direction, wye_error** error);

/* ---- Copies between devices -------------------------------------------------------------- */

/* As wye_buffer_copy, but the buffers may be of two devices: the bytes then go through host memory,
 * in parts, and count as `bytes_across` of both. Work of other threads may run between two parts.
 * After an error the target range is unspecified. */
WYE_API wye_status wye_buffer_copy_across(wye_context* context, wye_buffer source,
                                          uint64_t source_offset, wye_buffer target,
                                          uint64_t target_offset, uint64_t size, wye_error** error);

/* ---- Registered memory ------------------------------------------------------------------- */

/* Memory of the application that a device may copy from and to by itself. */
typedef uint64_t wye_memory;

/* Registers `size` bytes at `memory` with one device, until wye_memory_unregister or the end of the
 * context. Meanwhile blocking transfers and host arguments of wye_dispatch, and asynchronous ones
 * with WYE_DISPATCH_BORROW, move straight between the device and those of their
 * bytes that lie in one registered range: no thread copies them, and they need no staging memory.
 * Everything else works as without it. Registering takes the time of several copies of the memory,
 * which the system cannot page out meanwhile: it is meant for large memory that is used many times.
 *
 * The memory stays the caller's, who keeps it mapped and writable until it is unregistered, and
 * after wye_context_destroy_within gave WYE_TIMEOUT until the process ends. Address and size must
 * be multiples of the device's fact `host_memory_alignment` (most often of a page:
 * `aligned_alloc`). Any thread.
 *
 * WYE_UNSUPPORTED: the device does not have that fact. WYE_INVALID_ARGUMENT: null, a size of 0, not
 * aligned, or not mapped. WYE_DUPLICATE: some of it is registered with this device, or (CUDA) with
 * another one or by another user of the driver. WYE_DEVICE_MEMORY, WYE_DRIVER: the driver refuses
 * it, which it may for what it cannot lock. */
WYE_API wye_status wye_memory_register(wye_context* context, wye_device device, void* memory,
                                       uint64_t size, wye_memory* out, wye_error** error);
/* Invalidates the handle; afterwards the device does not access the memory. WYE_BUFFER_IN_USE while
 * calls and dispatches in flight use it. Also after the device was lost. */
WYE_API wye_status wye_memory_unregister(wye_context* context, wye_memory memory,
                                         wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_BUFFER_H */
