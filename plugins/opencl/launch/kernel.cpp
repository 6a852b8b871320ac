// SPDX-License-Identifier: Apache-2.0
#include "opencl/launch/kernel.hpp"

#include <cstring>

#include "opencl/buffer.hpp"

namespace wye::opencl {

Kernel::Kernel(Device& device, const sdk::LaunchShape& shape, KernelHandle handle)
    : device_(&device), shape_(&shape), handle_(std::move(handle)) {
    for (const wye_slot& slot : shape.slots) arguments_.push_back({slot, kUnknown, {}});
}

Result<void> Kernel::set_word(cl_uint index, std::uint64_t word) {
    const cl_ulong value = word;
    const cl_int status =
        device_->driver.clSetKernelArg(handle_.get(), index, sizeof value, &value);
    if (status != CL_SUCCESS)
        return device_->failed(status, "clSetKernelArg " + std::to_string(index), shape_->label);
    arguments_[index].word = word;
    return {};
}

Result<void> Kernel::set_bytes(cl_uint index, const void* data, std::size_t size) {
    Argument& argument = arguments_[index];
    if (argument.bytes.size() == size && size != 0 &&
        std::memcmp(argument.bytes.data(), data, size) == 0)
        return {};
    argument.bytes.clear();  // the value is unknown if the call fails
    const cl_int status = device_->driver.clSetKernelArg(handle_.get(), index, size, data);
    if (status != CL_SUCCESS)
        return device_->failed(status, "clSetKernelArg " + std::to_string(index), shape_->label);
    const auto* bytes = static_cast<const std::byte*>(data);
    argument.bytes.assign(bytes, bytes + size);
    return {};
}

// A range that starts at byte 0 is passed as the whole buffer; any other range becomes a sub-buffer
// for this launch. The driver retains the memory objects that a queued launch uses.
Result<void> Kernel::set_buffer(cl_uint index, const wye_binding& binding,
                                std::vector<MemoryHandle>& temporary) {
    const Driver& driver = device_->driver;
    Argument& argument = arguments_[index];
    const Buffer& buffer = buffer_of(binding.buffer);
    const bool whole = binding.offset == 0;
    argument.word = kUnknown;
    cl_mem memory = whole ? buffer.memory() : device_->context().nothing();
    if (!whole && binding.size != 0) {
        const cl_buffer_region region{binding.offset, binding.size};
        cl_int status = CL_SUCCESS;
        temporary.emplace_back(
            driver, driver.clCreateSubBuffer(buffer.memory(), 0, CL_BUFFER_CREATE_TYPE_REGION,
                                             &region, &status));
        if (status != CL_SUCCESS) {
            Error error = device_->failed(
                status, "clCreateSubBuffer at byte " + std::to_string(binding.offset),
                shape_->label);
            if (status == CL_MISALIGNED_SUB_BUFFER_OFFSET)
                error.fix = "Fix: bind ranges at multiples of " +
                            std::to_string(device_->info.base_alignment_bits / 8) +
                            " bytes (`buffer_alignment` of the device)";
            return error;
        }
        memory = temporary.back().get();
    }
    const cl_int status =
        driver.clSetKernelArg(handle_.get(), index, sizeof memory, static_cast<void*>(&memory));
    if (status != CL_SUCCESS)
        return device_->failed(status, "clSetKernelArg " + std::to_string(index), shape_->label);
    if (whole) argument.word = buffer.serial();
    return {};
}

[[gnu::hot]] Result<void> Kernel::set(const wye_dispatch_op& op,
                                      std::vector<MemoryHandle>& temporary) {
    for (cl_uint index = 0; index < arguments_.size(); ++index) {
        const Argument& argument = arguments_[index];
        const wye_slot& slot = argument.slot;
        switch (slot.kind) {
            case WYE_SLOT_BUFFER: {
                const wye_binding& binding = op.bindings[slot.binding];
                if (binding.offset == 0 && argument.word == buffer_of(binding.buffer).serial())
                    break;
                WYE_TRY(set_buffer(index, binding, temporary));
                break;
            }
            case WYE_SLOT_LENGTH: {
                const std::uint64_t elements = op.bindings[slot.binding].elements;
                if (argument.word != elements) WYE_TRY(set_word(index, elements));
                break;
            }
            case WYE_SLOT_PARAMS:
                WYE_TRY(set_bytes(index, op.params, shape_->params_size));
                break;
            case WYE_SLOT_GRID: {
                const sdk::GridWords grid(op);
                WYE_TRY(set_bytes(index, grid.words, sizeof grid.words));
                break;
            }
            case WYE_SLOT_OPAQUE_ZERO:
                if (argument.word != 0) WYE_TRY(set_word(index, 0));
                break;
            case WYE_SLOT_TRAP:
                if (op.trap.offset == 0 && argument.word == buffer_of(op.trap.buffer).serial())
                    break;
                WYE_TRY(set_buffer(index, op.trap, temporary));
                break;
            default:
                break;
        }
    }
    return {};
}

}  // namespace wye::opencl
