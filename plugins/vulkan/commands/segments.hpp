// SPDX-License-Identifier: Apache-2.0
//
// The segments that a queue has sent to the driver: one vkQueueSubmit each, numbered by a timeline
// semaphore. A submit is usually one segment, several if its transfers exceed the staging ring, and
// none if the host did all of it. Once a segment has ended, its read-backs are copied to the host's
// memory, and its recording and staging memory become free. All members may be called from any
// thread, except where said.
#pragma once

#include <chrono>
#include <deque>

#include "vulkan/commands/recordings.hpp"
#include "vulkan/commands/staging.hpp"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::vulkan {

class Segments;

// A segment that another queue waits for; empty: none.
struct SegmentWait {
    Segments* of = nullptr;
    std::uint64_t number = 0;
    explicit operator bool() const { return number != 0; }
};

class Segments {
  public:
    Segments(Device& device, SharedQueue& shared, SemaphoreHandle semaphore)
        : staging(device),
          recordings(device),
          device_(device),
          shared_(shared),
          semaphore_(std::move(semaphore)) {}

    Staging staging;
    Recordings recordings;

    // Called by the submitting thread. One vkQueueSubmit: waits, then the recording's commands
    // (null: none), then the signal of the next number. `copies` are made once it has ended.
    [[nodiscard]] Result<void> send(const std::vector<SegmentWait>& waits,
                                    std::unique_ptr<Recording>& recording,
                                    std::vector<sdk::HostCopy>& copies);
    [[nodiscard]] std::uint64_t newest() const { return newest_; }
    [[nodiscard]] bool idle() const { return ended_.load() == newest_; }
    // The newest segment's copies read buffers directly: nothing may write these before.
    void expect_reads() { reads_until_.store(newest_); }

    [[nodiscard]] bool reads_pending() const { return ended_.load() < reads_until_.load(); }
    // Whether everything up to `number` has ended. An error drops the copies of pending segments,
    // since the caller takes its memory back.
    [[nodiscard]] Result<bool> has_ended(std::uint64_t number);
    // The same, after waiting for at most timeout_ns.
    [[nodiscard]] Result<bool> await(std::uint64_t number, std::uint64_t timeout_ns);
    // Waits for all segments, also after an error.
    [[nodiscard]] Result<void> finish();
    // For another queue's wait.
    [[nodiscard]] SegmentWait share(std::uint64_t number) { return {this, number}; }
    // Makes the copies of everything up to `number`, which has ended.
    void collect(std::uint64_t number);
    // The copies of segments from `first` on are not made: their submit failed.
    void drop_copies(std::uint64_t first);
    // await without a limit, and collect.
    [[nodiscard]] Result<void> wait(std::uint64_t number);
    // Of collected segments, whose times are then dropped.
    [[nodiscard]] sdk::WorkTimes times_of(std::uint64_t first, std::uint64_t last);

  private:
    using Clock = std::chrono::steady_clock;
    struct Segment {
        std::uint64_t number = 0;
        std::unique_ptr<Recording> recording;  // null: the segment only waits
        std::vector<sdk::HostCopy> copies;
    };
    struct Time {
        std::uint64_t number;
        Recording::Times times;
    };

    Result<bool> wait_for(std::uint64_t number, std::uint64_t timeout_ns);
    Error failed(VkResult result, std::string_view call);
    // Reads the device's clock, where the driver can.
    void match_clock();
    // Whether the device is lost; checked periodically.
    bool gone();

    Device& device_;
    SharedQueue& shared_;
    const SemaphoreHandle semaphore_;
    std::uint64_t newest_ = 0;  // used by the submitting thread
    std::atomic<std::uint64_t> ended_{0}, reads_until_{0};
    std::atomic<Clock::time_point> asked_{Clock::now()};

    sdk::NanosecondMatch clock_;

    sdk::Mutex mutex_;
    std::deque<Segment> pending_ WYE_GUARDED_BY(mutex_);  // ascending numbers
    std::deque<Time> times_ WYE_GUARDED_BY(mutex_);       // ascending numbers
};

}  // namespace wye::vulkan
