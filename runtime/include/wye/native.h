/* SPDX-License-Identifier: Apache-2.0
 *
 * Native handles: the objects of the driver's own API that are behind the library's devices, queues
 * and buffers; buffers made of memory that the application allocated with that API; and queues that
 * wait for events of that API. An addition to wye.h, whose conventions hold.
 *
 *   plugin  device                                    queue          buffer
 *   cuda    CUcontext, CUdevice                       CUstream       CUdeviceptr
 *   opencl  cl_context, cl_device_id, cl_platform_id  cl_command_queue  cl_mem
 *   vulkan  VkDevice, VkPhysicalDevice, VkInstance    VkQueue, queue_family, queue_index
 *                                                                    VkBuffer, VkDeviceMemory
 *   cpu     -                                         -              void*
 *
 * The library keeps owning the native objects. A handle is valid until its object is freed, its
 * device is closed or recovered, or the context is destroyed. The application must order its own
 * work with the library's: if both use a buffer, it waits for the end of the earlier work
 * (wye_pending_wait, wye_queue_flush) before it starts the later work. It submits nothing to a
 * VkQueue while calls of the library that submit to the device are in progress.
 */
#ifndef WYE_NATIVE_H
#define WYE_NATIVE_H

#include "wye/abi_native.h"
#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the native handle of a device. WYE_UNSUPPORTED, for this and the next two functions: the
 * plugin has no native handles, or none for this kind of object. */
WYE_API wye_status wye_device_native(wye_context* context, wye_device device,
                                     wye_native_handle* out, wye_error** error);
/* Returns the native handle of the native queue that runs this queue's work, and may run other work
 * too. */
WYE_API wye_status wye_queue_native(wye_context* context, wye_queue queue, wye_native_handle* out,
                                    wye_error** error);
/* Returns the native handle of a buffer. The buffer begins at the start of the native buffer, which
 * may be larger. */
WYE_API wye_status wye_buffer_native(wye_context* context, wye_buffer buffer,
                                     wye_native_handle* out, wye_error** error);

/* ---- Events of the application -------------------------------------------------------------- */

/* Lets work that names the queue from now on begin after an event of the driver's API: on the
 * device, without a thread that waits. Work of other queues that uses the same buffers follows it
 * as usual. If the queue shares its native queue (`shared` of wye_queue_description), other work
 * there waits too. Counts as a submit of the queue. Any thread.
 *
 *   cuda    CUevent: its last recording before this call; without a recording there is no wait
 *   opencl  cl_event of the device's cl_context; flush the command queue that signals it. If it
 *           ends with an error, the driver decides whether waiting work fails or runs (PoCL 3.1
 *           ends the process)
 *   vulkan  VkSemaphore, semaphore_value (wye_native_add): a timeline semaphore, and the value to
 *           wait for. If the handle also has a value "VkDevice", it must be the device's. Keep
 *           the semaphore until the queue was flushed. Later submits to the same VkQueue cannot
 *           signal it, since they come after the wait
 *
 * The application must see to it that the event happens: until then, calls that wait for the
 * queue's work block (their time limits hold), and so do wye_device_flush and wye_context_destroy.
 *
 * WYE_UNSUPPORTED: the plugin cannot wait for events (see the fact `native_wait`).
 * WYE_INVALID_ARGUMENT: `event` is null, has no value of the plugin's type or a null one, or the
 * driver does not know the event. WYE_WRONG_OWNER: the event belongs to another device or context
 * of the driver. After an error nothing waits. */
WYE_API wye_status wye_queue_wait_native(wye_context* context, wye_queue queue,
                                         const wye_native_handle* event, wye_error** error);

/* ---- Memory of the application ------------------------------------------------------------- */

/* Memory that the application allocated with the driver's API. */
typedef struct wye_buffer_adopt_desc {
    wye_header header;
    /* The handle of the memory, which is read during the call. It has the first buffer value that
     * the file's table lists for the device's plugin (see wye_native_of), and may have others.
     *
     *   cuda    device memory of the device (cuMemAlloc, cudaMalloc); an address within it is fine
     *   opencl  a buffer of the device's cl_context, read and write, also for the host
     *   vulkan  a buffer of the device's VkDevice with bound memory and the usages STORAGE_BUFFER,
     *           TRANSFER_SRC, TRANSFER_DST and INDIRECT_BUFFER. A value "VkDevice" in the
     *           handle is compared with the device's; without it, nothing checks that. Destroy
     *           the VkBuffer before the device is closed, which destroys the VkDevice
     *   cpu     an address in the process */
    const wye_native_handle* memory;
    uint64_t size;    /* bytes that the buffer has; not 0. The memory may be larger */
    wye_string label; /* for errors, logs and traces; copied */
    uint32_t flags;   /* 0 */
    uint32_t reserved;
} wye_buffer_adopt_desc;

/* Makes a buffer of the application's memory, which dispatches, transfers and graphs use in place,
 * as any buffer of the usage WYE_BUFFER_USAGE_DEVICE. The application keeps owning the memory and
 * must keep it until the buffer was freed (wye_buffer_free) or its device closed. The library never
 * frees it, and `buffer_bytes` of wye_counters does not count it. Two buffers must not have the
 * same bytes: the library would not know that work on one concerns the other. Any thread.
 *
 * WYE_UNSUPPORTED: the plugin adopts no memory. WYE_INVALID_ARGUMENT: `memory` is null, has no
 * value of the plugin's type or a null one; the size is 0, or larger than the memory (not checked
 * on the CPU); the address is no multiple of 16; programs or transfers may not read and write it.
 * WYE_WRONG_OWNER: the memory belongs to another device or context of the driver.
 * WYE_LIMIT_EXCEEDED: the device's programs cannot use a buffer of this size. */
WYE_API wye_status wye_buffer_adopt(wye_context* context, wye_device device,
                                    const wye_buffer_adopt_desc* desc, wye_buffer* out,
                                    wye_error** error);

/* Returns a handle with one value. `type` ("cl_mem") must live as long as the handle. */
static inline wye_native_handle wye_native_of(const char* type, uint64_t value) {
    wye_native_handle out;
    WYE_INIT(out);
    out.count = 1;
    out.values[0].type.data = type;
    out.values[0].type.size = strlen(type);
    out.values[0].value = value;
    return out;
}

/* Adds a value to a handle. Returns 0 if the handle has WYE_NATIVE_VALUES already, else 1. `type`
 * must live as long as the handle. */
static inline int wye_native_add(wye_native_handle* handle, const char* type, uint64_t value) {
    wye_native_value* const to = handle->values + handle->count;
    if (handle->count >= WYE_NATIVE_VALUES) return 0;
    to->type.data = type;
    to->type.size = strlen(type);
    to->value = value;
    ++handle->count;
    return 1;
}

/* Sets *value to the handle's value of a type ("CUstream") and returns 1. Returns 0 if it has none.
 */
static inline int wye_native_get(const wye_native_handle* handle, const char* type,
                                 uint64_t* value) {
    uint32_t i = 0;
    for (; i < handle->count; ++i) {
        const wye_string name = handle->values[i].type;
        if (name.size != strlen(type) || memcmp(name.data, type, name.size) != 0) continue;
        *value = handle->values[i].value;
        return 1;
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* WYE_NATIVE_H */
