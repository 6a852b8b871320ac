// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue and the OpenCL events behind the newest of them. Waiting for the newest
// value is clFinish, which is the cheapest wait of every driver; events serve the other cases.
// All members may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "opencl/handle.hpp"
#include "wye/sdk/result.hpp"

namespace wye::opencl {

class Timeline {
  public:
    Timeline(const Driver& driver, cl_command_queue queue, bool keep_first)
        : driver_(driver), queue_(queue), keep_first_(keep_first) {}

    // Adds the next value, reached when `last` has ended. `first` is kept for timing only.
    std::uint64_t add(Event first, Event last);
    // From the next value on, everything fails with `error`.
    void poison(Error error);
    [[nodiscard]] bool poisoned(std::uint64_t value) const {
        return value >= poisoned_at_.load(std::memory_order_acquire);
    }
    // The error of a poisoned timeline.
    [[nodiscard]] Error failure();

    // OK, NOT_READY, or the poisoning error's.
    [[nodiscard]] Result<void> poll(std::uint64_t value);
    [[nodiscard]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns);
    // Device nanoseconds of a reached submit; UNSUPPORTED when they are not kept any more.
    [[nodiscard]] Result<std::uint64_t> device_ns(std::uint64_t value);

    // An event that is reached no earlier than `value`, retained for the caller; empty: reached.
    [[nodiscard]] Result<Event> event_for(std::uint64_t value);

  private:
    struct Entry {
        Event first, last;
    };
    static constexpr std::uint64_t kKept = 256;

    // With the lock held.
    [[nodiscard]] std::uint64_t oldest() const;  // of the values whose entries are there
    Entry& entry(std::uint64_t value) { return entries_[value % kKept]; }
    void reached(std::uint64_t value);
    Result<Event> retained(const Event& event);
    // Without the lock: everything from the first value that was not reached on fails with `error`.
    Result<void> fail(std::uint64_t value, Error error);

    const Driver& driver_;
    const cl_command_queue queue_;
    const bool keep_first_;
    std::atomic<std::uint64_t> newest_{0}, reached_{0};
    std::atomic<std::uint64_t> poisoned_at_{UINT64_MAX};

    std::mutex mutex_;
    std::array<Entry, kKept> entries_;  // of the newest values, each at its value modulo kKept
    std::optional<Error> error_;
};

}  // namespace wye::opencl
