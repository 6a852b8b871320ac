// SPDX-License-Identifier: Apache-2.0
#include "opencl/buffer.hpp"

#include "opencl/status.hpp"

namespace wye::opencl {
namespace {

// A text about the device's memory: the total, and the use by this plugin, since OpenCL does not
// report free memory.
std::string room(const Device& device, cl_int status) {
    return std::string(status_of(status).name) + " (" + std::to_string(status) + "); it has " +
           std::to_string(device.info.memory_bytes) + " bytes in all, " +
           std::to_string(device.info.max_alloc_bytes) +
           " at once, and buffers of this program take " + std::to_string(device.allocated.load());
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, const wye_buffer_desc& desc) {
    const std::string_view label = sdk::from_abi(desc.label);
    MemoryHandle memory;
    const bool on_host = desc.usage != WYE_BUFFER_USAGE_DEVICE;
    // NVIDIA's driver allocates memory only when a buffer is first used, so it creates buffers of
    // any size.
    const cl_int status = desc.size > device.info.memory_bytes
                              ? CL_INVALID_BUFFER_SIZE
                              : device.context().allocate(desc.size, on_host, memory);
    if (status == CL_SUCCESS) {
        std::unique_ptr<Buffer> out(new Buffer(device, std::move(memory), desc.size));
        if (desc.usage == WYE_BUFFER_USAGE_STAGING) {
            WYE_ASSIGN(out->host_, device.context().map(out->memory(), desc.size));
        }
        return out;
    }
    Error error =
        device.failed(status, "clCreateBuffer of " + std::to_string(desc.size) + " bytes", label);
    if (status != CL_INVALID_BUFFER_SIZE && error.code != Code::DEVICE_MEMORY) return error;
    return sdk::errors::no_memory(std::move(error), desc.size, device.info.name,
                                  room(device, status));
}

Result<std::unique_ptr<Buffer>> Buffer::adopt(Device& device, const wye_buffer_desc& desc) {
    constexpr std::string_view kType = "cl_mem";
    WYE_ASSIGN(const auto memory, sdk::native_value_as<cl_mem>(desc, kType, device.info.name));
    const auto ask = [&](cl_mem_info key, auto& value) {
        return device.check(
            device.driver.clGetMemObjectInfo(memory, key, sizeof value, &value, nullptr),
            "clGetMemObjectInfo", sdk::from_abi(desc.label));
    };
    cl_context owner = nullptr;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    std::size_t size = 0;
    WYE_TRY(ask(CL_MEM_CONTEXT, owner));
    WYE_TRY(ask(CL_MEM_TYPE, type));
    WYE_TRY(ask(CL_MEM_FLAGS, flags));
    WYE_TRY(ask(CL_MEM_SIZE, size));
    if (owner != device.context().get()) return sdk::native_of_other(desc, kType, device.info.name);
    constexpr cl_mem_flags kPartly = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY |
                                     CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
    if (type != CL_MEM_OBJECT_BUFFER || (flags & kPartly) != 0)
        return sdk::native_unfit(desc, kType, "its flags limit who may read or write it",
                                 "create a buffer with CL_MEM_READ_WRITE alone");
    WYE_TRY(sdk::check_native(desc, size));
    WYE_TRY(device.check(device.driver.clRetainMemObject(memory), "clRetainMemObject"));
    return std::unique_ptr<Buffer>(new Buffer(device, MemoryHandle(device.driver, memory), 0));
}

Result<sdk::Mapping> Buffer::map() const {
    if (mapped() == nullptr) return sdk::errors::only_staging_mapped(device_.info.name);
    return sdk::Mapping{host_.get(), true};
}

}  // namespace wye::opencl
