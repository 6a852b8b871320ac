// SPDX-License-Identifier: Apache-2.0
//
// One in-order OpenCL queue. `submit` and destruction by one thread at a time; poll, wait and
// timing from any thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "opencl/device.hpp"
#include "opencl/timeline.hpp"

namespace wye::opencl {

class Queue {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(OpenDevice& device, bool timing);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Everything or nothing is queued. When a driver refuses an operation after others went in, the
    // queue is emptied and poisoned.
    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               std::span<const wye_event> waits);
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    [[nodiscard]] OpenDevice& device() { return device_; }

  private:
    Queue(OpenDevice& device, CommandQueue queue, bool timing)
        : device_(device),
          queue_(std::move(queue)),
          timing_(timing),
          timeline_(device.driver, queue_.get(), timing) {}
    struct Waits {
        std::vector<Event> held;
        std::vector<cl_event> raw;
    };
    Result<void> gather(std::span<const wye_event> waits, Waits& out);
    Result<void> enqueue(const wye_operation& op, cl_uint wait_count, const cl_event* waits,
                         cl_event* event);

    OpenDevice& device_;
    CommandQueue queue_;
    const bool timing_;
    Timeline timeline_;
};

extern const wye_queue_table kQueueTable;

[[nodiscard]] inline Queue& queue_of(wye_queue_object* object) {
    return *reinterpret_cast<Queue*>(object);
}

}  // namespace wye::opencl
