// SPDX-License-Identifier: Apache-2.0
//
// Recording: a command buffer, with its command pool and descriptor pools. One thread records and
// submits the command buffer. Once its work has ended, the command buffer may be submitted again
// unchanged, for an equal recipe, or recorded anew. The command buffer of a Command may also be
// submitted again while it is pending.
#pragma once

#include <memory>
#include <vector>

#include "vulkan/buffer.hpp"
#include "vulkan/commands/barriers.hpp"
#include "vulkan/commands/recipe.hpp"
#include "vulkan/commands/staging.hpp"
#include "vulkan/program.hpp"

namespace wye::vulkan {

// The memory for arguments of a dispatch that are not in the command buffer.
struct DispatchMemory {
    StagedRange block;   // the program's argument block, if it is in a buffer
    StagedRange groups;  // workgroup counts; without a buffer, the counts are in the command buffer
    bool exchangeable = false;  // the descriptor set may get other buffers later
};

class Recording {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Recording>> create(Device& device, Lane lane);

    // Starts recording. The commands will run after all earlier submits of the queue.
    // `simultaneous`: the command buffer may be pending several times at once.
    [[nodiscard]] Result<void> begin(bool simultaneous = false);
    [[nodiscard]] Result<void> dispatch(const Program& program, const wye_dispatch_op& op,
                                        const DispatchMemory& memory);
    // The descriptor set of the last dispatch; null: none.
    [[nodiscard]] VkDescriptorSet descriptor_set() const { return set_; }
    // Writes a launch's buffers and argument block to a descriptor set, which no pending work may
    // use.
    void write(VkDescriptorSet set, const Program& program, const wye_dispatch_op& op,
               const StagedRange& block);
    void copy(const Buffer& source, const Buffer& target, const wye_copy_op& op);
    // `staged` must have as many bytes as parts_of(op) states.
    void fill(const Buffer& target, const wye_fill_op& op, const StagedRange& staged);
    // `copy_in` copies from staged bytes, `copy_out` copies to staged bytes. The source offsets in
    // `regions` count from the start of the staging buffer, not of `source`.
    void copy_in(const StagedRange& source, const Buffer& target,
                 const std::vector<VkBufferCopy>& regions);
    void copy_out(const Buffer& source, std::uint64_t offset, std::uint64_t size,
                  const StagedRange& target);
    // Ends recording, with a barrier that makes writes visible to the host once the work has ended.
    [[nodiscard]] Result<void> end();

    [[nodiscard]] VkCommandBuffer commands() const { return commands_; }
    [[nodiscard]] bool ended() const { return ended_; }

    // Stores the recipe of the recorded commands. A recording without a recipe is never reused
    // unchanged.
    void remember(const Recipe& recipe) { recipe_ = recipe; }
    [[nodiscard]] bool repeats(const Recipe& recipe) const {
        return ended_ && !recipe.empty() && recipe_ == recipe;
    }

  private:
    Recording(Device& device, Lane lane)
        : device_(device),
          stages_(lane == Lane::Compute
                      ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT
                      : VK_PIPELINE_STAGE_TRANSFER_BIT) {}
    void separate(Stage stage, std::span<const Access> accesses);
    void await_groups();
    Result<VkDescriptorSet> allocate_set(const Layouts::Layout& layout);
    Result<void> bind(const Program& program, const wye_dispatch_op& op, const StagedRange& block);
    [[nodiscard]] bool is_bound(const Program& program, const wye_dispatch_op& op) const;

    Device& device_;
    const VkPipelineStageFlags stages_;  // the stages of the lane's commands
    CommandPoolHandle pool_;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;  // freed with its pool
    std::vector<DescriptorPoolHandle> descriptor_pools_;
    std::size_t current_pool_ = 0;
    BarrierPlanner planner_;
    bool ended_ = false;
    Recipe recipe_;

    // The state that the last dispatch bound.
    const Program* bound_program_ = nullptr;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    bool exchangeable_ = false;  // set_ may be rewritten later
    std::vector<wye_binding> bound_ranges_;
    std::vector<VkDescriptorBufferInfo> infos_;
    std::vector<Access> accesses_;
    std::vector<std::byte> block_;
};

}  // namespace wye::vulkan
