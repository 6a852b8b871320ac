// SPDX-License-Identifier: Apache-2.0
//
// QueuePool: the native queues of a session. Work that uses no buffer of other work in flight goes
// to an idle queue, so that it does not wait; work that does goes behind the other work, or waits
// for it on the device. So all work has the effects of running in the order of its submits.
//
// A lock covers the choice of the queue and the native submit; waiting takes none. Native queues
// are shared with the work submitted to them. Free-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "exec/device/buffer_use.hpp"
#include "exec/device/clock.hpp"
#include "exec/dispatch/repeat.hpp"
#include "exec/trace/trace.hpp"
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
    std::uint32_t index = 0;                             // in the pool
    std::uint64_t value = 0;

    friend bool operator==(const Ticket&, const Ticket&) = default;
};

// Where the submits of a device are recorded.
struct DeviceTrace {
    Trace* trace = nullptr;    // null: off
    std::uint32_t device = 0;  // its number there
};

class QueuePool {
  public:
    // `limit`: at most so many native queues, and at most kMostQueues.
    explicit QueuePool(std::uint64_t limit, DeviceTrace trace = {})
        : trace_(trace),
          limit_(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(limit, 1, kMostQueues))) {}

    // Of submits. Also guards the kept requests, whose parameters the next one may overwrite: they
    // are found and submitted without unlocking in between.
    sdk::Mutex mutex;
    Repeats repeats WYE_GUARDED_BY(mutex);

    // Queues all operations or none, on the queue that their buffers need. `uses`: the resident
    // buffers of the operations.
    [[nodiscard]] Result<Ticket> submit(const registry::DeviceRef& device,
                                        std::span<const wye_operation> operations,
                                        std::span<const BufferUse> uses, bool timed)
        WYE_REQUIRES(mutex);
    // Called when the work of a ticket has ended, in success or failure.
    void ended(const Ticket& ticket) {
        std::atomic<std::uint64_t>& value = ended_[ticket.index];
        if (value.load(std::memory_order_relaxed) < ticket.value)
            value.store(ticket.value, std::memory_order_release);
    }
    // Whether the work of a ticket of queue `index` may still run.
    [[nodiscard]] bool is_pending(std::uint32_t index, std::uint64_t value) const {
        return value > ended_[index].load(std::memory_order_acquire);
    }
    // The newest work of each queue; of a queue without work an empty ticket.
    [[nodiscard]] std::array<Ticket, kMostQueues> newest();
    // The next submit makes a new native queue in place of the ticket's. Work of the old one goes
    // on.
    void replace(const Ticket& failed);

  private:
    struct Queue {
        std::shared_ptr<registry::NativeQueue> native;
        std::uint64_t newest = 0;
        // The queue before it, whose newest value is `replaced`.
        std::shared_ptr<registry::NativeQueue> previous;
        std::uint64_t replaced = 0;
    };
    using Values = std::array<std::uint64_t, kMostQueues>;  // by queue

    [[nodiscard]] std::uint64_t pending(std::uint32_t index) const WYE_REQUIRES(mutex) {
        const std::uint64_t ended = ended_[index].load(std::memory_order_acquire);
        return queues_[index].newest - std::min(queues_[index].newest, ended);
    }
    // The queue for work that runs after these values.
    [[nodiscard]] std::uint32_t choose(const Values& after) const WYE_REQUIRES(mutex);
    // Whether the value was submitted to the queue before the present one.
    [[nodiscard]] bool was_replaced(std::uint32_t index, std::uint64_t value) const
        WYE_REQUIRES(mutex) {
        return value <= queues_[index].replaced;
    }
    // The native queue that the value was submitted to.
    [[nodiscard]] const registry::NativeQueue& native(std::uint32_t index,
                                                      std::uint64_t value) const
        WYE_REQUIRES(mutex) {
        const Queue& queue = queues_[index];
        return *(was_replaced(index, value) ? queue.previous : queue.native);
    }
    // Makes the native queue if there is none.
    [[nodiscard]] Result<Ticket> submit_to(const registry::DeviceRef& device, std::uint32_t index,
                                           std::span<const wye_operation> operations,
                                           std::span<const wye_event> waits, bool timed)
        WYE_REQUIRES(mutex);
    // Whether a wait for these values was dropped, since they have failed.
    bool drop_failed(const Values& after) WYE_REQUIRES(mutex);
    [[nodiscard]] Result<void> make(const registry::DeviceRef& device, std::uint32_t index)
        WYE_REQUIRES(mutex);

    const DeviceTrace trace_;
    const std::uint32_t limit_;
    std::array<Queue, kMostQueues> queues_ WYE_GUARDED_BY(mutex);
    // Late: work that has ended may count as busy until somebody looks. Racing threads may also
    // store the lower of two values; the next one mends it.
    std::array<std::atomic<std::uint64_t>, kMostQueues> ended_{};
};

}  // namespace wye::exec
