// SPDX-License-Identifier: Apache-2.0
#include "vulkan/status.hpp"

#include "wye/sdk/errors.hpp"

namespace wye::vulkan {

Status status_of(VkResult value) {
    switch (static_cast<int>(value)) {
#define WYE_VK_STATUS(name, code) \
    case name:                    \
        return {Code::code, #name};
        WYE_VK_STATUS(VK_SUCCESS, OK)
        WYE_VK_STATUS(VK_NOT_READY, NOT_READY)
        WYE_VK_STATUS(VK_TIMEOUT, TIMEOUT)
        WYE_VK_STATUS(VK_INCOMPLETE, DRIVER)
        WYE_VK_STATUS(VK_ERROR_OUT_OF_HOST_MEMORY, OUT_OF_MEMORY)
        WYE_VK_STATUS(VK_ERROR_OUT_OF_DEVICE_MEMORY, DEVICE_MEMORY)
        WYE_VK_STATUS(VK_ERROR_INITIALIZATION_FAILED, DRIVER)
        WYE_VK_STATUS(VK_ERROR_DEVICE_LOST, DEVICE_LOST)
        WYE_VK_STATUS(VK_ERROR_MEMORY_MAP_FAILED, OUT_OF_MEMORY)
        WYE_VK_STATUS(VK_ERROR_LAYER_NOT_PRESENT, MISSING_DEPENDENCY)
        WYE_VK_STATUS(VK_ERROR_EXTENSION_NOT_PRESENT, UNSUPPORTED)
        WYE_VK_STATUS(VK_ERROR_FEATURE_NOT_PRESENT, UNSUPPORTED)
        WYE_VK_STATUS(VK_ERROR_INCOMPATIBLE_DRIVER, NO_DEVICE)
        WYE_VK_STATUS(VK_ERROR_TOO_MANY_OBJECTS, LIMIT_EXCEEDED)
        WYE_VK_STATUS(VK_ERROR_FRAGMENTED_POOL, DEVICE_MEMORY)
        WYE_VK_STATUS(VK_ERROR_UNKNOWN, DRIVER)
        WYE_VK_STATUS(VK_ERROR_OUT_OF_POOL_MEMORY, DEVICE_MEMORY)
        WYE_VK_STATUS(VK_ERROR_INVALID_EXTERNAL_HANDLE, DRIVER)
        WYE_VK_STATUS(VK_ERROR_INVALID_SHADER_NV, COMPILE_FAILED)
#undef WYE_VK_STATUS
        default:
            return {Code::DRIVER, "unknown Vulkan result"};
    }
}

namespace {

std::string_view remedy(Code code) {
    switch (code) {
        case Code::NO_DEVICE:
            return "Fix: install a Vulkan driver (for the CPU, on Debian: `mesa-vulkan-drivers`)";
        case Code::MISSING_DEPENDENCY:
            return "Fix: install the layer (Debian: `vulkan-validationlayers`)";
        case Code::DEVICE_LOST:
            return sdk::errors::kOpenAgain;
        case Code::DEVICE_MEMORY:
            return "Fix: free buffers, use smaller ones, or choose a device with more memory";
        case Code::OUT_OF_MEMORY:
            return "Fix: free host memory";
        case Code::LIMIT_EXCEEDED:
            return "Fix: stay within the limits that `wye info -l` shows for this device";
        default:
            return "Fix: update the Vulkan driver, or use another device (`cpu` is always there)";
    }
}

}  // namespace

Error native_error(VkResult value, std::string_view call, std::string_view subject) {
    const Status status = status_of(value);
    return sdk::errors::native({"vulkan", status.code, value, status.name, {}}, call, subject,
                               remedy(status.code));
}

}  // namespace wye::vulkan
