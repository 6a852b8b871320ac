// SPDX-License-Identifier: Apache-2.0
//
// Queue: a stream. One thread at a time may submit or destroy the queue; any thread may poll, wait
// and read times.
#pragma once

#include "cuda/context/grid_barrier.hpp"
#include "cuda/program.hpp"
#include "cuda/timeline.hpp"
#include "wye/sdk/queue.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::cuda {

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;
    static constexpr std::uint32_t kLaunchFlags = WYE_LAUNCH_COOPERATIVE;
    static constexpr bool kWaitsNative = true;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device,
                                                               const wye_queue_desc& wanted);
    ~Queue() { timeline_.drain(); }

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    // Submits a command, if the queue is idle. False: nothing was submitted.
    [[nodiscard]] bool replay(const wye_execute_op& op, std::uint64_t value);
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("CUstream", handle_.get());
        return {};
    }

  private:
    friend InOrderQueue;

    Queue(Device& device, StreamHandle handle, const sdk::QueueGrant& granted)
        : InOrderQueue(granted),
          device_(device),
          handle_(std::move(handle)),
          timeline_(device, handle_.get()) {}
    Result<void> begin();
    Result<void> wait_for(Timeline& other, std::uint64_t value);
    Result<void> wait_native(const wye_native_handle& event);
    // Makes the stream wait for an event. The submit's time does not include the wait.
    Result<void> wait_for(CUevent event);
    std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    Result<void> dispatch(const wye_dispatch_op& op);
    Result<void> dispatch_checked(const wye_dispatch_op& op);
    Result<void> copy(const wye_copy_op& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<void> execute(const wye_execute_op& op);
    Result<void> end();
    void abandon() noexcept;

    // The words for the grid barrier of a launch. Launches of a stream run one after the other, so
    // one pair of words is enough.
    Result<CUdeviceptr> grid_barrier();
    // Returns page-locked memory for a small transfer, or null if none is free.
    std::byte* stage(std::uint64_t size);
    Result<void> fill_words(CUdeviceptr at, unsigned low, unsigned high, std::uint64_t size);

    Device& device_;
    StreamHandle handle_;
    Timeline timeline_;
    GridBarrier grid_barrier_;
    Program::Arguments arguments_;  // of the newest launch of a submit

    Submit* submit_ = nullptr;  // the submit in progress, in the timeline; null: none
};

}  // namespace wye::cuda

extern template class wye::sdk::InOrderQueue<wye::cuda::Queue>;
extern template wye_status wye::sdk::QueueSlots<wye::cuda::Queue>::submit(wye_queue_object*,
                                                                          const wye_submission*,
                                                                          wye_error**);
