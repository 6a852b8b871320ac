// SPDX-License-Identifier: Apache-2.0
//
// The VkDevice of an opened device, with all features that the plugin can use, its queues, and the
// layouts that programs share. [FREE].
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "vulkan/discovery.hpp"
#include "vulkan/handle.hpp"
#include "vulkan/resources/layouts.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::vulkan {

// A VkQueue takes one call at a time; several of the plugin's queues may share it (quirk
// lavapipe-one-queue).
struct SharedQueue {
    sdk::Mutex mutex;
    VkQueue handle WYE_GUARDED_BY(mutex) = VK_NULL_HANDLE;
};

class Context : public ContextState {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(const InstanceTable& instance,
                                                                 const DeviceInfo& info);

    // From the driver's budget; UINT64_MAX if it reports none.
    [[nodiscard]] std::uint64_t free_bytes() const;
    // Creates a timeline semaphore, which numbers the segments of a queue.
    [[nodiscard]] VkResult make_queue(SemaphoreHandle& out);
    // The next VkQueue, round-robin.
    [[nodiscard]] SharedQueue& next_queue() {
        return *queues_[turn_.fetch_add(1) % queues_.size()];
    }
    Layouts layouts;

  private:
    Context(const InstanceTable& instance, const DeviceInfo& info)
        : instance_(instance), info_(info) {}
    void take_queues(std::uint32_t count);

    const InstanceTable& instance_;
    const DeviceInfo& info_;
    std::vector<std::unique_ptr<SharedQueue>> queues_;
    std::atomic<std::uint32_t> turn_{0};
};

}  // namespace wye::vulkan
