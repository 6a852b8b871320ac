// SPDX-License-Identifier: Apache-2.0
//
// Batch: a submit for the queue's thread, with copies of all that the call borrowed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <vector>

#include "cpu/run/dispatch.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::cpu {

class Timeline;

class Batch {
  public:
    static constexpr std::string_view kPlugin = "CPU";

    // Makes the batch wait for `value` of another queue.
    void wait_for(Timeline& timeline, std::uint64_t value) { waits_.push_back({&timeline, value}); }
    [[nodiscard]] Result<void> keep(const wye_operation& operation);
    // Makes the first operation continue where the caller stopped, with the same worker.
    void go_on(const Handover& handover) { handover_ = handover; }
    [[nodiscard]] bool goes_on() const { return handover_.has_value(); }

    // Runs the operations, on the queue's thread. CANCELLED: a stop of `value` was requested.
    [[nodiscard]] Result<void> run(Worker& worker, Pool& pool, std::uint64_t value);

    // Called by the queue's thread, once. `here`: the times of the part that the caller ran.
    // Allocates nothing.
    void end(std::optional<Error> error, const sdk::WorkTimes& here);

    // Called by any thread. Requests a stop of this batch, whose value is `value`.
    void cancel(std::uint64_t value) { cancelled_.store(value, std::memory_order_relaxed); }
    // Called by any thread. Waits for the end; false: timed out.
    [[nodiscard]] bool wait_end(std::uint64_t timeout_ns);
    [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }
    // These may be called only after the end.
    [[nodiscard]] std::optional<Error> take_error() { return std::move(error_); }
    [[nodiscard]] const sdk::WorkTimes& times() const { return times_; }

  private:
    struct Wait {
        Timeline* timeline;
        std::uint64_t value;
    };
    Result<void> await(const Stop& stop) const;

    std::vector<Wait> waits_;
    std::vector<wye_operation> operations_;
    std::vector<std::vector<wye_binding>> bindings_;
    std::vector<std::vector<std::byte>> params_;
    std::optional<Handover> handover_;

    std::atomic<std::uint64_t> cancelled_{0};
    std::optional<Error> error_;  // set when it has ended
    std::uint64_t start_ns_ = 0;  // after its waits
    sdk::WorkTimes times_;        // set when it has ended
    std::atomic<bool> ended_{false};
    sdk::WaitMutex mutex_;
    std::condition_variable changed_;  // notified when it has ended
};

}  // namespace wye::cpu
