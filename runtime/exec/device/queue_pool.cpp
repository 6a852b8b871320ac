// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue_pool.hpp"

#include <algorithm>
#include <bit>
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

void QueuePool::await_sends() {
    const std::uint32_t before = sends_ended_.load(std::memory_order_relaxed);
    ++waiting_;
    mutex.unlock();
    sends_ended_.wait(before, std::memory_order_acquire);
    mutex.lock();
    --waiting_;
}

bool QueuePool::is_used(const BufferHistory& history) {
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (runs(i, history.newest(i))) return true;
    return false;
}

Ticket QueuePool::pending_use(const BufferHistory& history) {
    for (std::uint32_t i = 0; i < kAllQueues; ++i) {
        while (is_sending(i) && history.newest(i) == queues_[i].newest) await_sends();
        const std::uint64_t value = history.newest(i);
        if (!runs(i, value)) continue;
        return {was_replaced(i, value) ? queues_[i].previous : queues_[i].native, i, value};
    }
    return {};
}

// The driver is not asked about a value that it does not have yet.
bool QueuePool::runs(std::uint32_t index, std::uint64_t value) {
    if (!is_pending(index, value)) return false;
    if (value > newest_sent(index)) return true;
    const auto reached = native(index, value).reached(value);
    if (reached.ok() && !*reached) return true;
    ended(index, value);
    return false;
}

Result<void> QueuePool::make(const registry::DeviceRef& device, std::uint32_t index) {
    Queue& queue = queues_[index];
    const QueueRequest request = queue.request ? *queue.request : QueueRequest{"wye"};
    WYE_ASSIGN(registry::NativeQueue native,
               registry::NativeQueue::create(device, request.label, queue.newest, request.kind,
                                             request.priority));
    queue.native = std::make_shared<registry::NativeQueue>(std::move(native));
    return {};
}

Result<bool> QueuePool::begin_slowly(const registry::DeviceRef& device,
                                     std::span<const BufferUse> uses, SubmitOptions options,
                                     Sending& out, bool* held) {
    const std::uint32_t busy = this->busy();
    std::uint32_t index = 0;
    if ((busy | sending_ | options.queue) != 0) {
        if (!choose(busy, uses, options, out, index)) {
            await_sends();
            return false;
        }
    }
    if (!queues_[index].native) WYE_TRY(make(device, index));
    take(index, uses, options, out, held);
    record(uses, index, out.ticket.value);
    return true;
}

// Work that must follow work of other queues goes behind one of them, if no submit holds that one.
bool QueuePool::choose(std::uint32_t busy, std::span<const BufferUse> uses, SubmitOptions options,
                       Sending& out, std::uint32_t& index) {
    Values after{};
    std::uint32_t needed = 0;
    for (std::uint32_t left = busy; left != 0; left &= left - 1) {
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
        if (i == index && !was_replaced(i, after[i])) continue;
        out.waits[out.wait_count] = native(i, after[i]).event(after[i]);
        out.wait_queues[out.wait_count++] = i;
    }
    return true;
}

// Work waits for work of other queues only to keep the order, whether that succeeds or fails. A
// native queue refuses a wait for work that has failed; such work has ended, so the submit is
// repeated without these waits.
bool QueuePool::drop_failed(Sending& sending) {
    const sdk::Lock lock(mutex);
    std::uint32_t kept = 0;
    for (std::uint32_t n = 0; n < sending.wait_count; ++n) {
        const std::uint32_t i = sending.wait_queues[n];
        const std::uint64_t value = sending.waits[n].value;
        if (is_pending(i, value) && !native(i, value).reached(value).ok())
            ended_[i].store(value, std::memory_order_release);
        if (!is_pending(i, value)) continue;
        sending.waits[kept] = sending.waits[n];
        sending.wait_queues[kept++] = i;
    }
    return std::exchange(sending.wait_count, kept) != kept;
}

Result<void> QueuePool::send_slowly(Sending& sending, std::span<const wye_operation> operations) {
    const bool traced = trace_.trace != nullptr;
    const std::uint64_t begin_ns = traced ? Trace::now_ns() : 0;
    for (;;) {
        auto sent = sending.native->send(operations, sending.timed || traced,
                                         {sending.waits.data(), sending.wait_count});
        if (!sent.ok()) [[unlikely]]
            if (sending.wait_count != 0 && drop_failed(sending)) continue;
        if (traced && sent.ok()) [[unlikely]]
            trace_.trace->submitted(trace_.device, sending.ticket.index, sending.ticket.value,
                                    operations, begin_ns);
        return sent;
    }
}

void QueuePool::wake_waiting() {
    sends_ended_.fetch_add(1, std::memory_order_release);
    sends_ended_.notify_all();
}

void QueuePool::abandon(Sending& sending) noexcept {
    const sdk::Lock lock(mutex);
    end(sending, false);
}

void QueuePool::take_back(std::uint32_t index, std::span<const BufferUse> uses,
                          std::uint64_t value) {
    --queues_[index].newest;
    // The next submit gets the value, and need not use these buffers.
    for (const BufferUse& use : uses)
        if (std::uint64_t& known = use.history->newest(index, use.writes); known == value) --known;
}

void QueuePool::end_slowly(const Sending& sending, bool sent) {
    const auto& [queue, index, value] = sending.ticket;
    if (!sent) return take_back(index, sending.uses, value);
    // The submit's work runs after all that was in the histories of the buffers that it writes.
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

std::array<Ticket, kAllQueues> QueuePool::newest() {
    const sdk::Lock lock(mutex);
    std::array<Ticket, kAllQueues> out;
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (queues_[i].native) out[i] = {queues_[i].native, i, newest_sent(i)};
    return out;
}

void QueuePool::replace(const Ticket& failed) {
    std::shared_ptr<registry::NativeQueue> oldest;  // destroyed after the lock is released
    const sdk::Lock lock(mutex);
    while (is_sending(failed.index)) await_sends();
    Queue& queue = queues_[failed.index];
    if (queue.native == nullptr || queue.native != failed.queue) return;
    oldest = std::exchange(queue.previous, std::exchange(queue.native, nullptr));
    queue.replaced = queue.newest;
}

}  // namespace wye::exec
