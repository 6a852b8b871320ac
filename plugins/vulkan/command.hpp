// SPDX-License-Identifier: Apache-2.0
//
// Command: operations in one command buffer, which is recorded at the first execution and submitted
// again by later ones. Late values, which each execution gives anew, are updated in the cheapest
// way that the device allows:
//
//     argument blocks in buffers, and workgroup counts of programs whose grid is not in push
//     constants: written to mapped memory;
//     buffers of dispatches: written to descriptor sets, if the device allows that after recording;
//     all other values: the command buffer is recorded again if one of them differs.
//
// One thread at a time, except for `describe`.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/commands/segments.hpp"

namespace wye::vulkan {

class Command {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Command>> create(Device& device,
                                                                 const wye_command_desc& desc);
    // Waits for pending executions.
    ~Command() { (void)last_use.wait(); }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    void describe(wye_command_info& out) const;
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);

    // Whether the command buffer was recorded, and has the late values of this execution.
    [[nodiscard]] bool is_recorded(const wye_execute_op& op) const {
        return recorded_ && gives_same_buffers(op) && gives_same_params(op);
    }
    // Whether the command has operations, and all of them are dispatches or fills.
    [[nodiscard]] bool is_light() const { return light_; }
    // Waits for earlier executions, and then changes the command buffer's late values for this
    // execution, or records the command buffer again.
    [[nodiscard]] Result<void> record(const wye_execute_op& op);
    [[nodiscard]] VkCommandBuffer commands() const { return recording_->commands(); }

    LastUse last_use;  // set by the submits that include the command

  private:
    // Which values of an operation are late, and where the recording keeps them.
    struct Step {
        bool late_buffers = false, late_params = false, late_grid = false;
        bool indirect = false;                     // late workgroup counts are read from memory
        bool late_indirect = false;                // the buffer range of an indirect launch is late
        DispatchMemory memory;                     // for a fill, `block` has the staged bytes
        VkDescriptorSet set = VK_NULL_HANDLE;      // set of a dispatch; null: none
        std::vector<std::byte> pushed;             // push constants, as recorded
        std::array<std::uint32_t, 3> groups = {};  // workgroup counts, as recorded

        [[nodiscard]] bool late() const { return late_buffers || late_params || late_grid; }
    };
    // A binding of an execution. Buffers are identified by serial, since addresses are reused.
    struct Given {
        std::uint64_t serial = 0, offset = 0, size = 0, elements = 0;
        friend bool operator==(const Given&, const Given&) = default;
    };
    // A range of the execution's parameter block that an operation uses.
    struct Part {
        std::uint32_t offset, size;
    };

    Command(Device& device, sdk::CommandList list) : device_(device), list_(std::move(list)) {}
    static Step step_of(const wye_operation& described);
    static Given given(const wye_binding& slot) {
        return {buffer_of(slot.buffer).serial, slot.offset, slot.size, slot.elements};
    }
    [[nodiscard]] bool gives_same_buffers(const wye_execute_op& op) const {
        for (std::size_t s = 0; s < buffers_.size(); ++s)
            if (given(op.slots[s]) != buffers_[s]) return false;
        return true;
    }
    [[nodiscard]] bool gives_same_params(const wye_execute_op& op) const;
    // Computes the other members from `list_` and `steps_`.
    void plan();
    // Assigns ranges of `memory_` to argument blocks, workgroup counts and staged bytes.
    Result<void> place();
    Result<void> record_all();
    Result<void> record(Step& step, const wye_operation& operation);
    // Writes the late values to memory and descriptor sets. False: a late value is in the command
    // buffer itself, which must be recorded again.
    Result<bool> rewrite();
    Result<bool> rewrite(const Step& step, const wye_dispatch_op& op);

    Device& device_;
    sdk::CommandList list_;
    std::vector<Step> steps_;  // indexed by operation
    std::uint32_t slot_count_ = 0;
    bool rewrites_buffers_ = false;  // late buffers are written to descriptor sets
    std::unique_ptr<Buffer> memory_;
    std::unique_ptr<Recording> recording_;
    bool recorded_ = false, planned_ = false, light_ = false;
    std::atomic<std::uint64_t> recordings_{0};
    std::vector<std::byte> block_;

    // The late values of the recorded execution, and the ranges of params_ that operations use.
    std::vector<Given> buffers_;
    std::vector<std::byte> params_;
    std::vector<Part> parts_;

    mutable sdk::Mutex mutex_;
    wye_command_info verdict_ WYE_GUARDED_BY(mutex_) = {};
};

}  // namespace wye::vulkan
