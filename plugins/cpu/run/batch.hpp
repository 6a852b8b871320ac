// SPDX-License-Identifier: Apache-2.0
//
// Batch: a submit for the queue's thread, with copies of all memory that the call borrowed. A batch
// is filled by the submitting thread, run and ended by the queue's thread, and emptied for the next
// submit when the timeline no longer refers to it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <memory_resource>
#include <vector>

#include "cpu/run/dispatch.hpp"
#include "cpu/run/inbox.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::cpu {

class Timeline;

class Batch : public Link {
  public:
    static constexpr std::string_view kPlugin = "CPU";

    Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Makes the batch wait until `value` of a queue is reached. `order_only`: until the value is
    // reached or has failed.
    void wait_for(Timeline& timeline, std::uint64_t value, bool order_only);
    [[nodiscard]] Result<void> keep(const wye_operation& operation);
    // Makes the first operation continue where the caller stopped, with the same worker.
    void go_on(const Handover& handover) { handover_ = handover; }
    [[nodiscard]] bool goes_on() const { return handover_.has_value(); }
    // Called last. `value`: the submit's value. `timed`: whether the submit's times are wanted.
    // `here`: the times of the part that the caller ran.
    void complete(std::uint64_t value, bool timed, const sdk::WorkTimes& here) {
        value_ = value;
        timed_ = timed;
        times_ = here;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

    // Whether the batch waits for nothing, and its operations are small.
    [[nodiscard]] bool is_small() const { return waits_.empty() && cpu::is_small(operations_); }
    // Runs the operations, on the queue's thread. CANCELLED: a stop was requested.
    [[nodiscard]] Result<void> run(Worker& worker, Pool& pool);
    // Called by the queue's thread, once. Allocates nothing.
    void end(std::optional<Error> error) noexcept;

    // Called by any thread while the timeline refers to the batch. Requests a stop.
    void cancel() { cancelled_.store(value_, std::memory_order_relaxed); }
    // These may be called only after the end.
    [[nodiscard]] std::optional<Error> take_error() { return std::move(error_); }
    [[nodiscard]] const sdk::WorkTimes& times() const { return times_; }

    // Empties the batch for another submit. Keeps some memory.
    void clear() noexcept;

  private:
    struct Release {
        void operator()(Timeline* timeline) const noexcept;
    };
    struct Wait {
        // Outlives its queue, which may be destroyed while the batch waits.
        std::unique_ptr<Timeline, Release> timeline;
        std::uint64_t value;
        bool order_only;
    };
    // An empty batch keeps memory for at most kKeptOperations operations, and always has kKeptBytes
    // bytes for the memory that the operations point to.
    static constexpr std::size_t kKeptOperations = 8, kKeptBytes = 512;

    [[nodiscard]] Result<void> await(const Stop& stop) const;
    // Returns a copy that lives until `clear`.
    template <typename T>
    [[nodiscard]] const T* copy_of(const T* from, std::size_t count);

    std::vector<Wait> waits_;
    std::vector<wye_operation> operations_;
    std::optional<Handover> handover_;
    std::uint64_t value_ = 0;
    bool timed_ = false;

    std::atomic<std::uint64_t> cancelled_{0};
    std::optional<Error> error_;  // set when the batch has ended
    std::uint64_t start_ns_ = 0;  // when the waits ended; 0: not timed
    sdk::WorkTimes times_;        // complete when the batch has ended

    // The copies of the memory that the operations point to.
    alignas(16) std::array<std::byte, kKeptBytes> bytes_;
    std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

}  // namespace wye::cpu
