// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader that calls the real one, but reports a maximum workgroup size of 256 for every
// kernel, like NVIDIA's driver. Only a kernel called "refuses" really has that limit.
#include <dlfcn.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstring>
#include <string>

namespace {

constexpr std::size_t kModest = 256;

#define STINGY_REAL(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

std::string name_of(cl_kernel kernel) {
    char name[64] = {};
    STINGY_REAL(clGetKernelInfo)
    (kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
    return name;
}

}  // namespace

extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info what,
                                                         std::size_t size, void* out,
                                                         std::size_t* needed) {
    if (what != CL_KERNEL_WORK_GROUP_SIZE)
        return STINGY_REAL(clGetKernelWorkGroupInfo)(kernel, device, what, size, out, needed);
    if (needed != nullptr) *needed = sizeof kModest;
    if (out != nullptr && size < sizeof kModest) return CL_INVALID_VALUE;
    if (out != nullptr) std::memcpy(out, &kModest, sizeof kModest);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint axes, const std::size_t* offset,
                                                       const std::size_t* global,
                                                       const std::size_t* local, cl_uint wait_count,
                                                       const cl_event* waits, cl_event* event) {
    if (local != nullptr && local[0] > kModest && name_of(kernel) == "refuses")
        return CL_OUT_OF_RESOURCES;
    return STINGY_REAL(clEnqueueNDRangeKernel)(queue, kernel, axes, offset, global, local,
                                               wait_count, waits, event);
}
}
