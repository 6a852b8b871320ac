// SPDX-License-Identifier: Apache-2.0
#include "opencl/buffer.hpp"

#include "opencl/status.hpp"

namespace wye::opencl {
namespace {

// Text about the memory left. OpenCL does not report free memory, so it has the total and this
// plugin's own use.
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
    // NVIDIA's driver allocates memory only at its first use, so it creates buffers of any size.
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

Result<sdk::Mapping> Buffer::map() const {
    if (mapped() == nullptr) return sdk::errors::only_staging_mapped(device_.info.name);
    return sdk::Mapping{host_.get(), true};
}

}  // namespace wye::opencl
