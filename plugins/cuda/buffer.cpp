// SPDX-License-Identifier: Apache-2.0
#include "cuda/buffer.hpp"

namespace wye::cuda {
namespace {

std::string room(const Device& device) {
    const Result<sdk::MemoryState> state = device.memory();
    if (!state.ok()) return "the driver has no more";
    return std::to_string(state->free) + " of " + std::to_string(state->total) + " bytes are free";
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, const wye_buffer_desc& desc) {
    const std::string_view label = sdk::from_abi(desc.label);
    const Current current(device.context());
    Context::Memory memory;
    HostMemoryHandle host;
    const bool on_host = desc.usage != WYE_BUFFER_USAGE_DEVICE;
    const CUresult status = on_host ? device.context().allocate_host(desc.size, host)
                                    : device.context().allocate(desc.size, memory);
    if (status == CUDA_SUCCESS)
        return std::unique_ptr<Buffer>(new Buffer(device, std::move(memory), std::move(host)));
    Error error =
        device.failed(status, "allocating " + std::to_string(desc.size) + " bytes", label);
    if (error.code != Code::DEVICE_MEMORY) return error;
    return sdk::errors::no_memory(std::move(error), desc.size, device.info.name, room(device));
}

Result<sdk::Mapping> Buffer::map() const {
    if (!host_) return sdk::errors::not_mappable(device_.info.name);
    return sdk::Mapping{host_.get(), true};
}

}  // namespace wye::cuda
