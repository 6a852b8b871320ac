// SPDX-License-Identifier: Apache-2.0
//
// NativeQueues: the OpenCL queues of one queue of the plugin. A first native queue serves all
// submits until the first timed submit. That submit makes a second native queue, which serves timed
// submits: an OpenCL queue measures all its commands or none, and measuring slows the queue down.
// With the quirk pocl-one-queue, the second native queue then serves all submits. Free-threaded,
// except where stated.
#pragma once

#include <algorithm>
#include <atomic>

#include "opencl/device.hpp"
#include "opencl/quirks.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::opencl {

class NativeQueues {
  public:
    // Makes the first native queue, and writes the granted priority. OpenCL has three
    // priorities, as an extension, and no kinds of queues.
    [[nodiscard]] static cl_int make_first(const Device& device, const wye_queue_desc& wanted,
                                           QueueHandle& out, sdk::QueueGrant& granted) {
        const Context& context = device.context();
        if (context.has_priorities()) granted.priority = std::clamp(wanted.priority, -1, 1);
        return context.make_queue(false, out, granted.priority);
    }
    NativeQueues(Device& device, QueueHandle first, int priority)
        : device_(device),
          priority_(priority),
          one_(pocl_one_queue(device.info)),
          flushes_(!device.plugin.few_events.value_or(nvidia_cl_costly_flush(device.info))),
          first_(std::move(first)),
          now_(first_.get()),
          last_(now_) {}

    // The native queue of submits without times.
    [[nodiscard]] cl_command_queue untimed() const {
        const cl_command_queue second = this->second();
        return one_ && second != nullptr ? second : first_.get();
    }

    // The native queue of the submit in progress. `get`, `choose`, `sent`: submitting thread only.
    [[nodiscard]] cl_command_queue get() const { return now_; }
    // Chooses the native queue of a submit. If the previous submit used the other native queue,
    // this submit waits for the previous submit.
    [[nodiscard]] Result<void> choose(bool timed) {
        now_ = last_;
        if (timed == last_timed_ || (one_ && last_timed_)) return {};
        return change(timed);
    }
    // Records that the submit was queued; quirk nvidia-cl-costly-flush.
    void sent() {
        last_ = now_;
        last_timed_ = now_ != first_.get();
        if (flushes_) (void)device_.driver.clFlush(now_);
    }

    void flush() const {
        (void)device_.driver.clFlush(first_.get());
        if (cl_command_queue second = this->second()) (void)device_.driver.clFlush(second);
    }
    // Waits until both native queues are idle.
    [[nodiscard]] Result<void> finish() const {
        cl_int status = device_.context().finish(first_.get());
        WYE_TRY(device_.check(status, "waiting for the queue"));
        cl_command_queue second = this->second();
        if (second != nullptr) status = device_.context().finish(second);
        return device_.check(status, "waiting for the queue");
    }

  private:
    [[nodiscard]] Result<void> change(bool timed) {
        const Driver& driver = device_.driver;
        if (!timed_) {
            const cl_int status = device_.context().make_queue(true, timed_, priority_);
            WYE_TRY(device_.check(status, "clCreateCommandQueue"));
            second_.store(timed_.get(), std::memory_order_release);
        }
        now_ = timed ? timed_.get() : first_.get();
        EventHandle before;
        cl_int status =
            driver.clEnqueueMarkerWithWaitList(last_, 0, nullptr, before.receive(driver));
        WYE_TRY(device_.check(status, "clEnqueueMarkerWithWaitList"));
        (void)driver.clFlush(last_);
        const cl_event raw = before.get();
        status = driver.clEnqueueMarkerWithWaitList(now_, 1, &raw, nullptr);
        return device_.check(status, "clEnqueueMarkerWithWaitList");
    }
    [[nodiscard]] cl_command_queue second() const {
        return second_.load(std::memory_order_acquire);
    }

    Device& device_;
    const int priority_;  // -1, 0 or 1
    const bool one_, flushes_;
    const QueueHandle first_;
    QueueHandle timed_;
    std::atomic<cl_command_queue> second_{nullptr};  // timed_, for other threads
    cl_command_queue now_, last_;
    bool last_timed_ = false;  // whether `last_` measures times
};

}  // namespace wye::opencl
