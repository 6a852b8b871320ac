// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader that calls the real one, but whose devices flush f32 subnormals, and report
// that.
#include <dlfcn.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstring>
#include <string>

#define FLUSHING_REAL(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                std::size_t size, void* out, std::size_t* needed) {
    const cl_int status = FLUSHING_REAL(clGetDeviceInfo)(device, what, size, out, needed);
    cl_device_fp_config config = 0;
    if (status != CL_SUCCESS || what != CL_DEVICE_SINGLE_FP_CONFIG || out == nullptr) return status;
    std::memcpy(&config, out, sizeof config);
    config &= ~cl_device_fp_config{CL_FP_DENORM};
    std::memcpy(out, &config, sizeof config);
    return status;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count,
                                               const cl_device_id* devices, const char* options,
                                               void(CL_CALLBACK* done)(cl_program, void*),
                                               void* user) {
    const std::string all =
        std::string(options != nullptr ? options : "") + " -cl-denorms-are-zero";
    return FLUSHING_REAL(clBuildProgram)(program, count, devices, all.c_str(), done, user);
}
}
