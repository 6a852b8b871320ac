/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension `wye.native_handle`, version 1: a device returns this table from get_extension, so
 * that applications can use its objects with the driver's own API. And two chain entries: one
 * makes a buffer of memory that the application allocated with that API, the other lets a queue
 * wait for an event of that API.
 */
#ifndef WYE_ABI_NATIVE_H
#define WYE_ABI_NATIVE_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WYE_EXTENSION_NATIVE_HANDLE "wye.native_handle" /* the name for get_extension */

/* A handle of the driver's API, or a number that belongs to one. This structure never grows. */
typedef struct wye_native_value {
    wye_string type;  /* "CUstream", "VkBuffer", "queue_family"; WYE_STATIC, and unique */
    uint64_t value;   /* pointers and numbers, zero-extended */
    uint64_t more[7]; /* the further bytes of a handle of more than 8 bytes; else zero */
} wye_native_value;
#define WYE_NATIVE_VALUES 6 /* the most values of a wye_native_handle */

/* The handles and numbers of one object in the driver's API, the object's own handle first. The
 * plugin keeps owning the object. Handles are borrowed until the object is destroyed, or the device
 * closed or recovered. */
typedef struct wye_native_handle {
    wye_header header;
    uint32_t count; /* at least 1 */
    uint32_t reserved;
    wye_native_value values[WYE_NATIVE_VALUES];
} wye_native_handle;

/* All slots mandatory, [FREE]; each returns the same handle in every call while the object lives.
 * WYE_UNSUPPORTED: the driver has no handle for this object. WYE_DEVICE_LOST for a lost device. */
typedef struct wye_native_table {
    wye_header header;

    wye_status (*device)(wye_device_object* device, wye_native_handle* out, wye_error** error);
    /* If the driver requires it (VkQueue), the application makes sure that no call of the host uses
     * the queue while the application uses it. */
    wye_status (*queue)(wye_device_object* device, wye_queue_object* queue, wye_native_handle* out,
                        wye_error** error);
    wye_status (*buffer)(wye_device_object* device, wye_buffer_object* buffer,
                         wye_native_handle* out, wye_error** error);
} wye_native_table;

/* The types of chain entries, the next numbers after those of abi.h and abi_layer.h. */
enum wye_native_chain_type {
    WYE_CHAIN_NATIVE_MEMORY = 4, /* in wye_buffer_desc: wye_native_memory */
    WYE_CHAIN_NATIVE_WAIT = 5    /* in wye_submission: wye_native_wait */
};

/* Memory that the application allocated with the driver's API. The buffer, of usage DEVICE, is
 * the first `size` bytes of that memory. The application keeps owning the memory, and keeps it
 * allocated until the buffer was destroyed, which frees nothing, or the device was closed. The
 * entry's type is critical, so a plugin that adopts no memory returns WYE_UNSUPPORTED_EXTENSION.
 *
 * WYE_INVALID_ARGUMENT: `handle` has no value of the type that the plugin needs, or null for it;
 * the memory is smaller than `size`, not aligned to `alignment`, or cannot be read and written by
 * programs and transfers. WYE_WRONG_OWNER: the memory belongs to another device or context of the
 * driver. A plugin checks this as far as its driver can tell. */
typedef struct wye_native_memory {
    wye_header header;               /* its type is WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL */
    const wye_native_handle* handle; /* as `buffer` above gives it; read during the call */
} wye_native_memory;

/* An event of the driver's API that a submission waits for, on the device: `submit` does not block.
 * No operation of the submission, or of later ones to the queue, begins before the event has
 * happened. If the submission has no operations, its value is reached then. For devices with the
 * fact NATIVE_WAIT. The entry's type is critical, so a plugin that waits for no such events returns
 * WYE_UNSUPPORTED_EXTENSION.
 *
 *   cuda    CUevent: its latest record before the submit; one that was never recorded has happened
 *   opencl  cl_event of the device's cl_context. If it ends with an error, the driver decides what
 *           becomes of the value and of later submissions of the queue
 *   vulkan  VkSemaphore, semaphore_value: a timeline semaphore and the value to wait for. With a
 *           value "VkDevice" in the handle, another device is an error
 *
 * The application keeps owning the event. It keeps a VkSemaphore until the value was reached.
 *
 * WYE_INVALID_ARGUMENT: the handle has no value of the type that the plugin needs, or null for it,
 * or the driver knows no such event. WYE_WRONG_OWNER: the event belongs to another device or
 * context of the driver. A plugin checks this as far as its driver can tell. After an error nothing
 * waits. */
typedef struct wye_native_wait {
    wye_header header;              /* its type is WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL */
    const wye_native_handle* event; /* read during the call */
} wye_native_wait;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_NATIVE_H */
