// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "opencl/program.hpp"
#include "opencl/queue.hpp"
#include "opencl/status.hpp"

namespace wye::opencl {
namespace {

constexpr std::chrono::seconds kPatience(1);  // with a device that may be lost

bool no_room(cl_int status) {
    return status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY ||
           status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

}  // namespace

Result<std::unique_ptr<OpenDevice>> OpenDevice::open(Plugin& plugin, std::uint32_t index) {
    const Device& info = plugin.devices[index];
    const Driver& driver = *plugin.driver;
    if (!info.usable()) {
        Error error(Code::NO_DEVICE, info.reason, info.fix, info.name);
        error.native_domain = "opencl";
        error.native_code = info.native_code;
        return error;
    }
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(info.platform), 0};
    cl_int status = CL_SUCCESS;
    Context context(driver,
                    driver.clCreateContext(properties, 1, &info.id, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) {
        Error error = cl_error(status, "clCreateContext", info.name);
        if (!plugin.lost_any.load()) return error;
        error.code = Code::DEVICE_LOST;
        error.fix = "Fix: restart the process: after a loss its driver gives it no new context";
        return error;
    }
    Memory nothing(driver, driver.clCreateBuffer(context.get(), CL_MEM_READ_WRITE, kLeastBytes,
                                                 nullptr, &status));
    if (status != CL_SUCCESS) return cl_error(status, "clCreateBuffer", info.name);
    return std::unique_ptr<OpenDevice>(
        new OpenDevice{plugin, driver, info, std::move(context), std::move(nothing)});
}

Error OpenDevice::how_lost() {
    const std::lock_guard lock(loss_mutex);
    return *loss;
}

Error OpenDevice::judged(Error error) {
    if (error.native_domain != "opencl" || !hints_at_loss(error.native_code)) return error;
    if (!lost.load(std::memory_order_acquire) && answers()) return error;
    error.code = Code::DEVICE_LOST;
    error.fix =
        "Fix: open the device again, and restart the process where that fails; if a program of Wye "
        "did this, report it";
    const std::lock_guard lock(loss_mutex);
    if (!loss) {
        loss = error;
        plugin.lost_any.store(true);
        lost.store(true, std::memory_order_release);
    }
    return error;
}

bool OpenDevice::answers() const {
    cl_int status = CL_SUCCESS;
    const CommandQueue queue(driver,
                             driver.clCreateCommandQueue(context.get(), info.id, 0, &status));
    // No room for one more queue says nothing, and none for `nothing`, if its memory comes only
    // now.
    if (status != CL_SUCCESS) return no_room(status);
    const cl_uint zero = 0;
    cl_event raw = nullptr;
    status = driver.clEnqueueFillBuffer(queue.get(), nothing.get(), &zero, sizeof zero, 0,
                                        sizeof zero, 0, nullptr, &raw);
    if (status != CL_SUCCESS) return no_room(status);
    const Event event(driver, raw);
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

namespace {

// OpenCL does not say what is free, only what there is; the figures are what can be known.
Error no_memory(const OpenDevice& device, cl_int status, std::uint64_t size,
                std::string_view label) {
    const Device& info = device.info;
    Error error = cl_error(status, "clCreateBuffer", "");
    error.code = Code::DEVICE_MEMORY;
    error.message = "a buffer of " + std::to_string(size) + " bytes does not fit into " +
                    info.name + ": " + std::string(status_of(status).name) + " (" +
                    std::to_string(status) + "); it has " + std::to_string(info.memory_bytes) +
                    " bytes in all, " + std::to_string(info.max_alloc_bytes) +
                    " at once, and buffers of this program take " +
                    std::to_string(device.allocated.load());
    error.fix = "Fix: free buffers, use smaller ones, or choose a device with more memory";
    error.subject = label.empty() ? info.name : std::string(label);
    return error;
}

}  // namespace

Result<std::unique_ptr<Buffer>> create_buffer(OpenDevice& device, std::uint64_t size,
                                              std::string_view label) {
    cl_int status = CL_SUCCESS;
    Memory memory(device.driver,
                  device.driver.clCreateBuffer(device.context.get(), CL_MEM_READ_WRITE,
                                               std::max(size, kLeastBytes), nullptr, &status));
    if (status == CL_SUCCESS) return std::make_unique<Buffer>(device, std::move(memory), size);
    if (status == CL_INVALID_BUFFER_SIZE || status_of(status).code == Code::DEVICE_MEMORY)
        return no_memory(device, status, size, label);
    return cl_error(status, "clCreateBuffer of " + std::to_string(size) + " bytes",
                    label.empty() ? device.info.name : std::string(label));
}

namespace {

wye_status buffer_create(wye_device_object* object, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        WYE_ASSIGN(auto buffer, create_buffer(device, desc->size, sdk::from_abi(desc->label)));
        *out = reinterpret_cast<wye_buffer_object*>(buffer.release());
        return {};
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) { delete &buffer_of(buffer); }

wye_status program_create(wye_device_object* object, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::build(device, *artifact, {}));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

wye_status program_load(wye_device_object* object, const wye_artifact* artifact, wye_bytes saved,
                        wye_program_object** out, wye_error** error) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::build(device, *artifact, saved));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

wye_status program_save(wye_device_object* object, wye_program_object* program, wye_bytes* out,
                        wye_error** error) {
    return device_of(object).guard(error, [&]() -> Result<void> {
        WYE_ASSIGN(*out, program_of(program).save());
        return {};
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    delete &program_of(program);
}

wye_status queue_create(wye_device_object* object, const wye_queue_desc* desc,
                        wye_queue_object** out, const wye_queue_table** table, wye_error** error) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        WYE_ASSIGN(auto queue, Queue::create(device, desc->timing != 0));
        *out = reinterpret_cast<wye_queue_object*>(queue.release());
        *table = &kQueueTable;
        return {};
    });
}

wye_status memory_info(wye_device_object* object, wye_memory_info* out, wye_error**) {
    out->total_bytes = device_of(object).info.memory_bytes;
    out->free_bytes = UINT64_MAX;  // OpenCL does not say
    return WYE_OK;
}

std::uint32_t device_lost(wye_device_object* object) {
    return device_of(object).lost.load(std::memory_order_acquire) ? 1 : 0;
}

void close_device(wye_device_object* object) { delete &device_of(object); }

constexpr wye_device_table make_table() {
    wye_device_table table{};
    table.header = sdk::header_of(sizeof table);
    table.buffer_create = buffer_create;
    table.buffer_destroy = buffer_destroy;
    table.program_create = program_create;
    table.program_destroy = program_destroy;
    table.program_save = program_save;
    table.program_load = program_load;
    table.queue_create = queue_create;
    table.memory_info = memory_info;
    table.device_lost = device_lost;
    table.close = close_device;
    return table;
}

}  // namespace

constinit const wye_device_table kDeviceTable = make_table();

}  // namespace wye::opencl
