// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.hpp"

#include <chrono>
#include <thread>

#include "opencl/buffer.hpp"
#include "opencl/status.hpp"

namespace wye::opencl {

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    const Driver& driver = device->driver;
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(info.platform), 0};
    cl_int status = CL_SUCCESS;
    device->context_ = ContextHandle(
        driver, driver.clCreateContext(properties, 1, &info.id, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) {
        Error error = device->failed(status, "clCreateContext");
        if (!plugin.lost_any.load()) return error;
        error.code = Code::DEVICE_LOST;
        error.fix = sdk::errors::kRestart;
        return error;
    }
    device->nothing_ =
        MemoryHandle(driver, driver.clCreateBuffer(device->context(), CL_MEM_READ_WRITE,
                                                   Buffer::kLeastBytes, nullptr, &status));
    WYE_TRY(device->check(status, "clCreateBuffer"));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    return sdk::MemoryState{info.memory_bytes, UINT64_MAX};  // OpenCL does not say what is free
}

Error Device::failed(cl_int status, std::string_view call, std::string_view subject) const {
    return native_error(status, call, subject.empty() ? std::string_view(info.name) : subject);
}

Error Device::judged(Error error) {
    if (error.native_domain != Plugin::kDomain || !hints_at_loss(error.native_code)) return error;
    if (!loss.lost() && answers()) return error;
    error.code = Code::DEVICE_LOST;
    error.fix = sdk::errors::kOpenAgain;
    loss.record(error);
    plugin.lost_any.store(true);
    return error;
}

namespace {

constexpr std::chrono::seconds kPatience(1);  // with a device that may be lost

bool no_room(cl_int status) {
    return status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY ||
           status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

}  // namespace

bool Device::answers() const {
    cl_int status = CL_SUCCESS;
    const QueueHandle queue(driver, driver.clCreateCommandQueue(context(), info.id, 0, &status));
    // No room for one more queue says nothing, and none for `nothing`, if its memory comes only
    // now.
    if (status != CL_SUCCESS) return no_room(status);
    const cl_uint zero = 0;
    cl_event raw = nullptr;
    status = driver.clEnqueueFillBuffer(queue.get(), nothing(), &zero, sizeof zero, 0, sizeof zero,
                                        0, nullptr, &raw);
    if (status != CL_SUCCESS) return no_room(status);
    const EventHandle event(driver, raw);
    if (driver.clFlush(queue.get()) != CL_SUCCESS) return false;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < kPatience) {
        const EventState now = state_of(driver, event.get());
        if (now.status != CL_SUCCESS) return no_room(now.status);
        if (now.state <= CL_COMPLETE) return now.state == CL_COMPLETE;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;  // busy with other work
}

}  // namespace wye::opencl
