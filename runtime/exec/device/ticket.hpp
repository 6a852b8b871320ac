// SPDX-License-Identifier: Apache-2.0
//
// The results of a submit: a Ticket to wait for its end, and its RunTimes. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "exec/device/clock.hpp"
#include "registry/open/device.hpp"

namespace wye::exec {

// Times of the submits of one dispatch; nanoseconds.
struct RunTimes {
    std::uint64_t enqueue_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t device_ns = 0;
    bool device_known = true;                // every submit so far had driver timestamps
    Clock::time_point queued;                // time of the last submit
    std::optional<Clock::time_point> ended;  // end of the last wait
    bool wanted = true;  // false: nobody reads these times, and the clock is not read

    // Called after a submit that began at `start`.
    void submitted(Clock::time_point start) {
        if (!wanted) return;
        queued = now();
        enqueue_ns += nanoseconds(queued - start);
    }
    // Called after a wait for that submit.
    void waited() {
        if (!wanted) return;
        ended = now();
        wait_ns += nanoseconds(*ended - queued);
    }
};

// Identifies submitted work, which has ended when the queue reaches the value.
struct Ticket {
    std::shared_ptr<const registry::NativeQueue> queue;  // null: none
    std::uint32_t index = 0;                             // of the queue in the pool
    std::uint64_t value = 0;

    friend bool operator==(const Ticket&, const Ticket&) = default;
};

}  // namespace wye::exec
