// SPDX-License-Identifier: Apache-2.0
//
// Driver: the OpenCL loader, opened at run time, as a table of functions. Immutable once opened;
// all OpenCL calls except clSetKernelArg are free-threaded.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <memory>
#include <string>

#include "wye/sdk/result.hpp"

namespace wye::opencl {

// The functions used, all of OpenCL 1.2.
#define WYE_OPENCL_SYMBOLS(X)       \
    X(clGetPlatformIDs)             \
    X(clGetPlatformInfo)            \
    X(clGetDeviceIDs)               \
    X(clGetDeviceInfo)              \
    X(clCreateContext)              \
    X(clReleaseContext)             \
    X(clCreateCommandQueue)         \
    X(clReleaseCommandQueue)        \
    X(clCreateBuffer)               \
    X(clCreateSubBuffer)            \
    X(clGetMemObjectInfo)           \
    X(clRetainMemObject)            \
    X(clReleaseMemObject)           \
    X(clCreateProgramWithSource)    \
    X(clCreateProgramWithBinary)    \
    X(clGetProgramInfo)             \
    X(clBuildProgram)               \
    X(clGetProgramBuildInfo)        \
    X(clReleaseProgram)             \
    X(clCreateKernel)               \
    X(clReleaseKernel)              \
    X(clSetKernelArg)               \
    X(clGetKernelWorkGroupInfo)     \
    X(clEnqueueNDRangeKernel)       \
    X(clEnqueueReadBuffer)          \
    X(clEnqueueWriteBuffer)         \
    X(clEnqueueCopyBuffer)          \
    X(clEnqueueFillBuffer)          \
    X(clEnqueueMapBuffer)           \
    X(clEnqueueUnmapMemObject)      \
    X(clEnqueueMarkerWithWaitList)  \
    X(clEnqueueBarrierWithWaitList) \
    X(clFlush)                      \
    X(clFinish)                     \
    X(clWaitForEvents)              \
    X(clGetEventInfo)               \
    X(clGetEventProfilingInfo)      \
    X(clRetainEvent)                \
    X(clReleaseEvent)

// A function of OpenCL 2.0, used for cl_khr_priority_hints. It takes a list of properties and
// values that ends with 0.
using CreateQueueWithProperties = cl_command_queue(CL_API_CALL*)(cl_context, cl_device_id,
                                                                 const cl_ulong*, cl_int*);

inline constexpr const char* kLibrary = "libOpenCL.so.1";

struct Driver {
#define WYE_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    WYE_OPENCL_SYMBOLS(WYE_OPENCL_MEMBER)
#undef WYE_OPENCL_MEMBER
    CreateQueueWithProperties clCreateCommandQueueWithProperties = nullptr;  // null: an old loader

    // Opens `library` by name and looks up every symbol. The library stays mapped until the process
    // ends, since drivers that it loads keep threads. The error MISSING_DEPENDENCY names the absent
    // library or function.
    [[nodiscard]] static Result<std::unique_ptr<const Driver>> open(const std::string& library);
};

}  // namespace wye::opencl
