// SPDX-License-Identifier: Apache-2.0
//
// Queue: an in-order queue. Queues do not differ in kind or priority: their threads have the
// priority of the application's threads, and share the pool. A small submit to an idle queue runs
// on the calling thread, so its value is reached when the call returns; if the submit takes too
// long, the queue's thread takes over. All other submits run on the queue's thread, with the pool's
// help. One thread at a time may submit to a queue or destroy it; poll, wait, timing and cancel are
// free-threaded.
#pragma once

#include <new>

#include "cpu/run/server.hpp"
#include "cpu/timeline.hpp"
#include "wye/sdk/queue.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::cpu {

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;
    static constexpr std::uint32_t kLaunchFlags = WYE_LAUNCH_INDIRECT;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device,
                                                               const wye_queue_desc& wanted);
    // Destroy a queue with `delete`, which first ends the queue's work. The queue's memory is freed
    // when its timeline loses the last owner.
    ~Queue() = default;
    static void operator delete(Queue* queue, std::destroying_delete_t) noexcept;

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    // Runs a command that is one short launch, if the queue is idle. False: nothing has run.
    [[nodiscard]] bool replay(const wye_execute_op& op, std::uint64_t value);
    // For the extension wye.native_handle. Always fails, since there is no driver.
    [[nodiscard]] Result<void> native(sdk::NativeValues&) const { return no_handle("queue"); }

  private:
    friend InOrderQueue;

    friend Timeline;

    explicit Queue(Device& device)
        : device_(device), timeline_(device, *this), server_(device.pool(), timeline_) {}
    void free() noexcept;
    Result<void> begin();
    Result<void> wait_for(Timeline& other, std::uint64_t value);
    Result<void> order_after(Timeline& other, std::uint64_t value);
    Result<void> wait_in_batch(Timeline& other, std::uint64_t value, bool order_only);
    std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    Result<void> dispatch(const wye_dispatch_op& op);
    Result<void> copy(const wye_copy_op& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<void> execute(const wye_execute_op& op);
    Result<void> end();
    void abandon() noexcept;

    // Like InOrderQueue::perform, but adds the operation to the batch if the queue's thread will
    // run it.
    Result<void> perform(const wye_operation& op);
    [[nodiscard]] Stop stop() const { return timeline_.running.stop(value()); }
    [[nodiscard]] sdk::WorkTimes times() const;

    Device& device_;
    Timeline timeline_;
    Server server_;

    // The members below are the state of the submit in progress.
    std::unique_ptr<Batch> batch_;  // set if the queue's thread will run the submit or its rest
    std::optional<Handover> handover_;
    Launch launch_;  // the last dispatch
    // How launch_ is repeated: as a short launch (see is_short) or as a long one. First: unknown
    // yet.
    enum class Again : std::uint8_t { First, Short, Long } again_ = Again::First;
    std::uint64_t start_ns_ = 0;  // when a timed submit began
};

}  // namespace wye::cpu

extern template class wye::sdk::InOrderQueue<wye::cpu::Queue>;
extern template wye_status wye::sdk::QueueSlots<wye::cpu::Queue>::submit(wye_queue_object*,
                                                                         const wye_submission*,
                                                                         wye_error**);
