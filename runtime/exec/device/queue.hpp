// SPDX-License-Identifier: Apache-2.0
//
// DeviceQueue: the queue of a session. A lock covers the native submit only; waiting takes none.
// The native queue is shared with the work submitted to it. Free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "exec/device/clock.hpp"
#include "exec/dispatch/repeat.hpp"
#include "registry/device.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Times of the submits of one dispatch; nanoseconds.
struct RunTimes {
    std::uint64_t enqueue_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t device_ns = 0;
    bool device_known = true;                // every submit so far had driver timestamps
    Clock::time_point queued;                // of the last submit
    std::optional<Clock::time_point> ended;  // of the last wait

    // After a submit that began at `start`.
    void submitted(Clock::time_point start) {
        queued = now();
        enqueue_ns += nanoseconds(queued - start);
    }
};

// Submitted work: it has ended when the queue reaches the value.
struct Ticket {
    std::shared_ptr<const registry::NativeQueue> queue;  // null: none
    std::uint64_t value = 0;

    friend bool operator==(const Ticket&, const Ticket&) = default;
};

class DeviceQueue {
  public:
    // Of submits. Also guards the kept requests, whose parameters the next one may overwrite: they
    // are found and submitted without unlocking in between.
    sdk::Mutex mutex;
    Repeats repeats WYE_GUARDED_BY(mutex);

    // Queues all operations or none. Makes the native queue if there is none.
    [[nodiscard]] Result<Ticket> submit(const registry::DeviceRef& device,
                                        std::span<const wye_operation> operations, bool timed)
        WYE_REQUIRES(mutex) {
        if (!native_) WYE_TRY(make(device));
        WYE_ASSIGN(const std::uint64_t value, native_->submit(operations, timed));
        newest_ = value;
        return Ticket{native_, value};
    }
    // Of the newest submit.
    [[nodiscard]] Ticket newest() {
        const sdk::Lock lock(mutex);
        return {native_, newest_};
    }
    // The next submit makes a new native queue, if this ticket's is the current one. Work that was
    // submitted to the old one goes on.
    void replace(const Ticket& failed);

  private:
    [[nodiscard]] Result<void> make(const registry::DeviceRef& device) WYE_REQUIRES(mutex);

    std::shared_ptr<registry::NativeQueue> native_ WYE_GUARDED_BY(mutex);
    std::uint64_t newest_ WYE_GUARDED_BY(mutex) = 0;
};

}  // namespace wye::exec
