// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue. A submit that is waited for before the next one costs no event: the stream
// itself is asked. Only when another submit comes, or another queue waits, an event marks the end
// of the newest one. Small downloads arrive in staging memory and are handed over by whoever sees
// that their value is reached. All members may be called from any thread, except where said.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/staging.hpp"

namespace wye::cuda {

// One CUDA event, destroyed with its last user.
class Event {
  public:
    Event(OpenDevice& device, CUevent event)
        : device_(device), event_(event), epoch_(device.epoch()) {}
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    [[nodiscard]] CUevent get() const { return event_; }

  private:
    OpenDevice& device_;
    CUevent event_;
    std::uint32_t epoch_;
};
using EventRef = std::shared_ptr<Event>;

class Timeline {
  public:
    Timeline(OpenDevice& device, CUstream stream, bool timing)
        : device_(device), stream_(stream), timing_(timing), staging_(device) {}

    // The submitting thread, with the context current: before the first operation of a submit...
    [[nodiscard]] Result<void> begin();
    // ...for each small transfer (null: go without), ...
    [[nodiscard]] std::byte* stage(std::uint64_t size);
    void deliver(const std::byte* staged, void* target, std::uint64_t size);
    // ...and at the end: the submit's value, or all of it taken back.
    [[nodiscard]] Result<std::uint64_t> end();
    void abandon();

    // From the next value on, everything fails with `error`.
    void poison(Error error);
    // The error, if the timeline is poisoned at `value`.
    [[nodiscard]] std::optional<Error> failure(std::uint64_t value);

    // OK, NOT_READY, or the poisoning error's.
    [[nodiscard]] Result<void> poll(std::uint64_t value);
    [[nodiscard]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns);
    // Device nanoseconds of a reached submit; UNSUPPORTED when they are not kept any more.
    [[nodiscard]] Result<std::uint64_t> device_ns(std::uint64_t value);

    [[nodiscard]] std::uint64_t newest() const { return newest_.load(std::memory_order_acquire); }

    // An event that is reached no earlier than `value`; null: reached. With the context current.
    [[nodiscard]] Result<EventRef> event_for(std::uint64_t value);

  private:
    enum class State : std::uint8_t { Reached, Running, Failed };
    struct Entry {
        std::uint64_t value;
        EventRef first, last;  // first: with timing
    };
    struct Delivery {
        const std::byte* staged;
        void* target;
        std::uint64_t size;
    };
    struct Submit {  // one that used staging memory
        std::uint64_t value;
        std::uint64_t mark;  // of the staging memory, after it
        std::vector<Delivery> deliveries;
    };
    static constexpr std::size_t kKept = 256;

    // With the lock held, and the context current.
    State query(std::uint64_t value);
    void reached(std::uint64_t value);
    void fail(CUresult status, std::string_view call);
    Result<EventRef> record(bool timed);
    Result<EventRef> mark(std::uint64_t value);
    void recycle(EventRef event);
    Result<void> outcome(std::uint64_t value) const;

    State spin(std::uint64_t value, std::uint64_t timeout_ns);
    Result<void> block(std::uint64_t value);

    OpenDevice& device_;
    const CUstream stream_;
    const bool timing_;
    std::atomic<std::uint64_t> newest_{0}, reached_{0};
    std::atomic<std::uint64_t> poisoned_at_{UINT64_MAX};

    std::mutex mutex_;
    Staging staging_;
    std::deque<Entry> entries_;   // ascending values
    std::deque<Submit> staged_;   // ascending values
    std::vector<EventRef> free_;  // used by nobody
    EventRef first_;              // of the submit being made
    std::vector<Delivery> deliveries_;
    std::uint64_t mark_ = 0;  // of the staging memory, before it
    std::optional<Error> error_;
};

}  // namespace wye::cuda
