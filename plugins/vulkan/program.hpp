// SPDX-License-Identifier: Apache-2.0
//
// Program: a compute pipeline, and the layout of its launches' arguments. Immutable once built, and
// free-threaded.
//
// Descriptor set 0 has the storage buffers in binding order, then the trap words, then the argument
// block (lengths, parameters and grid), if the block is too large for push constants.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::vulkan {

class Program {
  public:
    // `saved`: the result of `save` for the same artifact, or empty. COMPILE_FAILED: the code is
    // not a valid module, or the driver refuses the module. UNSUPPORTED: `saved` is damaged or of
    // another driver, or the device or plugin does not support the format, a slot or the subgroup
    // size.
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);

    // Returns the driver's compiled form, which is valid until the next call. One caller at a time.
    [[nodiscard]] Result<wye_bytes> save();

    // Reports only limits of the device, since Vulkan reports none of a pipeline.
    void describe(wye_program_info& out) const;
    [[nodiscard]] sdk::ArgumentSizes sizes() const { return shape_.sizes(); }

    // UNSUPPORTED if the launch needs an argument for which there is no slot; INVALID_ARGUMENT if
    // the device cannot bind a range at its offset.
    [[nodiscard]] Result<void> check(const wye_dispatch_op& op) const;
    // Writes a launch's argument block, of block_bytes() bytes, to `out`.
    void fill_block(const wye_dispatch_op& op, std::byte* out) const;

    [[nodiscard]] std::uint64_t serial() const { return serial_; }  // unique per device
    [[nodiscard]] VkPipeline pipeline() const { return pipeline_.get(); }
    [[nodiscard]] VkPipelineLayout layout() const { return layout_->pipeline.get(); }
    // The layout may have more descriptors than the program uses; see layouts.hpp.
    [[nodiscard]] const Layouts::Layout& shared_layout() const { return *layout_; }
    [[nodiscard]] std::uint32_t binding_count() const { return shape_.binding_count; }
    [[nodiscard]] bool has_trap() const { return shape_.has_trap; }
    [[nodiscard]] bool has_grid() const { return shape_.has_grid; }
    // Whether the program has bindings, trap words or an argument block in a buffer.
    [[nodiscard]] bool has_descriptors() const { return descriptor_count() != 0; }
    // The argument block's size, a multiple of 4; 0: no block.
    [[nodiscard]] std::uint32_t block_bytes() const { return block_bytes_; }
    [[nodiscard]] bool block_in_buffer() const { return block_bytes_ != 0 && !push_; }
    [[nodiscard]] bool block_in_push_constants() const { return block_bytes_ != 0 && push_; }
    // How a launch accesses a binding. Bit 0: reads; bit 1: writes.
    [[nodiscard]] std::uint32_t access(std::uint32_t binding) const { return access_[binding]; }

  private:
    Program(Device& device, sdk::LaunchShape shape);
    Result<void> compile(const wye_artifact& artifact, wye_bytes saved);
    Result<void> make_pipeline(const wye_artifact& artifact, VkShaderModule module);
    // One more than the last binding in use. An argument block in a buffer has the same binding
    // with and without trap words.
    [[nodiscard]] std::uint32_t descriptor_count() const {
        if (block_in_buffer()) return shape_.binding_count + 2;
        return shape_.binding_count + (shape_.has_trap ? 1 : 0);
    }

    Device& device_;
    const sdk::LaunchShape shape_;
    const std::uint64_t serial_;
    std::vector<wye_slot> block_;        // the slots in the argument block
    std::vector<std::uint32_t> access_;  // indexed by binding
    std::uint32_t block_bytes_ = 0;
    bool push_ = true;

    const Layouts::Layout* layout_ = nullptr;  // owned by the device
    PipelineCacheHandle cache_;
    PipelineHandle pipeline_;
    std::vector<std::byte> saved_;
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::vulkan
