// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue, and the segments behind them. Work goes out in segments, one vkQueueSubmit
// each, numbered by a timeline semaphore; a value is usually one segment, and more when its
// transfers are larger than the staging ring. It is reached when its last segment has ended and
// what it reads back has been copied to the host's memory, which the waiting or polling thread
// does. All members may be called from any thread, except where said.
#pragma once

#include <deque>

#include "vulkan/commands/recordings.hpp"
#include "vulkan/commands/staging.hpp"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::vulkan {

struct Segment {
    std::uint64_t number = 0;              // signalled when it has ended
    std::unique_ptr<Recording> recording;  // null: it only waits
    std::vector<sdk::HostCopy> copies;     // once it has ended
};

// What the semaphore of a queue has to say for another queue to go on; 0: nothing.
struct SegmentWait {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    std::uint64_t number = 0;
};

class Timeline : public sdk::Timeline<Timeline> {
  public:
    Timeline(Device& device, SharedQueue& shared, SemaphoreHandle semaphore, bool timing)
        : sdk::Timeline<Timeline>(device.loss, timing),
          staging(device),
          recordings(device, timing),
          device_(device),
          shared_(shared),
          semaphore_(std::move(semaphore)) {}

    Staging staging;
    Recordings recordings;

    // By the submitting thread: a segment was submitted under next_segment(), ...
    void add(Segment segment);
    [[nodiscard]] std::uint64_t next_segment() const { return newest_segment_ + 1; }
    [[nodiscard]] std::uint64_t newest_segment() const { return newest_segment_; }
    [[nodiscard]] bool idle() const { return ended_segment_.load() == newest_segment_; }
    // ...and the next value, reached with the newest segment.
    std::uint64_t add();
    // The newest segment's copies read buffers themselves: nothing may write those before.
    void expect_reads() { reads_until_.store(newest_segment_); }
    [[nodiscard]] bool reads_pending() const { return ended_segment_.load() < reads_until_.load(); }

    [[nodiscard]] VkSemaphore semaphore() const { return semaphore_.get(); }
    // What is reached no earlier than `value`.
    [[nodiscard]] Result<SegmentWait> event_for(std::uint64_t value);
    [[nodiscard]] Result<bool> ended(std::uint64_t value);
    [[nodiscard]] Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns);
    // As await without a limit, for a segment.
    [[nodiscard]] Result<void> wait_segment(std::uint64_t number);

  private:
    struct Entry {
        std::uint64_t value, first, last;  // segments; none when last is before first
    };
    struct Time {
        std::uint64_t segment;
        Recording::Times times;
    };

    void collect(std::uint64_t segment) WYE_REQUIRES(mutex_);
    [[nodiscard]] std::uint64_t spent_ns(const Entry& ended) const WYE_REQUIRES(mutex_);
    // The segment behind a value; 0: reached.
    [[nodiscard]] std::uint64_t segment_of(std::uint64_t value);
    [[nodiscard]] Result<bool> await_segment(std::uint64_t segment, std::uint64_t timeout_ns);
    // What was not reached by now fails.
    Error failed(VkResult result, std::string_view call);
    // Whether the device was lost, asked now and then.
    bool gone();

    Device& device_;
    SharedQueue& shared_;
    const SemaphoreHandle semaphore_;
    std::uint64_t newest_segment_ = 0, valued_segment_ = 0;  // the submitting thread's
    std::atomic<std::uint64_t> ended_segment_{0}, reads_until_{0};
    std::atomic<Clock::time_point> asked_{Clock::now()};

    sdk::Mutex mutex_;
    std::deque<Segment> segments_ WYE_GUARDED_BY(mutex_);  // submitted, not collected; ascending
    std::deque<Entry> entries_ WYE_GUARDED_BY(mutex_);     // not reached; ascending
    std::deque<Time> times_ WYE_GUARDED_BY(mutex_);        // of segments whose value is not reached
};

}  // namespace wye::vulkan

extern template class wye::sdk::Timeline<wye::vulkan::Timeline>;
