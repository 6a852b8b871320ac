// SPDX-License-Identifier: Apache-2.0
#include "opencl/status.hpp"

#include "wye/sdk/errors.hpp"

namespace wye::opencl {

// The loader's status if there is no platform (cl_khr_icd).
constexpr cl_int kPlatformNotFound = -1001;
// NVIDIA's driver returns this after a kernel accessed an invalid address. No header has this
// status; measured with driver 580.
constexpr cl_int kNvidiaIllegalAccess = -9999;

Status status_of(cl_int value) {
    switch (value) {
#define WYE_CL_STATUS(name, code) \
    case name:                    \
        return {Code::code, #name};
        WYE_CL_STATUS(CL_SUCCESS, OK)
        WYE_CL_STATUS(CL_DEVICE_NOT_FOUND, NO_DEVICE)
        WYE_CL_STATUS(CL_DEVICE_NOT_AVAILABLE, DEVICE_LOST)
        WYE_CL_STATUS(CL_COMPILER_NOT_AVAILABLE, COMPILE_FAILED)
        WYE_CL_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE, DEVICE_MEMORY)
        WYE_CL_STATUS(CL_OUT_OF_RESOURCES, DEVICE_MEMORY)
        WYE_CL_STATUS(CL_OUT_OF_HOST_MEMORY, OUT_OF_MEMORY)
        WYE_CL_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE, UNSUPPORTED)
        WYE_CL_STATUS(CL_MEM_COPY_OVERLAP, INVALID_ARGUMENT)
        WYE_CL_STATUS(CL_BUILD_PROGRAM_FAILURE, COMPILE_FAILED)
        WYE_CL_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET, INVALID_ARGUMENT)
        WYE_CL_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, DRIVER)
        WYE_CL_STATUS(CL_COMPILE_PROGRAM_FAILURE, COMPILE_FAILED)
        WYE_CL_STATUS(CL_LINK_PROGRAM_FAILURE, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_VALUE, DRIVER)
        WYE_CL_STATUS(CL_INVALID_DEVICE_TYPE, DRIVER)
        WYE_CL_STATUS(CL_INVALID_PLATFORM, DRIVER)
        WYE_CL_STATUS(CL_INVALID_DEVICE, DRIVER)
        WYE_CL_STATUS(CL_INVALID_CONTEXT, DRIVER)
        WYE_CL_STATUS(CL_INVALID_QUEUE_PROPERTIES, UNSUPPORTED)
        WYE_CL_STATUS(CL_INVALID_COMMAND_QUEUE, DRIVER)
        WYE_CL_STATUS(CL_INVALID_MEM_OBJECT, DRIVER)
        WYE_CL_STATUS(CL_INVALID_BINARY, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_BUILD_OPTIONS, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_PROGRAM, DRIVER)
        WYE_CL_STATUS(CL_INVALID_PROGRAM_EXECUTABLE, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_KERNEL_NAME, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_KERNEL_DEFINITION, COMPILE_FAILED)
        WYE_CL_STATUS(CL_INVALID_KERNEL, DRIVER)
        WYE_CL_STATUS(CL_INVALID_ARG_INDEX, INVALID_PROGRAM)
        WYE_CL_STATUS(CL_INVALID_ARG_VALUE, INVALID_PROGRAM)
        WYE_CL_STATUS(CL_INVALID_ARG_SIZE, INVALID_PROGRAM)
        WYE_CL_STATUS(CL_INVALID_KERNEL_ARGS, INVALID_PROGRAM)
        WYE_CL_STATUS(CL_INVALID_WORK_DIMENSION, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_WORK_GROUP_SIZE, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_WORK_ITEM_SIZE, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_GLOBAL_OFFSET, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_EVENT_WAIT_LIST, DRIVER)
        WYE_CL_STATUS(CL_INVALID_EVENT, DRIVER)
        WYE_CL_STATUS(CL_INVALID_OPERATION, DRIVER)
        WYE_CL_STATUS(CL_INVALID_BUFFER_SIZE, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_GLOBAL_WORK_SIZE, LIMIT_EXCEEDED)
        WYE_CL_STATUS(CL_INVALID_PROPERTY, DRIVER)
#undef WYE_CL_STATUS
        case kPlatformNotFound:
            return {Code::NO_DEVICE, "CL_PLATFORM_NOT_FOUND_KHR"};
        case kNvidiaIllegalAccess:
            return {Code::DRIVER, "NVIDIA's status of an illegal access"};
        default:
            return {Code::DRIVER, "unknown OpenCL status"};
    }
}

namespace {

std::string_view remedy(Code code) {
    switch (code) {
        case Code::NO_DEVICE:
            return "Fix: install an OpenCL driver (for the CPU, on Debian: `pocl-opencl-icd`)";
        case Code::DEVICE_LOST:
            return sdk::errors::kOpenAgain;
        case Code::DEVICE_MEMORY:
            return "Fix: free buffers, use smaller ones, or choose a device with more memory";
        case Code::OUT_OF_MEMORY:
            return "Fix: free host memory";
        case Code::LIMIT_EXCEEDED:
            return "Fix: stay within the limits that `wye info -l` shows for this device";
        default:
            return "Fix: update the OpenCL driver, or use another device (`cpu` is always there)";
    }
}

}  // namespace

bool hints_at_loss(cl_int value) {
    const Code code = status_of(value).code;
    return code == Code::DRIVER || code == Code::DEVICE_LOST || value == CL_OUT_OF_RESOURCES;
}

EventState state_of(const Driver& driver, cl_event event) {
    EventState out;
    out.status = driver.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof out.state,
                                       &out.state, nullptr);
    return out;
}

EventTimes times_of(const Driver& driver, cl_event first, cl_event last) {
    cl_ulong start = 0;
    cl_ulong end = 0;
    if (driver.clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                       nullptr) != CL_SUCCESS ||
        driver.clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) !=
            CL_SUCCESS)
        return {};
    return {start, end};
}

Error native_error(cl_int value, std::string_view call, std::string_view subject) {
    const Status status = status_of(value);
    return sdk::errors::native({"opencl", status.code, value, status.name, {}}, call, subject,
                               remedy(status.code));
}

}  // namespace wye::opencl
