// SPDX-License-Identifier: Apache-2.0
#include "cuda/status.hpp"

#include "wye/sdk/errors.hpp"

namespace wye::cuda {

bool sticky(CUresult status) {
    switch (status) {
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        case CUDA_ERROR_CONTAINED:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
        case CUDA_ERROR_MPS_CLIENT_TERMINATED:
        case CUDA_ERROR_EXTERNAL_DEVICE:
        case CUDA_ERROR_DEINITIALIZED:
            return true;
        default:
            return false;
    }
}

Code code_of(CUresult status) {
    if (sticky(status)) return Code::DEVICE_LOST;
    switch (status) {
        case CUDA_SUCCESS:
            return Code::OK;
        case CUDA_ERROR_OUT_OF_MEMORY:
            return Code::DEVICE_MEMORY;
        case CUDA_ERROR_NO_DEVICE:
        case CUDA_ERROR_INVALID_DEVICE:
        case CUDA_ERROR_DEVICE_UNAVAILABLE:
        case CUDA_ERROR_SYSTEM_NOT_READY:
            return Code::NO_DEVICE;
        case CUDA_ERROR_STUB_LIBRARY:
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
            return Code::MISSING_DEPENDENCY;
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
        case CUDA_ERROR_INVALID_PTX:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        case CUDA_ERROR_JIT_COMPILATION_DISABLED:
        case CUDA_ERROR_INVALID_SOURCE:
        case CUDA_ERROR_NOT_FOUND:
            return Code::COMPILE_FAILED;
        case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
            return Code::LIMIT_EXCEEDED;
        case CUDA_ERROR_NOT_READY:
            return Code::NOT_READY;
        case CUDA_ERROR_NOT_SUPPORTED:
            return Code::UNSUPPORTED;
        default:
            return Code::DRIVER;
    }
}

namespace {

std::string_view remedy(CUresult status) {
    switch (status) {
        case CUDA_ERROR_NO_DEVICE:
            return "Fix: see that `nvidia-smi` lists the GPU, that CUDA_VISIBLE_DEVICES does not "
                   "hide it, and that a container was started with it (`--gpus all`)";
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
            return "Fix: restart the machine, or reload the kernel module: the driver was updated";
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
            return "Fix: update the NVIDIA driver, or use an older NVRTC (`cuda.nvrtc`)";
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
            return "Fix: bring code for this device's compute capability, or PTX";
        default:
            break;
    }
    switch (code_of(status)) {
        case Code::DEVICE_LOST:
            return sdk::errors::kOpenAgain;
        case Code::DEVICE_MEMORY:
            return "Fix: free buffers, use smaller ones, or choose a device with more memory";
        case Code::LIMIT_EXCEEDED:
            return "Fix: use smaller workgroups or less workgroup memory";
        case Code::NO_DEVICE:
            return "Fix: see that `nvidia-smi` works, and that no other process has the GPU alone";
        case Code::COMPILE_FAILED:
            return "Fix: correct the code, or report it with the log";
        default:
            return "Fix: see that `nvidia-smi` works; if so, report this";
    }
}

}  // namespace

Error native_error(const Driver& driver, CUresult status, std::string_view call,
                   std::string_view subject) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.cuGetErrorName != nullptr) (void)driver.cuGetErrorName(status, &name);
    if (driver.cuGetErrorString != nullptr) (void)driver.cuGetErrorString(status, &text);
    return sdk::errors::native(
        {"cuda", code_of(status), status, name != nullptr ? name : "unknown CUDA error",
         text != nullptr ? text : ""},
        call, subject, remedy(status));
}

}  // namespace wye::cuda
