// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace wye::exec {

std::uint32_t QueuePool::shortest(std::uint32_t busy) const {
    const auto idle = static_cast<std::uint32_t>(std::countr_one(busy | sending_));
    if (idle < limit_) return idle;
    std::uint32_t out = 0;
    for (std::uint32_t i = 1; i < limit_; ++i)
        if (std::pair(is_sending(i), pending(i)) < std::pair(is_sending(out), pending(out)))
            out = i;
    return out;
}

bool QueuePool::is_used(const BufferHistory& history) {
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (runs(i, history.newest(i))) return true;
    return false;
}

bool QueuePool::await_place(std::span<const BufferUse> uses, std::uint32_t queue,
                            std::optional<Clock::time_point> deadline) {
    bool in_time = true;
    ++waiting_;
    while (holds_.concern(uses, queue) && in_time) {
        if (!deadline)
            sends_ended_.wait(mutex);
        else
            in_time = sends_ended_.wait_until(mutex, *deadline) == std::cv_status::no_timeout;
    }
    --waiting_;
    return !holds_.concern(uses, queue);
}

Ticket QueuePool::pending_use(BufferHistory& history) {
    const BufferUse writes{&history, true};
    (void)await_place({&writes, 1}, 0, {});
    for (std::uint32_t i = 0; i < kAllQueues; ++i) {
        while (is_sending(i) && history.newest(i) == queues_[i].newest) await_sends();
        const std::uint64_t value = history.newest(i);
        if (runs(i, value)) return {queues_[i].native, i, value};
    }
    return {};
}

// The driver is not asked about a value that is not submitted yet.
bool QueuePool::runs(std::uint32_t index, std::uint64_t value) {
    if (!is_pending(index, value)) return false;
    const Queue& queue = queues_[index];
    if (!queue.native || value > newest_sent(index)) return true;
    const auto reached = queue.native->reached(value);
    if (reached.ok() && !*reached) return true;
    ended(index, value);
    return false;
}

bool QueuePool::is_idle() {
    if (!holds_.empty()) return false;
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (is_sending(i) || runs(i, queues_[i].newest)) return false;
    return true;
}

bool QueuePool::is_quiet(std::uint32_t index) {
    Queue& queue = queues_[index];
    if (is_sending(index) || runs(index, queue.newest)) return false;
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (runs(i, std::min(queue.followers[i], queues_[i].newest))) return false;
    return true;
}

Ticket QueuePool::busy_for(std::uint32_t number) {
    const sdk::Lock lock(mutex);
    const std::uint32_t first = number == 0 ? 0 : publics_[number - 1].index;
    const std::uint32_t end = number == 0 ? limit_ : first + 1;
    for (std::uint32_t i = first; i < end; ++i)
        if (!queues_[i].native || !runs(i, newest_sent(i))) return {};
    return {queues_[first].native, first, newest_sent(first)};
}

Result<void> QueuePool::check_open(const registry::DeviceRef& device) const {
    if (!closed_) return {};
    const std::string& selector = device->info().selector;
    return Error(Code::DEVICE_LOST, fmt::format("{} was lost, and has been recovered", selector),
                 "Fix: open the device again, and make its buffers anew", selector);
}

// The queue is held until its native queue is made, so that no other thread makes one.
Result<void> QueuePool::make(const registry::DeviceRef& device, std::uint32_t index) {
    const QueueRequest request = queues_[index].request.value_or(QueueRequest{"wye"});
    const std::uint64_t newest = queues_[index].newest;
    sending_ |= 1U << index;
    struct Unlocked {
        Unlocked(QueuePool& p, std::uint32_t i) WYE_THREAD_ATTRIBUTE(no_thread_safety_analysis)
            : pool(p), held(i) {
            pool.mutex.unlock();
        }
        ~Unlocked() WYE_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
            pool.mutex.lock();
            pool.let_go(held);
        }
        QueuePool& pool;
        const std::uint32_t held;
    };
    std::shared_ptr<registry::NativeQueue> made;
    {
        const Unlocked unlocked(*this, index);
        WYE_ASSIGN(auto native, registry::NativeQueue::create(device, request.label, newest,
                                                              request.kind, request.priority));
        made = std::make_shared<registry::NativeQueue>(std::move(native));
    }
    auto open = check_open(device);
    if (open.ok()) {
        queues_[index].native = std::move(made);
    } else {  // the pool was closed meanwhile
        mutex.unlock();
        made.reset();
        mutex.lock();
    }
    return open;
}

Result<bool> QueuePool::begin_slowly(const registry::DeviceRef& device,
                                     std::span<const BufferUse> uses, SubmitOptions options,
                                     Sending& out, bool* held) {
    WYE_TRY(check_open(device));
    const std::uint32_t busy = this->busy();
    std::uint32_t index = 0;
    if ((busy | sending_ | options.queue) != 0) {
        if (!choose(busy, uses, options, out, index)) {
            await_sends();
            return false;
        }
    }
    if (!queues_[index].native) {
        out.wait_count = 0;  // the next `begin`, which may take the fast path, starts anew
        out.follows = false;
        WYE_TRY(make(device, index));
        return false;
    }
    take(index, uses, options, out, held);
    for (std::uint32_t n = 0; n < out.wait_count; ++n)
        queues_[out.wait_queues[n]].followers[index] = out.ticket.value;
    record(uses, index, out.ticket.value);
    return true;
}

// Work without a public queue that must follow other work goes to a queue of the other work. If
// each such queue is held by a submit or belongs to a public queue, `shortest` chooses the queue.
bool QueuePool::choose(std::uint32_t busy, std::span<const BufferUse> uses, SubmitOptions options,
                       Sending& out, std::uint32_t& index) {
    // A submit without uses belongs to work that is in order already, or needs no order, so holds
    // do not concern it.
    if (!options.placed && !uses.empty() && holds_.concern(uses, options.queue)) return false;
    Values after{};
    std::uint32_t needed = 0;
    for (std::uint32_t left = busy & ~(1U << kHeld); left != 0; left &= left - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
        after[i] = newest_before(uses, i);
        if (!is_pending(i, after[i])) continue;
        if (after[i] > newest_sent(i)) return false;
        needed |= 1U << i;
    }
    const auto first = static_cast<std::uint32_t>(std::countr_zero(needed & ~sending_));
    index = first < limit_ ? first : shortest(busy);
    if (options.queue != 0) index = publics_[options.queue - 1].index;
    if (is_sending(index)) return false;
    out.public_queue = options.queue;
    out.follows = true;
    out.wait_count = 0;
    for (std::uint32_t i = 0; i < kAllQueues; ++i) out.before[i] = queues_[i].newest;
    for (; needed != 0; needed &= needed - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(needed));
        if (i == index) continue;
        out.waits[out.wait_count] = queues_[i].native->order_event(after[i]);
        out.wait_queues[out.wait_count++] = i;
    }
    return true;
}

Result<void> QueuePool::send_slowly(Sending& sending, std::span<const wye_operation> operations) {
    const bool traced = trace_.trace != nullptr;
    const std::uint64_t begin_ns = traced ? Trace::now_ns() : 0;
    auto sent = sending.native->send(operations, sending.timed || traced,
                                     {sending.waits.data(), sending.wait_count});
    if (traced && sent.ok()) [[unlikely]]
        trace_.trace->submitted(trace_.device, sending.ticket.index, sending.ticket.value,
                                operations, begin_ns);
    return sent;
}

template <typename Again>
Result<void> QueuePool::while_busy(const Sending& sending, Result<void> sent, const Again& again) {
    while (!sent.ok() && sent.error().code == Code::DEVICE_BUSY) {
        WYE_ASSIGN(const bool may_have_room, await_room(sending));
        if (!may_have_room) break;
        sent = again();
    }
    return sent;
}

Result<void> QueuePool::send_again(Sending& sending, std::span<const wye_operation> operations,
                                   Result<void> sent) {
    return while_busy(sending, std::move(sent), [&] { return send_once(sending, operations); });
}

// A native wait uses no buffer, so it waits for no other queue.
Result<void> QueuePool::wait_native(const registry::DeviceRef& device,
                                    const wye_native_handle& event, std::uint32_t number) {
    Sending sending;
    {
        const sdk::Lock lock(mutex);
        (void)await_place({}, number, {});  // work in the line comes before this wait
        for (bool begun = false; !begun;) {
            WYE_ASSIGN(begun, begin(device, {}, {false, number}, sending));
        }
    }
    const auto wait = [&] { return sending.native->wait_native(event); };
    auto sent = while_busy(sending, wait(), wait);
    const sdk::Lock lock(mutex);
    end(sending, sent.ok());
    return sent;
}

Ticket QueuePool::oldest(std::uint32_t index) {
    const sdk::Lock lock(mutex);
    for (std::uint32_t n = 0; n < kAllQueues; ++n) {
        const std::uint32_t i = (index + n) % kAllQueues;
        const std::uint64_t value = ended_[i].load(std::memory_order_relaxed) + 1;
        if (queues_[i].native && value <= newest_sent(i)) return {queues_[i].native, i, value};
    }
    return {};
}

Result<bool> QueuePool::await_room(const Sending& sending) {
    const Ticket first = oldest(sending.ticket.index);
    const Clock::time_point begin = now();
    if (!first.queue || sending.room_until == Clock::time_point::min()) return false;
    const std::uint64_t limit = sending.room_until == Clock::time_point::max() ? UINT64_MAX
                                : begin < sending.room_until
                                    ? nanoseconds(sending.room_until - begin)
                                    : 0;
    auto waited = first.queue->wait(first.value, limit);
    if (waited.ok() || first.queue->has_ended(first.value)) {
        ended(first);
        return true;
    }
    if (waited.error().code != Code::TIMEOUT) return std::move(waited).error();
    const std::string& selector = first.queue->device()->info().selector;
    return Error(
        Code::TIMEOUT,
        fmt::format("{} did not have room for another submit before the time-out", selector),
        "Fix: give a longer time-out, or wait for earlier work first", selector);
}

void QueuePool::abandon(Sending& sending) noexcept {
    const sdk::Lock lock(mutex);
    end(sending, false);
}

void QueuePool::take_back(std::uint32_t index, std::span<const BufferUse> uses,
                          std::uint64_t value) {
    --queues_[index].newest;
    // The next submit gets this value, and may use other buffers, so the value must leave the
    // histories of these buffers.
    for (const BufferUse& use : uses)
        if (std::uint64_t& known = use.history->newest(index, use.writes); known == value) --known;
}

void QueuePool::end_slowly(const Sending& sending, bool sent) {
    const auto& [queue, index, value] = sending.ticket;
    if (!sent) return take_back(index, sending.uses, value);
    // This work runs after all work in the histories of the buffers that it writes, so later work
    // need only come after this work.
    const auto forget = [](auto& values, const std::uint64_t* before) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] <= before[i]) values[i] = 0;
    };
    const std::uint64_t* const before = sending.before.data();
    for (const BufferUse& use : sending.uses) {
        if (!use.writes) continue;
        forget(use.history->reads, before);
        forget(use.history->writes, before);
        forget(use.history->public_reads, before + kMostQueues);
        forget(use.history->public_writes, before + kMostQueues);
    }
    if (sending.public_queue != 0) count_public(sending.public_queue, value);
}

Result<void> QueuePool::submit(const registry::DeviceRef& device,
                               std::span<const wye_operation> operations,
                               std::span<const BufferUse> uses, SubmitOptions options,
                               Ticket& out) {
    Sending sending;
    {
        const sdk::Lock lock(mutex);
        for (bool begun = false; !begun;) {
            WYE_ASSIGN(begun, begin(device, uses, options, sending));
        }
    }
    auto sent = send(sending, operations);
    const sdk::Lock lock(mutex);
    end(sending, sent.ok());
    if (sent.ok()) out = std::move(sending.ticket);
    return sent;
}

void QueuePool::take_unused(Unused& out) noexcept {
    for (std::uint32_t i = kMostQueues; i < kAllQueues; ++i) {
        Queue& queue = queues_[i];
        if (!queue.native || queue.request) continue;
        try {
            if (is_quiet(i)) out[i] = std::move(queue.native);
        } catch (const std::bad_alloc&) {  // no memory for an error: asked again later
        }
    }
}

std::array<Ticket, kAllQueues> QueuePool::newest() {
    Unused unused;
    const sdk::Lock lock(mutex);
    take_unused(unused);
    std::array<Ticket, kAllQueues> out;
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (const std::uint64_t value = newest_sent(i); queues_[i].native && is_pending(i, value))
            out[i] = {queues_[i].native, i, value};
    return out;
}

bool QueuePool::replace(const Ticket& failed) {
    std::shared_ptr<registry::NativeQueue> dropped;  // destroyed after the lock is released
    const sdk::Lock lock(mutex);
    Queue& queue = queues_[failed.index];
    if (queue.native != failed.queue || !is_quiet(failed.index)) return false;
    dropped = std::move(queue.native);
    return true;
}

std::array<Ticket, kAllQueues> QueuePool::close() {
    const sdk::Lock lock(mutex);
    closed_ = true;
    std::array<Ticket, kAllQueues> out;
    for (std::uint32_t i = 0; i < kAllQueues; ++i) out[i] = {std::move(queues_[i].native), i, 0};
    while (sending_ != 0) await_sends();
    for (std::uint32_t i = 0; i < kAllQueues; ++i) out[i].value = queues_[i].newest;
    return out;
}

}  // namespace wye::exec
