// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL loader that calls the real one, but whose devices have cl_khr_priority_hints. A test
// can ask for the priority with which the newest queue was made.
#include <dlfcn.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstring>
#include <string>

namespace {

#define URGENT_REAL(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

cl_ulong newest = 0;  // CL_QUEUE_PRIORITY_..._KHR; 0: no priority was given

}  // namespace

extern "C" {

cl_ulong urgent_newest() { return newest; }

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                std::size_t size, void* out, std::size_t* needed) {
    if (what != CL_DEVICE_EXTENSIONS)
        return URGENT_REAL(clGetDeviceInfo)(device, what, size, out, needed);
    std::size_t length = 0;
    const cl_int status = URGENT_REAL(clGetDeviceInfo)(device, what, 0, nullptr, &length);
    if (status != CL_SUCCESS) return status;
    std::string text(length, '\0');
    (void)URGENT_REAL(clGetDeviceInfo)(device, what, length, text.data(), nullptr);
    text = "cl_khr_priority_hints " + text;
    if (needed != nullptr) *needed = text.size();
    if (out != nullptr && size < text.size()) return CL_INVALID_VALUE;
    if (out != nullptr) std::memcpy(out, text.data(), text.size());
    return CL_SUCCESS;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device,
                     cl_command_queue_properties properties, cl_int* status) {
    newest = 0;
    return URGENT_REAL(clCreateCommandQueue)(context, device, properties, status);
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context,
                                                                             cl_device_id device,
                                                                             const cl_ulong* list,
                                                                             cl_int* status) {
    cl_command_queue_properties properties = 0;
    newest = 0;
    for (; list != nullptr && *list != 0; list += 2) {
        if (list[0] == CL_QUEUE_PROPERTIES) properties = list[1];
        if (list[0] == CL_QUEUE_PRIORITY_KHR) newest = list[1];
    }
    return URGENT_REAL(clCreateCommandQueue)(context, device, properties, status);
}
}
