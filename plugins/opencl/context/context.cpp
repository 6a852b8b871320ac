// SPDX-License-Identifier: Apache-2.0
#include "opencl/context/context.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "opencl/context/host_mapping.hpp"
#include "opencl/quirks.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::opencl {
namespace {

constexpr std::chrono::seconds kPatience(1);  // time limit for a device that may be lost

bool no_room(cl_int status) {
    return status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY ||
           status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const Driver& driver, const DeviceInfo& info,
                                                 bool lost_before) {
    std::unique_ptr<Context> context(new Context(driver, info));
    if (pocl_shared_code(info)) context->number_.emplace();
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(info.platform), 0};
    cl_int status = CL_SUCCESS;
    context->handle_ = ContextHandle(
        driver, driver.clCreateContext(properties, 1, &info.id, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) {
        Error error = native_error(status, "clCreateContext", info.name);
        if (!lost_before) return error;
        error.code = Code::DEVICE_LOST;
        error.fix = sdk::errors::kRestart;
        return error;
    }
    status = context->allocate(kLeastBytes, false, context->nothing_);
    if (status != CL_SUCCESS) return native_error(status, "clCreateBuffer", info.name);
    return context;
}

cl_int Context::allocate(std::uint64_t size, bool on_host, MemoryHandle& out) const {
    cl_int status = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (on_host ? CL_MEM_ALLOC_HOST_PTR : 0);
    out = MemoryHandle(driver_, driver_.clCreateBuffer(get(), flags, std::max(size, kLeastBytes),
                                                       nullptr, &status));
    return status;
}

bool Context::has_priorities() const {
    return info_.has_extension("cl_khr_priority_hints") &&
           driver_.clCreateCommandQueueWithProperties != nullptr;
}

cl_int Context::make_queue(bool timing, QueueHandle& out, int priority) const {
    const cl_command_queue_properties properties = timing ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int status = CL_SUCCESS;
    if (priority != 0) {
        const cl_ulong level =
            priority > 0 ? CL_QUEUE_PRIORITY_HIGH_KHR : CL_QUEUE_PRIORITY_LOW_KHR;
        const cl_ulong list[] = {CL_QUEUE_PROPERTIES, properties, CL_QUEUE_PRIORITY_KHR, level, 0};
        out = QueueHandle(
            driver_, driver_.clCreateCommandQueueWithProperties(get(), info_.id, list, &status));
        return status;
    }
    out = QueueHandle(driver_, driver_.clCreateCommandQueue(get(), info_.id, properties, &status));
    return status;
}

cl_int Context::finish(cl_command_queue queue) const {
    if (!rusticl_finish(info_)) return driver_.clFinish(queue);
    EventHandle marker;
    cl_int status = driver_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.receive(driver_));
    if (status == CL_SUCCESS) status = driver_.clFlush(queue);
    const cl_event raw = marker.get();
    if (status == CL_SUCCESS) status = driver_.clWaitForEvents(1, &raw);
    // A failed command is no error of this wait, but of the command's own timeline value.
    return status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? CL_SUCCESS : status;
}

std::string Context::number_option() const {
    if (!number_ || number_->get() == 0) return {};
    return " -DWYE_CONTEXT=" + std::to_string(number_->get());
}

Result<void> Context::check_numbered(Code code, const std::string& label) const {
    if (number_option().empty()) return {};
    return Error(code, "program `" + label + "` is compiled apart from those of other contexts",
                 "Fix: none needed; programs of the first context are saved and loaded", label);
}

Result<HostMapping> Context::map(cl_mem memory, std::uint64_t size) {
    const sdk::Lock lock(mapping_);
    cl_int status = CL_SUCCESS;
    if (!mapper_) status = make_queue(pocl_one_queue(info_), mapper_);
    if (status != CL_SUCCESS) return native_error(status, "clCreateCommandQueue", info_.name);
    void* address =
        driver_.clEnqueueMapBuffer(mapper_.get(), memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   std::max(size, kLeastBytes), 0, nullptr, nullptr, &status);
    if (status != CL_SUCCESS) return native_error(status, "clEnqueueMapBuffer", info_.name);
    return HostMapping(*this, memory, static_cast<std::byte*>(address));
}

void Context::unmap(cl_mem memory, std::byte* address) {
    const sdk::Lock lock(mapping_);
    if (driver_.clEnqueueUnmapMemObject(mapper_.get(), memory, address, 0, nullptr, nullptr) ==
        CL_SUCCESS)
        (void)finish(mapper_.get());
}

bool Context::answers() const {
    QueueHandle queue;
    cl_int status = make_queue(false, queue);
    // Lack of memory is not a loss. The queue needs memory, and so may the buffer nothing(), if the
    // driver allocates its memory only at the first use.
    if (status != CL_SUCCESS) return no_room(status);
    const cl_uint zero = 0;
    EventHandle event;
    status = driver_.clEnqueueFillBuffer(queue.get(), nothing(), &zero, sizeof zero, 0, sizeof zero,
                                         0, nullptr, event.receive(driver_));
    if (status != CL_SUCCESS) return no_room(status);
    if (driver_.clFlush(queue.get()) != CL_SUCCESS) return false;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < kPatience) {
        const EventState now = state_of(driver_, event.get());
        if (now.status != CL_SUCCESS) return no_room(now.status);
        if (now.state <= CL_COMPLETE) return now.state == CL_COMPLETE;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;  // a slow device, or one busy with other work, is not lost
}

}  // namespace wye::opencl
