// SPDX-License-Identifier: Apache-2.0
//
// One command buffer, with its command pool, descriptor pools and timestamps. Recorded by one
// thread and submitted; once its work has ended, it is submitted again for an equal recipe, or
// recorded anew.
#pragma once

#include <memory>
#include <vector>

#include "vulkan/buffer.hpp"
#include "vulkan/commands/barriers.hpp"
#include "vulkan/commands/recipe.hpp"
#include "vulkan/commands/staging.hpp"
#include "vulkan/program.hpp"

namespace wye::vulkan {

// A timestamp in nanoseconds of the device's clock.
[[nodiscard]] std::uint64_t nanoseconds_of(const DeviceInfo& info, std::uint64_t ticks);

class Recording {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Recording>> create(Device& device, bool timed);

    // Whether it has timestamps.
    [[nodiscard]] bool timed() const { return timed_; }
    // Starts recording. The commands run after all earlier submits of the queue.
    [[nodiscard]] Result<void> begin();
    // `block` is used if the program's block is in a buffer.
    [[nodiscard]] Result<void> dispatch(const Program& program, const wye_dispatch_op& op,
                                        const StagedRange& block);
    void copy(const Buffer& source, const Buffer& target, const wye_copy_op& op);
    // Fills whole words with `word`.
    void fill(const Buffer& target, std::uint64_t offset, std::uint64_t size, std::uint32_t word);
    // Copies from and to staged bytes. The offsets in `regions` include that of the range.
    void copy_in(const StagedRange& source, const Buffer& target,
                 const std::vector<VkBufferCopy>& regions);
    void copy_out(const Buffer& source, std::uint64_t offset, std::uint64_t size,
                  const StagedRange& target);
    // Ends recording; makes writes visible to the host once the work has ended.
    [[nodiscard]] Result<void> end();

    [[nodiscard]] VkCommandBuffer commands() const { return commands_; }
    [[nodiscard]] bool ended() const { return ended_; }

    // The recipe that it was recorded from; empty: not repeatable.
    void remember(const Recipe& recipe) { recipe_ = recipe; }
    [[nodiscard]] bool repeats(const Recipe& recipe) const {
        return ended_ && !recipe.empty() && recipe_ == recipe;
    }

    // Device nanoseconds at the first and after the last command, on one clock.
    struct Times {
        std::uint64_t begin = 0, end = 0;
    };
    [[nodiscard]] Result<Times> times() const;

  private:
    Recording(Device& device, bool timed) : device_(device), timed_(timed) {}
    void separate(Stage stage, std::span<const Access> accesses);
    Result<VkDescriptorSet> allocate_set(const Layouts::Layout& layout);
    Result<void> bind(const Program& program, const wye_dispatch_op& op, const StagedRange& block);
    [[nodiscard]] bool is_bound(const Program& program, const wye_dispatch_op& op) const;

    Device& device_;
    const bool timed_;
    CommandPoolHandle pool_;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;  // freed with its pool
    QueryPoolHandle queries_;
    std::vector<DescriptorPoolHandle> descriptor_pools_;
    std::size_t current_pool_ = 0;
    BarrierPlanner planner_;
    bool ended_ = false;
    Recipe recipe_;

    // The state that the last dispatch bound.
    const Program* bound_program_ = nullptr;
    std::vector<wye_binding> bound_ranges_;
    std::vector<VkDescriptorBufferInfo> infos_;
    std::vector<Access> accesses_;
    std::vector<std::byte> block_;
};

}  // namespace wye::vulkan
