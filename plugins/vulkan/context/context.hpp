// SPDX-License-Identifier: Apache-2.0
//
// Context: the VkDevice of an opened device, with all features that the plugin can use, its queues,
// and the pipeline layouts that programs share. Free-threaded.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "vulkan/discovery.hpp"
#include "vulkan/handle.hpp"
#include "vulkan/resources/layouts.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::vulkan {

// A VkQueue with its lock, since a VkQueue takes one call at a time. Several of the plugin's queues
// may share it (quirk lavapipe-one-queue).
struct SharedQueue {
    sdk::Mutex mutex;
    VkQueue handle WYE_GUARDED_BY(mutex) = VK_NULL_HANDLE;
};

// The kind of engine that a command buffer is for.
enum class Lane : std::uint8_t { Compute = 0, Transfers = 1 };

class Context : public ContextState {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(const InstanceTable& instance,
                                                                 const DeviceInfo& info);

    // The free part of the driver's budget; UINT64_MAX if the driver reports no budget.
    [[nodiscard]] std::uint64_t free_bytes() const;
    // Creates the timeline semaphore that numbers a queue's segments, and chooses the queue's
    // VkQueue, round-robin.
    [[nodiscard]] VkResult make_queue(const wye_queue_desc& wanted, SemaphoreHandle& out,
                                      sdk::QueueGrant& granted);
    // The VkQueue that a new queue uses for copies; null if the device has no VkQueue that only
    // copies. Queues of the kind TRANSFER take these VkQueues round-robin in ascending order, other
    // queues in descending order.
    [[nodiscard]] SharedQueue* next_transfers(bool for_transfers) {
        if (transfers_.empty()) return nullptr;
        const std::size_t turn = transfer_turns_[for_transfers].fetch_add(1) % transfers_.size();
        return transfers_[for_transfers ? turn : transfers_.size() - 1 - turn].get();
    }
    // The queue family of the lane's command buffers.
    [[nodiscard]] std::uint32_t family(Lane lane) const {
        return lane == Lane::Compute ? info_.family.index : info_.transfers.index;
    }
    // Describes a buffer for copies and for `usages`, on the VkQueues of both lanes.
    [[nodiscard]] VkBufferCreateInfo describe_buffer(std::uint64_t size,
                                                     VkBufferUsageFlags usages = 0) const;
    // The VkQueue that `granted` names.
    [[nodiscard]] SharedQueue& queue(const sdk::QueueGrant& granted) {
        return *queues_[granted.native_index - 1];
    }
    Layouts layouts;

  private:
    Context(const InstanceTable& instance, const DeviceInfo& info)
        : instance_(instance), info_(info) {}
    using Queues = std::vector<std::unique_ptr<SharedQueue>>;
    void take_queues(Lane lane, std::uint32_t count, Queues& out);

    const InstanceTable& instance_;
    const DeviceInfo& info_;
    Queues queues_, transfers_;
    std::atomic<std::uint32_t> turn_{0};
    std::array<std::atomic<std::uint32_t>, 2> transfer_turns_{};
    std::array<std::uint32_t, 2> families_{};  // of the two lanes, if they differ; else 0
};

}  // namespace wye::vulkan
