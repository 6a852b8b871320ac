// SPDX-License-Identifier: Apache-2.0
//
// One stream. `submit` and destruction by one thread at a time; poll, wait and timing from any
// thread.
#pragma once

#include <memory>
#include <span>

#include "cuda/device.hpp"
#include "cuda/timeline.hpp"

namespace wye::cuda {

class Queue {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(OpenDevice& device, bool timing);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Everything or nothing is queued. When the driver refuses an operation after others went in,
    // the queue is emptied and poisoned.
    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               std::span<const wye_event> waits);
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    [[nodiscard]] const OpenDevice& device() const { return device_; }

  private:
    Queue(OpenDevice& device, CUstream stream, bool timing)
        : device_(device),
          stream_(stream),
          epoch_(device.epoch()),
          timeline_(device, stream, timing) {}
    Result<void> enqueue(const wye_operation& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<void> wait_for(std::span<const wye_event> waits);
    Result<void> done(CUresult status, std::string_view call);

    OpenDevice& device_;
    const CUstream stream_;
    const std::uint32_t epoch_;
    Timeline timeline_;
};

extern const wye_queue_table kQueueTable;

[[nodiscard]] inline Queue& queue_of(wye_queue_object* object) {
    return *reinterpret_cast<Queue*>(object);
}

}  // namespace wye::cuda
