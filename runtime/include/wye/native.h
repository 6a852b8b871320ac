/* SPDX-License-Identifier: Apache-2.0
 *
 * Native handles, an addition to wye.h, whose conventions hold: what stands for an object of the
 * library in the driver's own API.
 *
 *   plugin  device                                    queue          buffer
 *   cuda    CUcontext, CUdevice                       CUstream       CUdeviceptr
 *   opencl  cl_context, cl_device_id, cl_platform_id  cl_command_queue  cl_mem
 *   vulkan  VkDevice, VkPhysicalDevice, VkInstance    VkQueue, queue_family, queue_index
 *                                                                    VkBuffer, VkDeviceMemory
 *   cpu     -                                         -              void*
 *
 * The library keeps owning the objects. A handle is borrowed until the object is freed, its device
 * is closed or recovered, or the context destroyed. The application orders its own work with the
 * library's: it waits for the one (wye_pending_wait, wye_queue_flush) before it starts the other on
 * the same buffer, and gives a VkQueue nothing while calls of the library that submit to the device
 * are in progress.
 */
#ifndef WYE_NATIVE_H
#define WYE_NATIVE_H

#include "wye/abi_native.h"
#include "wye/wye.h"

#ifdef __cplusplus
extern "C" {
#endif

/* WYE_UNSUPPORTED: the plugin has no native handles, or none for this kind of object. */
WYE_API wye_status wye_device_native(wye_context* context, wye_device device,
                                     wye_native_handle* out, wye_error** error);
/* Of the native queue that runs its work, which others may share. */
WYE_API wye_status wye_queue_native(wye_context* context, wye_queue queue, wye_native_handle* out,
                                    wye_error** error);
/* The buffer begins at the start of the native one, which may be larger. */
WYE_API wye_status wye_buffer_native(wye_context* context, wye_buffer buffer,
                                     wye_native_handle* out, wye_error** error);

/* Sets *value to the value of a type ("CUstream"), and returns 1; 0: the handle has none. */
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
