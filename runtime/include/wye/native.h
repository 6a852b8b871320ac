/* SPDX-License-Identifier: Apache-2.0
 *
 * Native handles: the objects of the driver's own API that are behind the library's devices, queues
 * and buffers. An addition to wye.h, whose conventions hold.
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
 * work with the library's: on the same buffer it waits for the end of one (wye_pending_wait,
 * wye_queue_flush) before it starts the other, and it submits nothing to a VkQueue while calls of
 * the library that submit to the device are in progress.
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
