// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader before the real one, whose compiler leaves registers for 256 invocations, as
// NVIDIA's may. What it does with a kernel goes by the kernel's name: "obeys" has room for more
// when the compiler was told how many registers there are; "modest" says 256 whatever it was told,
// and runs more; "refuses" says 256 and does not run more.
#include <dlfcn.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr cl_device_info kRegistersPerBlock = 0x4002;
constexpr cl_uint kRegisters = 65536;
constexpr std::size_t kModest = 256;
constexpr const char* kExtensions = " cl_nv_compiler_options cl_nv_device_attribute_query";
constexpr const char* kOption = " -cl-nv-maxrregcount=";

struct State {
    std::mutex mutex;
    std::map<cl_program, std::size_t> told;  // registers of an invocation
};

State& state() {
    static State out;
    return out;
}

#define STINGY_REAL(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

std::string name_of(cl_kernel kernel) {
    char name[64] = {};
    STINGY_REAL(clGetKernelInfo)
    (kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
    return name;
}

template <typename T>
cl_int answer(const T* value, std::size_t bytes, std::size_t size, void* out, std::size_t* needed) {
    if (needed != nullptr) *needed = bytes;
    if (out != nullptr && size < bytes) return CL_INVALID_VALUE;
    if (out != nullptr) std::memcpy(out, value, bytes);
    return CL_SUCCESS;
}

}  // namespace

extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                std::size_t size, void* out, std::size_t* needed) {
    const auto real = STINGY_REAL(clGetDeviceInfo);
    if (what == kRegistersPerBlock)
        return answer(&kRegisters, sizeof kRegisters, size, out, needed);
    if (what != CL_DEVICE_EXTENSIONS) return real(device, what, size, out, needed);
    char text[4096] = {};
    const cl_int status = real(device, what, sizeof text, text, nullptr);
    if (status != CL_SUCCESS) return status;
    const std::string all = std::string(text) + kExtensions;
    return answer(all.c_str(), all.size() + 1, size, out, needed);
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count,
                                               const cl_device_id* devices, const char* options,
                                               void(CL_CALLBACK* done)(cl_program, void*),
                                               void* data) {
    std::string rest = options == nullptr ? "" : options;
    const std::size_t at = rest.find(kOption);
    {
        const std::lock_guard lock(state().mutex);
        state().told.erase(program);
        if (at != std::string::npos)
            state().told[program] =
                std::strtoul(rest.c_str() + at + std::strlen(kOption), nullptr, 10);
    }
    if (at != std::string::npos) rest.resize(at);
    return STINGY_REAL(clBuildProgram)(program, count, devices, rest.c_str(), done, data);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info what,
                                                         std::size_t size, void* out,
                                                         std::size_t* needed) {
    if (what != CL_KERNEL_WORK_GROUP_SIZE)
        return STINGY_REAL(clGetKernelWorkGroupInfo)(kernel, device, what, size, out, needed);
    cl_program program = nullptr;
    STINGY_REAL(clGetKernelInfo)
    (kernel, CL_KERNEL_PROGRAM, sizeof program, static_cast<void*>(&program), nullptr);
    std::size_t most = kModest;
    const std::lock_guard lock(state().mutex);
    if (const auto told = state().told.find(program);
        told != state().told.end() && name_of(kernel) == "obeys")
        most = kRegisters / told->second;
    return answer(&most, sizeof most, size, out, needed);
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
