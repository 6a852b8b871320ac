// SPDX-License-Identifier: Apache-2.0
//
// QueuePool: the native queues of a session. Work that shares no buffer with work in flight goes to
// an idle queue, and so need not wait. Work that shares a buffer with other work goes to the queue
// of the other work, or waits on the device for that work. So all work takes effect in the order of
// its submits.
//
// Work that names a public queue goes to that queue's own native queue or, if the device has no
// more native queues, to a native queue that is shared with other work. This work, too, takes
// effect in the order of its submits.
//
// A submit has three parts. `begin` chooses the queue and reserves its next value, under the pool's
// mutex; `send` calls the driver without that mutex; `end` makes the outcome known, under the mutex
// again. From `begin` to `end` the queue is held for this submit: only submits that need this
// queue, or must follow this submit's work, wait for its `end`. Waiting for the device takes no
// lock, and no plugin is entered with the mutex held except to ask whether a value was reached.
// Work holds shared ownership of the native queue that it was submitted to. ORDER.md has the model.
// Free-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "exec/device/buffer_use.hpp"
#include "exec/device/clock.hpp"
#include "exec/device/hold.hpp"
#include "exec/device/ticket.hpp"
#include "exec/trace/trace.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// The trace that records the submits of a device.
struct DeviceTrace {
    Trace* trace = nullptr;    // null: off
    std::uint32_t device = 0;  // the device's number in the trace
};

// How work is submitted. Implicitly made from a bool (`timed`) for work without a public queue.
struct SubmitOptions {
    SubmitOptions(bool t, std::uint32_t q = 0) : timed(t), queue(q) {}  // NOLINT: see above
    // Returns these options for work whose place in the order of submits is known already, because
    // its call has checked the holds, or because the line's thread submits the work. Such a submit
    // waits for no work in the line.
    [[nodiscard]] SubmitOptions in_place() const {
        SubmitOptions out = *this;
        out.placed = true;
        return out;
    }
    // Returns these options for a call that waits for room on the device until the deadline, or not
    // at all (`at_once`).
    [[nodiscard]] SubmitOptions waiting(bool at_once,
                                        std::optional<Clock::time_point> deadline) const {
        SubmitOptions out = *this;
        if (at_once)
            out.room_until = Clock::time_point::min();
        else if (deadline)
            out.room_until = *deadline;
        return out;
    }
    bool timed;
    bool placed = false;
    std::uint32_t queue;  // the number of a public queue; 0: none
    Clock::time_point room_until = Clock::time_point::max();
};

// The properties that a public queue requests.
struct QueueRequest {
    std::string label;
    std::uint32_t kind = WYE_QUEUE_ANY;
    std::int32_t priority = 0;
    bool own = false;  // do not share a native queue
};

// The number of a public queue, and the properties that the queue got. Valid from `take_public` to
// `release_public`.
struct QueueGrant {
    std::uint32_t number = 0;
    bool shared = false;
    wye_queue_info info{};  // of its native queue
};

// Work that a session keeps, to submit it again for equal later requests: exec/prepared/repeat.hpp.
struct KeptWork {
    KeptWork() = default;
    KeptWork(const KeptWork&) = delete;
    KeptWork& operator=(const KeptWork&) = delete;
    virtual ~KeptWork() = default;
};

class QueuePool {
  public:
    // `limit`: the maximum number of native queues for work without a public queue; capped at
    // kMostQueues. `device_limit`: the number of native queues that the device supports, those for
    // public queues included.
    explicit QueuePool(std::uint64_t limit, std::uint64_t device_limit, DeviceTrace trace = {})
        : trace_(trace),
          limit_(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(limit, 1, kMostQueues))),
          most_own_(static_cast<std::uint32_t>(std::min<std::uint64_t>(
              device_limit - std::min<std::uint64_t>(device_limit, limit_), kMostPublicQueues))) {
        queues_[kHeld].newest = 1;
    }

    // Guards the choice of queues, the histories of buffers, and the kept requests. Never held
    // during a native submit.
    sdk::Mutex mutex;
    static constexpr std::size_t kMostKept = 16;
    std::array<std::unique_ptr<KeptWork>, kMostKept> kept WYE_GUARDED_BY(mutex);

    // A submit, which holds its native queue from `begin` to `end`.
    struct Sending {
        Sending() {}  // NOLINT: the arrays are written before they are read
        ~Sending() {
            if (pool != nullptr) [[unlikely]]
                pool->abandon(*this);
        }
        Sending(const Sending&) = delete;
        Sending& operator=(const Sending&) = delete;

        QueuePool* pool = nullptr;  // null: not begun, or ended
        Ticket ticket;
        registry::NativeQueue* native = nullptr;  // of the ticket
        std::span<const BufferUse> uses;
        bool* held = nullptr;  // a flag of the caller that is true until `end`
        bool timed = false;
        Clock::time_point room_until = Clock::time_point::max();
        std::uint32_t public_queue = 0;  // the number of the public queue; 0: none
        std::uint32_t wait_count = 0;    // valid elements of `waits` and `wait_queues`
        std::array<wye_event, kAllQueues> waits;
        std::array<std::uint32_t, kAllQueues> wait_queues;
        // Whether other work was in flight at `begin`. If so, `before` has the newest value of each
        // queue.
        bool follows = false;
        std::array<std::uint64_t, kAllQueues> before;
    };
    // Chooses the queue that the use of the buffers demands, and records the uses. False: another
    // submit or a hold had to end first, or a native queue had to be made. The mutex was unlocked
    // meanwhile, so the caller checks its handles and calls `begin` again. True: `uses` and `held`
    // are borrowed until `end`. Unless `held` is null, *held is true until then.
    [[nodiscard, gnu::always_inline]] Result<bool> begin(const registry::DeviceRef& device,
                                                         std::span<const BufferUse> uses,
                                                         SubmitOptions options, Sending& out,
                                                         bool* held = nullptr) WYE_REQUIRES(mutex) {
        const std::uint32_t index = next_in_line(uses, options.queue);
        if (index == kNoQueue) [[unlikely]]
            return begin_slowly(device, uses, options, out, held);
        take(index, uses, options, out, held);
        out.public_queue = options.queue;
        record(uses, index, out.ticket.value);
        return true;
    }
    // Submits all operations or none. While the device has no room for them (DEVICE_BUSY), waits
    // for work in flight to end, and tries again.
    [[nodiscard, gnu::always_inline]] Result<void> send(Sending& sending,
                                                        std::span<const wye_operation> operations)
        WYE_EXCLUDES(mutex) {
        auto sent = send_once(sending, operations);
        if (sent.ok()) [[likely]]
            return sent;
        return send_again(sending, operations, std::move(sent));
    }
    // Ends a submit, which has succeeded (`sent`) or failed. A Sending that is destroyed without
    // `end` has failed.
    void end(Sending& sending, bool sent) WYE_REQUIRES(mutex) {
        sending.pool = nullptr;
        if (sending.held != nullptr) *sending.held = false;
        if (!sent || sending.follows) [[unlikely]]
            end_slowly(sending, sent);
        else if (sending.public_queue != 0)
            count_public(sending.public_queue, sending.ticket.value);
        let_go(sending.ticket.index);
    }

    // ---- The fast path of a submit that waits for no other queue: begin, send and end ----

    static constexpr std::uint32_t kNoQueue = kAllQueues;
    // Returns the index of the queue for a submit that needs no waits: that of the public queue
    // `number`, or the first queue if `number` is 0. Returns kNoQueue, so that `begin` chooses, if
    // - another queue may have work in flight, or there are holds;
    // - the queue has no native queue, or a submit to it is in progress;
    // - `number` is 0, and the queue has work in flight, none of which the submit must follow.
    [[nodiscard, gnu::always_inline]] std::uint32_t next_in_line(std::span<const BufferUse> uses,
                                                                 std::uint32_t number)
        WYE_REQUIRES(mutex) {
        const std::uint32_t index = number == 0 ? 0 : publics_[number - 1].index;
        const std::uint32_t others = ~(1U << index);
        if ((used_ & others) != 0) [[unlikely]]
            if ((busy() & others) != 0) return kNoQueue;
        const Queue& queue = queues_[index];
        if (queue.native == nullptr || is_sending(index)) [[unlikely]]
            return kNoQueue;
        if (number == 0 && is_pending(0, queue.newest) && !is_pending(0, newest_before(uses, 0)))
            return kNoQueue;
        return index;
    }
    // Like `begin`, on the queue that `next_in_line` returned. Returns the value of the submit.
    [[nodiscard]] std::uint64_t begin_in_line(std::uint32_t index, std::span<const BufferUse> uses)
        WYE_REQUIRES(mutex) {
        const std::uint64_t value = hold(index);
        record(uses, index, value);
        return value;
    }
    // The native queue of the queue with this index; null: the queue has none now.
    [[nodiscard]] const std::shared_ptr<registry::NativeQueue>& native(std::uint32_t index) const
        WYE_REQUIRES(mutex) {
        return queues_[index].native;
    }
    // Like `end`, after `begin_in_line` and a successful submit.
    void end_in_line(std::uint32_t index, std::uint32_t number, std::uint64_t value)
        WYE_REQUIRES(mutex) {
        if (number != 0) count_public(number, value);
        let_go(index);
    }
    void fail_in_line(std::uint32_t index, std::span<const BufferUse> uses, std::uint64_t value)
        WYE_REQUIRES(mutex) {
        take_back(index, uses, value);
        let_go(index);
    }
    [[nodiscard]] bool is_traced() const noexcept { return trace_.trace != nullptr; }

    // Does all three parts of a submit. `uses`: the resident buffers of the operations, which the
    // caller keeps from being freed. `out` is written on success.
    [[nodiscard]] Result<void> submit(const registry::DeviceRef& device,
                                      std::span<const wye_operation> operations,
                                      std::span<const BufferUse> uses, SubmitOptions options,
                                      Ticket& out) WYE_EXCLUDES(mutex);
    // Makes later work of a public queue wait for an event of the driver's API.
    [[nodiscard]] Result<void> wait_native(const registry::DeviceRef& device,
                                           const wye_native_handle& event, std::uint32_t number)
        WYE_EXCLUDES(mutex);
    // Waits until one of the submits in progress, or one of the holds, has ended. The mutex is
    // unlocked meanwhile.
    void await_sends() WYE_REQUIRES(mutex) {
        ++waiting_;
        sends_ended_.wait(mutex);
        --waiting_;
    }
    // ---- Work that has its place in the order, but is not submitted yet: see hold.hpp ----

    // Gives work its place. From then on, `begin` blocks every submit that must come after this
    // work, except one whose own place is known (SubmitOptions::in_place).
    void hold_place(Hold& hold) noexcept WYE_REQUIRES(mutex) {
        holds_.add(hold);
        used_ |= 1U << kHeld;
    }
    // Gives up the place of work that was submitted, or never will be. Does nothing if the work has
    // no place.
    void leave_place(Hold& hold) noexcept WYE_REQUIRES(mutex) {
        holds_.remove(hold);
        if (holds_.empty()) used_ &= ~(1U << kHeld);
        if (waiting_ != 0) sends_ended_.notify_all();
    }
    [[nodiscard]] bool has_places() const WYE_REQUIRES(mutex) { return !holds_.empty(); }
    // Whether a submit with these uses, on this public queue (0: none), must come after work that
    // has a place in the order but is not submitted yet (a Hold).
    [[nodiscard]] bool is_held(std::span<const BufferUse> uses, std::uint32_t queue) const
        WYE_REQUIRES(mutex) {
        return holds_.concern(uses, queue);
    }
    // Waits until `is_held` is false. The mutex is unlocked meanwhile. False: the deadline passed.
    [[nodiscard]] bool await_place(std::span<const BufferUse> uses, std::uint32_t queue,
                                   std::optional<Clock::time_point> deadline) WYE_REQUIRES(mutex);
    // Whether submitted work that uses the buffer is still running; asks the driver.
    [[nodiscard]] bool is_used(const BufferHistory& history) WYE_REQUIRES(mutex);
    // A ticket of running work that uses the buffer: the newest such work of one queue. Empty: no
    // such work runs. First waits for holds and for submits in progress that use the buffer.
    [[nodiscard]] Ticket pending_use(BufferHistory& history) WYE_REQUIRES(mutex);
    // Whether the work with this value on queue `index` is still running; asks the driver.
    [[nodiscard]] bool runs(std::uint32_t index, std::uint64_t value) WYE_REQUIRES(mutex);
    // Called when the handle of a buffer was freed, before the mutex is unlocked.
    void buffer_freed() WYE_REQUIRES(mutex) { ++frees_; }
    // The number of buffers freed so far.
    [[nodiscard]] std::uint64_t frees() const WYE_REQUIRES(mutex) { return frees_; }

    // Makes a native queue for a public queue, or shares one. LIMIT_EXCEEDED: there are
    // kMostPublicQueues already, or the device has no unused native queue and the request does not
    // allow sharing. The native queue of a released public queue counts as used until its work in
    // flight has ended.
    [[nodiscard]] Result<QueueGrant> take_public(const registry::DeviceRef& device,
                                                 const QueueRequest& request);
    // Releases the number of a public queue. The queue's work in flight continues.
    void release_public(std::uint32_t number) noexcept;
    // The newest work of a public queue; an empty ticket if that work has ended, or there was none.
    [[nodiscard]] Ticket newest_of(std::uint32_t number);
    [[nodiscard]] std::uint64_t submits_of(std::uint32_t number);
    // The native queue of a public queue. Null: the shared native queue has not been made yet.
    [[nodiscard]] std::shared_ptr<const registry::NativeQueue> native_of(std::uint32_t number);
    // The number of public queues made so far, and of submits to them.
    [[nodiscard]] std::uint64_t publics_made() const {
        return publics_made_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t public_submits() const {
        return public_submits_.load(std::memory_order_relaxed);
    }

    // Called when the work of a ticket has ended, in success or failure.
    void ended(const Ticket& ticket) { ended(ticket.index, ticket.value); }
    // Whether the submit with this value on queue `index` may still run. Does not ask the driver.
    [[nodiscard]] bool is_pending(std::uint32_t index, std::uint64_t value) const {
        return value > ended_[index].load(std::memory_order_acquire);
    }
    // The newest work of each queue; an empty ticket for a queue whose work has ended. Destroys
    // native queues that are not used any more.
    [[nodiscard]] std::array<Ticket, kAllQueues> newest();
    // Whether no work is in flight and none is being submitted; asks the driver.
    [[nodiscard]] bool is_idle() WYE_REQUIRES(mutex);
    // The work that new work on a public queue would wait for: the newest work of its native queue,
    // which other queues may share. `number` 0: the newest work of a queue for work without a
    // public queue, if all of these queues are busy. Empty: no wait is needed. Asks the driver.
    [[nodiscard]] Ticket busy_for(std::uint32_t number);
    // Drops the ticket's native queue, which may be broken, unless work in flight uses it. The next
    // submit then makes a new native queue. Returns whether the queue was dropped.
    bool replace(const Ticket& failed);
    // Refuses all submits from now on (DEVICE_LOST), waits for those in progress, and returns the
    // native queues, each with its newest work. Later calls return empty tickets.
    [[nodiscard]] std::array<Ticket, kAllQueues> close();

  private:
    using Values = std::array<std::uint64_t, kAllQueues>;  // indexed by queue
    struct Queue {
        // Null: not made yet, dropped, or closed. The native queue is dropped or replaced only when
        // all of its work has ended, so all work in flight on this queue was submitted to it.
        std::shared_ptr<registry::NativeQueue> native;
        std::uint64_t newest = 0;  // the value of the newest submit
        // For each queue, its newest submit that waits for work of this queue. The native queue of
        // this queue must outlive these submits.
        Values followers{};
        std::optional<QueueRequest> request;  // set while a public queue owns this queue
    };
    struct Public {
        bool taken = false;
        std::uint32_t index = 0;  // of its queue in `queues_`
        std::uint64_t newest = 0, submits = 0;
    };
    // Native queues to destroy once the mutex is unlocked.
    using Unused = std::array<std::shared_ptr<registry::NativeQueue>, kAllQueues>;

    [[nodiscard]] std::uint64_t pending(std::uint32_t index) const WYE_REQUIRES(mutex) {
        const std::uint64_t ended = ended_[index].load(std::memory_order_acquire);
        return queues_[index].newest - std::min(queues_[index].newest, ended);
    }
    void ended(std::uint32_t index, std::uint64_t value) {
        std::atomic<std::uint64_t>& newest = ended_[index];
        std::uint64_t known = newest.load(std::memory_order_relaxed);
        while (known < value &&
               !newest.compare_exchange_weak(known, value, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }
    // A bit mask of the queues with work in flight.
    [[nodiscard]] std::uint32_t busy() WYE_REQUIRES(mutex) {
        for (std::uint32_t left = used_; left != 0; left &= left - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
            if (!is_pending(i, queues_[i].newest)) used_ &= ~(1U << i);
        }
        return used_;
    }
    // Returns the next value of a queue for a submit, which holds the queue from now on.
    [[nodiscard]] std::uint64_t hold(std::uint32_t index) WYE_REQUIRES(mutex) {
        assert(!closed_ && !is_sending(index) && is_pending(index, queues_[index].newest + 1));
        sending_ |= 1U << index;
        used_ |= 1U << index;
        return ++queues_[index].newest;
    }
    void let_go(std::uint32_t index) WYE_REQUIRES(mutex) {
        sending_ &= ~(1U << index);
        if (waiting_ != 0) [[unlikely]]
            sends_ended_.notify_all();
    }
    // Takes back the value of a submit that failed.
    [[gnu::cold]] void take_back(std::uint32_t index, std::span<const BufferUse> uses,
                                 std::uint64_t value) WYE_REQUIRES(mutex);
    static void record(std::span<const BufferUse> uses, std::uint32_t index, std::uint64_t value) {
        for (const BufferUse& use : uses) use.history->newest(index, use.writes) = value;
    }
    // The value on queue `index` that work with these uses must run after; 0: none.
    [[nodiscard]] static std::uint64_t newest_before(std::span<const BufferUse> uses,
                                                     std::uint32_t index) {
        std::uint64_t out = 0;
        for (const BufferUse& use : uses) {
            out = std::max(out, use.history->newest(index, true));
            if (use.writes) out = std::max(out, use.history->newest(index, false));
        }
        return out;
    }
    // Counts a submit of a public queue.
    void count_public(std::uint32_t number, std::uint64_t value) WYE_REQUIRES(mutex) {
        Public& on = publics_[number - 1];
        on.newest = value;
        ++on.submits;
        public_submits_.fetch_add(1, std::memory_order_relaxed);
    }
    // Gives the next value of a queue to a submit, which holds the queue from now on.
    void take(std::uint32_t index, std::span<const BufferUse> uses, SubmitOptions options,
              Sending& out, bool* held) WYE_REQUIRES(mutex) {
        const Queue& queue = queues_[index];
        out.timed = options.timed;
        out.room_until = options.room_until;
        out.native = queue.native.get();
        out.ticket.queue = queue.native;
        out.ticket.index = index;
        out.ticket.value = hold(index);
        out.pool = this;
        out.uses = uses;
        out.held = held;
        if (held != nullptr) *held = true;
    }
    // The slow path of `begin`.
    [[nodiscard]] Result<bool> begin_slowly(const registry::DeviceRef& device,
                                            std::span<const BufferUse> uses, SubmitOptions options,
                                            Sending& out, bool* held) WYE_REQUIRES(mutex);
    // Whether a submit holds the queue.
    [[nodiscard]] bool is_sending(std::uint32_t index) const WYE_REQUIRES(mutex) {
        return (sending_ >> index & 1U) != 0;
    }
    // The newest value of a queue, not counting the value of a submit in progress.
    [[nodiscard]] std::uint64_t newest_sent(std::uint32_t index) const WYE_REQUIRES(mutex) {
        const Queue& queue = queues_[index];
        return queue.newest - (is_sending(index) && queue.native ? 1 : 0);
    }
    // Whether this queue has no work in flight, and no work in flight of another queue waits for
    // work of this queue. Asks the driver.
    [[nodiscard]] bool is_quiet(std::uint32_t index) WYE_REQUIRES(mutex);
    // DEVICE_LOST after `close`.
    [[nodiscard]] Result<void> check_open(const registry::DeviceRef& device) const
        WYE_REQUIRES(mutex);
    // Moves to `out` the quiet native queues (`is_quiet`) of released public queues.
    void take_unused(Unused& out) noexcept WYE_REQUIRES(mutex);
    // Chooses the queue for work that need not wait for any work in flight: an idle queue, or else
    // the queue with the least work.
    [[nodiscard]] std::uint32_t shortest(std::uint32_t busy) const WYE_REQUIRES(mutex);
    // Called if `next_in_line` returned kNoQueue: chooses the queue of a submit, and the work that
    // the submit waits for. False: a submit in progress, or a hold, must end first.
    [[nodiscard]] bool choose(std::uint32_t busy, std::span<const BufferUse> uses,
                              SubmitOptions options, Sending& out, std::uint32_t& index)
        WYE_REQUIRES(mutex);
    [[nodiscard, gnu::always_inline]] static Result<void> send_plain(
        registry::NativeQueue& native, std::span<const wye_operation> operations) {
        Result<void> failed;
        (void)native.send_plain(operations, failed);
        return failed;
    }
    [[nodiscard, gnu::always_inline]] Result<void> send_once(
        Sending& sending, std::span<const wye_operation> operations) WYE_EXCLUDES(mutex) {
        if (sending.wait_count == 0 && !sending.timed && !is_traced()) [[likely]]
            return send_plain(*sending.native, operations);
        return send_slowly(sending, operations);
    }
    [[nodiscard, gnu::cold]] Result<void> send_again(Sending& sending,
                                                     std::span<const wye_operation> operations,
                                                     Result<void> sent) WYE_EXCLUDES(mutex);
    // The retry loop for operations and for native waits: while the device has no room
    // (DEVICE_BUSY), waits for work in flight to end, and calls `again`.
    template <typename Again>
    [[nodiscard]] Result<void> while_busy(const Sending& sending, Result<void> sent,
                                          const Again& again) WYE_EXCLUDES(mutex);
    // The oldest work in flight, preferably of the queue with this index; empty: there is none.
    [[nodiscard]] Ticket oldest(std::uint32_t index) WYE_EXCLUDES(mutex);
    // Waits until the oldest work in flight has ended, after which the device may have room. False:
    // no work is in flight, or the submit must not wait. TIMEOUT at the deadline of the submit.
    [[nodiscard]] Result<bool> await_room(const Sending& sending) WYE_EXCLUDES(mutex);
    // Submits work that waits for other queues, is timed, or is traced.
    [[nodiscard]] Result<void> send_slowly(Sending& sending,
                                           std::span<const wye_operation> operations)
        WYE_EXCLUDES(mutex);
    // The slow part of `end`.
    void end_slowly(const Sending& sending, bool sent) WYE_REQUIRES(mutex);
    [[gnu::cold]] void abandon(Sending& sending) noexcept WYE_EXCLUDES(mutex);
    // Reserves a number for a public queue, and a queue on which its work will run.
    [[nodiscard]] Result<std::uint32_t> reserve(const registry::DeviceRef& device,
                                                const QueueRequest& request, Unused& unused);
    // Makes a queue's native queue, with the mutex unlocked meanwhile.
    [[nodiscard]] Result<void> make(const registry::DeviceRef& device, std::uint32_t index)
        WYE_REQUIRES(mutex);

    const DeviceTrace trace_;
    const std::uint32_t limit_;
    const std::uint32_t most_own_;  // maximum number of public queues with their own native queue
    // Bit mask of the queues that got work since they were last seen idle.
    std::uint32_t used_ WYE_GUARDED_BY(mutex) = 0;
    std::uint64_t frees_ WYE_GUARDED_BY(mutex) = 0;
    bool closed_ WYE_GUARDED_BY(mutex) = false;
    std::uint32_t sending_ WYE_GUARDED_BY(mutex) = 0;  // bit mask of the queues that submits hold
    std::uint32_t waiting_ WYE_GUARDED_BY(mutex) = 0;  // threads in await_sends
    std::condition_variable_any sends_ended_;          // notified while threads wait
    std::array<Public, kMostPublicQueues> publics_ WYE_GUARDED_BY(mutex);
    // The last element (kHeld) is no queue. It counts as busy while there are holds, so that the
    // fast paths, which look for other busy queues anyway, leave submits to `choose`.
    static constexpr std::uint32_t kHeld = kAllQueues;
    std::array<Queue, kAllQueues + 1> queues_ WYE_GUARDED_BY(mutex);
    Holds holds_ WYE_GUARDED_BY(mutex);
    std::atomic<std::uint64_t> publics_made_ = 0, public_submits_ = 0;
    // The newest value of each queue known to have ended. It may lag behind: work that has ended
    // counts as busy until a thread asks the driver.
    std::array<std::atomic<std::uint64_t>, kAllQueues + 1> ended_{};
};

}  // namespace wye::exec
