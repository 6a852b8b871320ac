// SPDX-License-Identifier: Apache-2.0
//
// Driver: the CUDA driver, opened at run time, as a table of functions. Immutable once it is
// opened. The driver is free-threaded.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

#include "wye/sdk/result.hpp"

namespace wye::cuda {

// X(function as in the header, symbol). The driver of CUDA 11.4 has all of them. The header may
// define a function's name as a later revision with the same signature. Older drivers lack that
// revision (quirk cuda-header-renames), so the symbol given here is looked up.
#define WYE_CUDA_SYMBOLS(X)                                                                       \
    X(cuInit, "cuInit")                                                                           \
    X(cuDriverGetVersion, "cuDriverGetVersion")                                                   \
    X(cuGetErrorName, "cuGetErrorName")                                                           \
    X(cuGetErrorString, "cuGetErrorString")                                                       \
    X(cuDeviceGetCount, "cuDeviceGetCount")                                                       \
    X(cuDeviceGet, "cuDeviceGet")                                                                 \
    X(cuDeviceGetName, "cuDeviceGetName")                                                         \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                               \
    X(cuDeviceGetUuid, "cuDeviceGetUuid_v2")                                                      \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2")                                                    \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                       \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                                  \
    X(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2")                                      \
    X(cuCtxGetCurrent, "cuCtxGetCurrent")                                                         \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2")                                                    \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                                                      \
    X(cuMemGetInfo, "cuMemGetInfo_v2")                                                            \
    X(cuMemAlloc, "cuMemAlloc_v2")                                                                \
    X(cuMemFree, "cuMemFree_v2")                                                                  \
    X(cuMemAllocHost, "cuMemAllocHost_v2")                                                        \
    X(cuMemFreeHost, "cuMemFreeHost")                                                             \
    X(cuPointerGetAttribute, "cuPointerGetAttribute")                                             \
    X(cuMemHostRegister, "cuMemHostRegister_v2")                                                  \
    X(cuMemHostUnregister, "cuMemHostUnregister")                                                 \
    X(cuMemPoolCreate, "cuMemPoolCreate")                                                         \
    X(cuMemPoolDestroy, "cuMemPoolDestroy")                                                       \
    X(cuMemPoolSetAttribute, "cuMemPoolSetAttribute")                                             \
    X(cuMemPoolTrimTo, "cuMemPoolTrimTo")                                                         \
    X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync")                                         \
    X(cuMemFreeAsync, "cuMemFreeAsync")                                                           \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                                  \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                                  \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                                  \
    X(cuMemcpyAsync, "cuMemcpyAsync")                                                             \
    X(cuMemsetD8Async, "cuMemsetD8Async")                                                         \
    X(cuMemsetD16Async, "cuMemsetD16Async")                                                       \
    X(cuMemsetD32Async, "cuMemsetD32Async")                                                       \
    X(cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange")                                 \
    X(cuStreamCreateWithPriority, "cuStreamCreateWithPriority")                                   \
    X(cuStreamGetPriority, "cuStreamGetPriority")                                                 \
    X(cuStreamDestroy, "cuStreamDestroy_v2")                                                      \
    X(cuStreamSynchronize, "cuStreamSynchronize")                                                 \
    X(cuStreamQuery, "cuStreamQuery")                                                             \
    X(cuStreamWaitEvent, "cuStreamWaitEvent")                                                     \
    X(cuEventCreate, "cuEventCreate")                                                             \
    X(cuEventDestroy, "cuEventDestroy_v2")                                                        \
    X(cuEventRecord, "cuEventRecord")                                                             \
    X(cuEventQuery, "cuEventQuery")                                                               \
    X(cuEventSynchronize, "cuEventSynchronize")                                                   \
    X(cuEventElapsedTime, "cuEventElapsedTime")                                                   \
    X(cuModuleLoadDataEx, "cuModuleLoadDataEx")                                                   \
    X(cuModuleUnload, "cuModuleUnload")                                                           \
    X(cuModuleGetFunction, "cuModuleGetFunction")                                                 \
    X(cuFuncGetAttribute, "cuFuncGetAttribute")                                                   \
    X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                   \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor") \
    X(cuLaunchKernel, "cuLaunchKernel")                                                           \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel")                                     \
    X(cuGraphCreate, "cuGraphCreate")                                                             \
    X(cuGraphDestroy, "cuGraphDestroy")                                                           \
    X(cuGraphAddEmptyNode, "cuGraphAddEmptyNode")                                                 \
    X(cuGraphAddKernelNode, "cuGraphAddKernelNode")                                               \
    X(cuGraphAddMemcpyNode, "cuGraphAddMemcpyNode")                                               \
    X(cuGraphAddMemsetNode, "cuGraphAddMemsetNode")                                               \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags")                                          \
    X(cuGraphKernelNodeSetAttribute, "cuGraphKernelNodeSetAttribute")                             \
    X(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams")                           \
    X(cuGraphLaunch, "cuGraphLaunch")                                                             \
    X(cuGraphExecDestroy, "cuGraphExecDestroy")

inline constexpr const char* kLibrary = "libcuda.so.1";
inline constexpr int kOldestVersion = 11040;  // in the form of cuDriverGetVersion

struct Driver {
#define WYE_CUDA_MEMBER(name, symbol) decltype(&::name) name = nullptr;
    WYE_CUDA_SYMBOLS(WYE_CUDA_MEMBER)
#undef WYE_CUDA_MEMBER
    // Null before CUDA 11.7.
    decltype(&::cuStreamWriteValue32) cuStreamWriteValue32 = nullptr;
    int version = 0;  // 1000 * major + 10 * minor of the CUDA version that the driver supports

    // Opens `library` by name, looks up every symbol and initialises the driver. The library stays
    // mapped until the process ends, since the driver keeps threads. Errors: MISSING_DEPENDENCY for
    // an absent, stub or outdated library; NO_DEVICE without a GPU; DRIVER for other errors.
    [[nodiscard]] static Result<std::unique_ptr<const Driver>> open(const std::string& library);
};

}  // namespace wye::cuda
