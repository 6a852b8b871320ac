/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers and host memory: describing and mapping buffers, copies between devices, and registered
 * memory. An addition to wye.h, whose conventions hold.
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
    wye_string selector; /* of that device; lives as long as the context, as does `plugin` */
    wye_string plugin;   /* "cuda" */
    wye_string label;    /* lives until the buffer is freed or gets another label */
    uint64_t size;       /* as requested, as are `alignment` and `usage` */
    uint64_t alignment;
    uint32_t usage;  /* enum wye_buffer_usage */
    uint32_t in_use; /* 1: pending work uses it; wye_buffer_free would be refused */
    uint32_t maps;   /* calls of wye_buffer_map not yet matched by wye_buffer_unmap */
    uint32_t reserved;
} wye_buffer_info;

/* Describes a buffer, even if its device is lost. */
WYE_API wye_status wye_buffer_describe(wye_context* context, wye_buffer buffer,
                                       wye_buffer_info* out, wye_error** error);

/* Changes the label that later errors and descriptions use. The driver keeps the label given at
 * creation. */
WYE_API wye_status wye_buffer_set_label(wye_context* context, wye_buffer buffer, wye_string label,
                                        wye_error** error);

/* ---- Mapping ----------------------------------------------------------------------------- */

/* Where a buffer is in the host's address space. */
typedef struct wye_buffer_mapping {
    wye_header header;
    void* address; /* of the first byte */
    uint64_t size;
    uint32_t cached; /* 1: host reads are as fast as from ordinary memory */
    uint32_t reserved;
} wye_buffer_mapping;

/* Maps the whole buffer. Every call needs its own wye_buffer_unmap; all calls return the same
 * address. Work may use the buffer while it is mapped; the caller must keep host and device from
 * accessing the same bytes at the same time, and call wye_buffer_sync in between. If the device is
 * lost, the mapping ends when the device is opened again.
 *
 * WYE_UNSUPPORTED: the device cannot map this buffer. Devices with mapping support it for the
 * usages UPLOAD, READBACK and SHARED. */
WYE_API wye_status wye_buffer_map(wye_context* context, wye_buffer buffer, wye_buffer_mapping* out,
                                  wye_error** error);
/* Undoes one wye_buffer_map. WYE_INVALID_ARGUMENT: the buffer is not mapped. */
WYE_API wye_status wye_buffer_unmap(wye_context* context, wye_buffer buffer, wye_error** error);

/* Makes bytes of a mapped buffer that were written by the host or by the device visible to the
 * other; `direction` is enum wye_sync_direction. TO_DEVICE: the host's writes become visible to
 * work that is submitted afterwards. TO_HOST: waits for pending work that uses the buffer and makes
 * its writes visible to the host. WYE_INVALID_ARGUMENT: the buffer is not mapped, or the range lies
 * outside it. */
WYE_API wye_status wye_buffer_sync(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   uint64_t size, uint32_t direction, wye_error** error);

/* ---- Copies between devices -------------------------------------------------------------- */

/* As wye_buffer_copy, but the buffers may belong to two devices. The bytes then go through host
 * memory in parts, and both devices count them as `bytes_across`. Work of other threads may run
 * between two parts. After an error the contents of the target range are unspecified. */
WYE_API wye_status wye_buffer_copy_across(wye_context* context, wye_buffer source,
                                          uint64_t source_offset, wye_buffer target,
                                          uint64_t target_offset, uint64_t size, wye_error** error);

/* ---- Registered memory ------------------------------------------------------------------- */

/* Memory of the application that a device may read and write directly. */
typedef uint64_t wye_memory;

/* Registers `size` bytes at `memory` with one device, until wye_memory_unregister or the end of the
 * context. The device then copies registered bytes directly, without copying threads and staging
 * memory: the bytes of blocking transfers, of host arguments of wye_dispatch, and of asynchronous
 * work with WYE_DISPATCH_BORROW, as far as they lie in one registered range. All other bytes are
 * copied as usual. Registering takes as long as several copies of the memory, and the system cannot
 * page it out meanwhile, so it is meant for large memory that is used many times.
 *
 * The caller keeps owning the memory, and must keep it mapped and writable until it is
 * unregistered, or until the process ends if wye_context_destroy_within returned WYE_TIMEOUT.
 * Address and size must be multiples of the device's fact `host_memory_alignment` (usually the page
 * size; see `aligned_alloc`). Any thread.
 *
 * WYE_UNSUPPORTED: the device does not have that fact. WYE_INVALID_ARGUMENT: the memory is null,
 * empty, not aligned, not mapped or read-only. WYE_DUPLICATE: part of it is already registered with
 * this device or, on CUDA, with another device or by another user of the driver. WYE_DEVICE_MEMORY,
 * WYE_DRIVER: the driver refuses it, for example because it cannot lock the pages. */
WYE_API wye_status wye_memory_register(wye_context* context, wye_device device, void* memory,
                                       uint64_t size, wye_memory* out, wye_error** error);
/* Invalidates the handle; the device does not access the memory afterwards. WYE_BUFFER_IN_USE while
 * calls or dispatches in flight use it. Works for lost devices too. */
WYE_API wye_status wye_memory_unregister(wye_context* context, wye_memory memory,
                                         wye_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WYE_BUFFER_H */
