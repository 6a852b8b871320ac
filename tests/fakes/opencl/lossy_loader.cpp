// SPDX-License-Identifier: Apache-2.0
#include "opencl/lossy_loader.hpp"

#include <dlfcn.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

constexpr cl_int kIllegalAccess = -9999;

#define LOSSY_REAL(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

std::atomic<bool> lost{false}, finish_fails{false}, full{false};
std::atomic<std::uint64_t> events{0}, markers{0}, flushes{0}, kernels{0}, arguments{0},
    questions{0};

// The loss that LOSSY_OPENCL asks for in a process that preloads this library.
enum class Loss { never, once, always };

Loss wanted_loss() {
    static const Loss wanted = [] {
        const char* const value = std::getenv("LOSSY_OPENCL");
        const std::string_view text = value == nullptr ? "" : value;
        return text == "once" ? Loss::once : text == "always" ? Loss::always : Loss::never;
    }();
    return wanted;
}

std::atomic<bool> kernel_lost_device{false};

void reset() {
    lost = false;
    finish_fails = false;
    full = false;
    events = markers = flushes = kernels = arguments = questions = 0;
}

void* make_event(void* context) {
    cl_int status = CL_SUCCESS;
    return LOSSY_REAL(clCreateUserEvent)(static_cast<cl_context>(context), &status);
}
void let_happen(void* event) {
    auto* const one = static_cast<cl_event>(event);
    (void)LOSSY_REAL(clSetUserEventStatus)(one, CL_COMPLETE);
    (void)LOSSY_REAL(clReleaseEvent)(one);
}

constexpr lossy_opencl::Control kControl = {reset,
                                            [] { lost = true; },
                                            [] { finish_fails = true; },
                                            [](bool now) { full = now; },
                                            [] { return events.load(); },
                                            [] { return markers.load(); },
                                            [] { return flushes.load(); },
                                            [] { return kernels.load(); },
                                            [] { return arguments.load(); },
                                            [] { return questions.load(); },
                                            make_event,
                                            let_happen};

// The path of this library. Where it is preloaded, it is opened in place of the OpenCL loader.
const char* own_file() {
    Dl_info info{};
    return dladdr(&kControl, &info) != 0 ? info.dli_fname : nullptr;
}

}  // namespace

const lossy_opencl::Control* lossy_opencl_control() { return &kControl; }

extern "C" {

// Called in place of the C library's dlopen where this library is preloaded.
void* dlopen(const char* file, int mode) {
    const bool loader = file != nullptr && std::string_view(file) == "libOpenCL.so.1";
    return LOSSY_REAL(dlopen)(loader && wanted_loss() != Loss::never ? own_file() : file, mode);
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* user,
                cl_int* status) {
    if (wanted_loss() == Loss::once) lost = false;  // the driver has recovered
    if (!lost) return LOSSY_REAL(clCreateContext)(properties, count, devices, notify, user, status);
    *status = kIllegalAccess;
    return nullptr;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device,
                     cl_command_queue_properties properties, cl_int* status) {
    if (!lost) return LOSSY_REAL(clCreateCommandQueue)(context, device, properties, status);
    *status = kIllegalAccess;
    return nullptr;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint dimensions, const size_t* offset,
                                                       const size_t* size, const size_t* local_size,
                                                       cl_uint wait_count, const cl_event* waits,
                                                       cl_event* event) {
    ++kernels;
    if (event != nullptr) ++events;
    const cl_int status = LOSSY_REAL(clEnqueueNDRangeKernel)(
        queue, kernel, dimensions, offset, size, local_size, wait_count, waits, event);
    if (wanted_loss() != Loss::never && !kernel_lost_device.exchange(true)) lost = true;
    return status;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size,
                                               const void* value) {
    ++arguments;
    return LOSSY_REAL(clSetKernelArg)(kernel, index, size, value);
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    const cl_int status = LOSSY_REAL(clFinish)(queue);
    return lost || finish_fails.exchange(false) ? CL_INVALID_COMMAND_QUEUE : status;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
                                                    const void* pattern, size_t pattern_size,
                                                    size_t offset, size_t size, cl_uint wait_count,
                                                    const cl_event* waits, cl_event* event) {
    if (full) return CL_OUT_OF_RESOURCES;
    if (event != nullptr) ++events;
    return LOSSY_REAL(clEnqueueFillBuffer)(queue, buffer, pattern, pattern_size, offset, size,
                                           wait_count, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue,
                                                            cl_uint wait_count,
                                                            const cl_event* waits,
                                                            cl_event* event) {
    ++markers;
    return LOSSY_REAL(clEnqueueMarkerWithWaitList)(queue, wait_count, waits, event);
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue) {
    ++flushes;
    return LOSSY_REAL(clFlush)(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
    return lost ? kIllegalAccess : LOSSY_REAL(clWaitForEvents)(count, events);
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info what, size_t size,
                                               void* out, size_t* needed) {
    ++questions;
    return lost ? kIllegalAccess : LOSSY_REAL(clGetEventInfo)(event, what, size, out, needed);
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count,
                                               const cl_device_id* devices, const char* options,
                                               void(CL_CALLBACK* notify)(cl_program, void*),
                                               void* user) {
    if (lost) return kIllegalAccess;
    return LOSSY_REAL(clBuildProgram)(program, count, devices, options, notify, user);
}
}
