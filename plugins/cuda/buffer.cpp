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
    if (desc.usage == WYE_BUFFER_USAGE_REGISTERED) return register_memory(device, desc);
    const std::string_view label = sdk::from_abi(desc.label);
    const Current current(device.context());
    Context::Memory memory;
    HostMemoryHandle host;
    const bool on_host = desc.usage != WYE_BUFFER_USAGE_DEVICE;
    const CUresult status = on_host ? device.context().allocate_host(desc.size, host)
                                    : device.context().allocate(desc.size, memory);
    if (status == CUDA_SUCCESS)
        return std::unique_ptr<Buffer>(on_host ? new Buffer(device, std::move(host))
                                               : new Buffer(device, std::move(memory)));
    Error error =
        device.failed(status, "allocating " + std::to_string(desc.size) + " bytes", label);
    if (error.code != Code::DEVICE_MEMORY) return error;
    return sdk::errors::no_memory(std::move(error), desc.size, device.info.name, room(device));
}

Result<std::unique_ptr<Buffer>> Buffer::register_memory(Device& device,
                                                        const wye_buffer_desc& desc) {
    const Current current(device.context());
    const CUresult status = device.driver.cuMemHostRegister(desc.memory, desc.size, 0);
    if (status == CUDA_SUCCESS)
        return std::unique_ptr<Buffer>(
            new Buffer(device, RegisteredHandle(device.context(), desc.memory)));
    Error error =
        device.failed(status, "registering " + std::to_string(desc.size) + " bytes of host memory",
                      sdk::from_abi(desc.label));
    if (status == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
        error.code = Code::DUPLICATE;
        error.fix =
            "Fix: register memory once in the process: CUDA counts all devices, contexts and other "
            "users of the driver together";
    } else if (status == CUDA_ERROR_OUT_OF_MEMORY || status == CUDA_ERROR_INVALID_VALUE) {
        error.fix =
            "Fix: register memory that is mapped and writable, and less of it at once; it is "
            "locked in the machine's memory (`ulimit -l`)";
    }
    return error;
}

Result<std::unique_ptr<Buffer>> Buffer::adopt(Device& device, const wye_buffer_desc& desc) {
    constexpr std::string_view kType = "CUdeviceptr";
    WYE_ASSIGN(const auto memory, sdk::native_value_as<CUdeviceptr>(desc, kType, device.info.name));
    const Current current(device.context());
    const auto ask = [&](CUpointer_attribute key, auto& value) -> Result<void> {
        const CUresult status = device.driver.cuPointerGetAttribute(&value, key, memory);
        if (status == CUDA_ERROR_INVALID_VALUE)
            return sdk::native_unfit(desc, kType, "CUDA does not know the address",
                                     "allocate it with cuMemAlloc or cudaMalloc");
        return device.check(status, "cuPointerGetAttribute", sdk::from_abi(desc.label));
    };
    int owner = 0;
    unsigned type = 0;
    CUdeviceptr start = 0;
    std::size_t size = 0;
    WYE_TRY(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, type));
    if (type != CU_MEMORYTYPE_DEVICE)
        return sdk::native_unfit(desc, kType, "it is no memory of a device",
                                 "allocate it with cuMemAlloc or cudaMalloc");
    WYE_TRY(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, owner));
    WYE_TRY(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, start));
    WYE_TRY(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE, size));
    if (owner != device.info.id) return sdk::native_of_other(desc, kType, device.info.name);
    WYE_TRY(sdk::check_native(desc, size - (memory - start), memory));
    return std::unique_ptr<Buffer>(new Buffer(device, memory));
}

Result<sdk::Mapping> Buffer::map() const {
    if (registered_) return sdk::Mapping{registered_.get(), true};
    if (!host_) return sdk::errors::not_mappable(device_.info.name);
    return sdk::Mapping{host_.get(), true};
}

}  // namespace wye::cuda
