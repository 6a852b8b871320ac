// SPDX-License-Identifier: Apache-2.0
//
// What a queue has submitted and what has ended. Work goes out in segments, one vkQueueSubmit each,
// numbered by a timeline semaphore; a submit of the host is usually one segment, and more when its
// transfers are larger than the staging ring. An event value is reached when its last segment has
// ended and what it reads back has been copied to the host's memory, which the waiting or polling
// thread does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vulkan/commands/recording.hpp"
#include "vulkan/commands/ring.hpp"

namespace wye::vulkan {

// A copy by the host.
struct HostCopy {
    void* target;
    const void* source;
    std::uint64_t size;

    void run() const {
        if (size != 0) std::memcpy(target, source, size);
    }
};

struct Segment {
    std::uint64_t number = 0;              // signalled when it has ended
    std::unique_ptr<Recording> recording;  // null: it only waits
    std::vector<HostCopy> copies;          // once it has ended
};

class Timeline {
  public:
    // Transfers are cut into pieces of this size, so that the host copies one while the device
    // moves another.
    static constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20U;

    // `native` is the queue whose work it is.
    [[nodiscard]] static Result<std::unique_ptr<Timeline>> create(OpenDevice& device,
                                                                  NativeQueue& native, bool timed);

    // ---- By the submitting thread ----

    [[nodiscard]] Result<std::unique_ptr<Recording>> take_recording();
    // One that was recorded from this recipe, or null.
    [[nodiscard]] std::unique_ptr<Recording> take_recorded(const Recipe& recipe);
    void give_back(std::unique_ptr<Recording> recording);
    // Free bytes of the staging ring, or none.
    [[nodiscard]] Result<std::optional<StagedRange>> stage(std::uint64_t size,
                                                           std::uint64_t alignment);
    void drop_staged();
    // Waits until some of the staging ring comes back.
    [[nodiscard]] Result<void> wait_for_staging();

    [[nodiscard]] std::uint64_t next_segment() const { return newest_segment_ + 1; }
    void add(Segment segment);           // it was submitted under next_segment()
    std::uint64_t add_value();           // the next event value: reached with the newest segment
    [[nodiscard]] bool idle();           // nothing is pending
    [[nodiscard]] bool reads_pending();  // a copy by the host from a buffer itself is
    void expect_reads() { reads_until_ = newest_segment_; }
    // From the next value on, everything fails with `error`.
    void poison(Error error);

    // ---- By any thread ----

    [[nodiscard]] VkSemaphore semaphore() const { return semaphore_.get(); }
    // The segment behind a value; 0: reached.
    [[nodiscard]] std::uint64_t segment_of(std::uint64_t value);
    // The error, if the timeline is poisoned at `value`.
    [[nodiscard]] std::optional<Error> failure(std::uint64_t value);
    // OK, NOT_READY or TIMEOUT, or the poisoning error's.
    [[nodiscard]] Result<void> poll(std::uint64_t value);
    [[nodiscard]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> wait_segment(std::uint64_t number);
    [[nodiscard]] std::uint64_t newest_segment() const { return newest_segment_; }
    // Device nanoseconds of a reached value; UNSUPPORTED when they are not kept (any more).
    [[nodiscard]] Result<std::uint64_t> device_ns(std::uint64_t value);

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kAskEvery{1};

    struct Value {
        std::uint64_t value, first, last;  // segments; none when last is before first
    };
    struct Time {
        std::uint64_t segment;
        Recording::Times times;
    };
    static constexpr std::size_t kKeptTimes = 256;
    static constexpr std::size_t kKeptRecordings = 8;
    static constexpr std::uint64_t kRingBytes = std::uint64_t{16} << 20U;

    Timeline(OpenDevice& device, NativeQueue& native, bool timed)
        : device_(device), native_(native), keeps_times_(timed), ring_(kRingBytes) {}
    void collect(std::uint64_t segment);  // with the lock held
    // False: not within that time.
    Result<bool> wait_semaphore(std::uint64_t segment, std::uint64_t timeout_ns);
    // Whether the device was lost, asked at most every kAskEvery. NVIDIA 580 tells a loss to those
    // who submit or wait for a fence, and never to those who look at a timeline semaphore.
    bool gone();
    Error lost(VkResult result, std::string_view call);

    OpenDevice& device_;
    NativeQueue& native_;
    const bool keeps_times_;
    Semaphore semaphore_;
    std::unique_ptr<Buffer> staging_;                      // made when it is first needed
    std::uint64_t newest_segment_ = 0, newest_value_ = 0;  // the submitting thread's
    std::uint64_t valued_segment_ = 0;
    std::atomic<std::uint64_t> reads_until_{0};
    std::atomic<std::uint64_t> reached_{0}, ended_segment_{0};
    std::atomic<std::uint64_t> poisoned_at_{UINT64_MAX};
    std::atomic<Clock::time_point> asked_{Clock::now()};

    std::mutex mutex_;
    Ring ring_;
    std::deque<Segment> segments_;  // submitted and not collected, ascending
    std::deque<Value> values_;      // not reached, ascending
    std::deque<Value> timed_;       // the newest kKeptTimes, where times are asked for
    std::deque<Time> times_;        // likewise
    std::deque<std::unique_ptr<Recording>> free_;  // the one used last at the end
    std::optional<Error> error_;
};

}  // namespace wye::vulkan
