// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace wye::exec {
namespace {

std::uint64_t newest_read(const BufferHistory& history, std::uint32_t queue) {
    return queue < kMostQueues ? history.reads[queue] : history.public_reads[queue - kMostQueues];
}
std::uint64_t newest_write(const BufferHistory& history, std::uint32_t queue) {
    return queue < kMostQueues ? history.writes[queue] : history.public_writes[queue - kMostQueues];
}

// The newest value of a queue that work with these uses must run after.
std::uint64_t newest_before(std::span<const BufferUse> uses, std::uint32_t queue) {
    std::uint64_t out = 0;
    for (const BufferUse& use : uses) {
        out = std::max(out, newest_write(*use.history, queue));
        if (use.writes) out = std::max(out, newest_read(*use.history, queue));
    }
    return out;
}

// Calls `visit` with the index of each set bit.
template <typename Visit>
void for_each_bit(std::uint32_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

}  // namespace

void QueuePool::record(std::span<const BufferUse> uses, const Ticket& ticket) {
    const bool own = ticket.index >= kMostQueues;
    const std::uint32_t place = own ? ticket.index - kMostQueues : ticket.index;
    for (const BufferUse& use : uses) {
        BufferHistory& history = *use.history;
        if (use.writes) {  // the write runs after everything in the history, so it replaces it
            history.reads = history.writes = {};
            if (had_public_) [[unlikely]]
                history.public_reads = history.public_writes = {};
        }
        if (own) [[unlikely]]
            (use.writes ? history.public_writes : history.public_reads)[place] = ticket.value;
        else
            (use.writes ? history.writes : history.reads)[place] = ticket.value;
    }
}

std::uint32_t QueuePool::shortest(std::uint32_t busy) const {
    const auto idle = static_cast<std::uint32_t>(std::countr_one(busy));
    if (idle < limit_) return idle;
    std::uint32_t out = 0;
    for (std::uint32_t i = 0; i < limit_; ++i)
        if (pending(i) < pending(out)) out = i;
    return out;
}

Ticket QueuePool::pending_use(const BufferHistory& history) {
    for (std::uint32_t i = 0; i < kAllQueues; ++i) {
        const std::uint64_t newest = std::max(newest_read(history, i), newest_write(history, i));
        if (!runs(i, newest)) continue;
        return {was_replaced(i, newest) ? queues_[i].previous : queues_[i].native, i, newest};
    }
    return {};
}

bool QueuePool::runs(std::uint32_t index, std::uint64_t value) {
    if (!is_pending(index, value)) return false;
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

// Work waits for work of other queues only to keep the order, whether that succeeds or fails. A
// native queue refuses a wait for work that has failed; such work has ended, so the submit is
// repeated without these waits.
bool QueuePool::drop_failed(const Values& after) {
    bool dropped = false;
    for (std::uint32_t i = 0; i < after.size(); ++i) {
        if (!is_pending(i, after[i]) || native(i, after[i]).reached(after[i]).ok()) continue;
        ended_[i].store(after[i], std::memory_order_release);
        dropped = true;
    }
    return dropped;
}

[[gnu::hot]] Result<void> QueuePool::submit(const registry::DeviceRef& device,
                                            std::span<const wye_operation> operations,
                                            std::span<const BufferUse> uses, SubmitOptions options,
                                            Ticket& out) {
    const std::uint32_t busy = this->busy();
    auto sent = (busy | options.queue) == 0
                    ? submit_to(device, 0, operations, {}, options.timed, out)
                    : submit_in_order(device, busy, operations, uses, options, out);
    if (sent.ok()) record(uses, out);
    return sent;
}

Result<void> QueuePool::submit_in_order(const registry::DeviceRef& device, std::uint32_t busy,
                                        std::span<const wye_operation> operations,
                                        std::span<const BufferUse> uses, SubmitOptions options,
                                        Ticket& out) {
    Values after{};
    for_each_bit(busy, [&](std::uint32_t i) { after[i] = newest_before(uses, i); });
    for (;;) {
        std::uint32_t needed = 0;
        for_each_bit(
            busy, [&](std::uint32_t i) { needed |= std::uint32_t{is_pending(i, after[i])} << i; });
        const auto first = static_cast<std::uint32_t>(std::countr_zero(needed));
        std::uint32_t index = first < limit_ ? first : shortest(busy);
        if (options.queue != 0) index = publics_[options.queue - 1].index;
        std::array<wye_event, kAllQueues> waits;
        std::size_t count = 0;
        for (std::uint32_t left = needed; left != 0; left &= left - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
            if (i != index || was_replaced(i, after[i]))
                waits[count++] = native(i, after[i]).event(after[i]);
        }
        auto sent = submit_to(device, index, operations, {waits.data(), count}, options.timed, out);
        if (!sent.ok() && count != 0 && drop_failed(after)) continue;
        if (sent.ok() && options.queue != 0) {
            Public& queue = publics_[options.queue - 1];
            queue.newest = out.value;
            ++queue.submits;
            public_submits_.fetch_add(1, std::memory_order_relaxed);
        }
        return sent;
    }
}

Result<void> QueuePool::submit_to(const registry::DeviceRef& device, std::uint32_t index,
                                  std::span<const wye_operation> operations,
                                  std::span<const wye_event> waits, bool timed, Ticket& out) {
    Queue& queue = queues_[index];
    if (!queue.native) [[unlikely]]
        WYE_TRY(make(device, index));
    const bool traced = trace_.trace != nullptr;
    const std::uint64_t begin_ns = traced ? Trace::now_ns() : 0;
    auto sent = queue.native->send(operations, timed || traced, waits);
    if (!sent.ok()) [[unlikely]]
        return sent;
    queue.newest = queue.native->newest();
    if (traced) [[unlikely]]
        trace_.trace->submitted(trace_.device, index, queue.newest, operations, begin_ns);
    out.queue = queue.native;
    out.index = index;
    out.value = queue.newest;
    return sent;
}

std::array<Ticket, kAllQueues> QueuePool::newest() {
    const sdk::Lock lock(mutex);
    std::array<Ticket, kAllQueues> out;
    for (std::uint32_t i = 0; i < kAllQueues; ++i)
        if (queues_[i].native) out[i] = {queues_[i].native, i, queues_[i].newest};
    return out;
}

void QueuePool::replace(const Ticket& failed) {
    std::shared_ptr<registry::NativeQueue> oldest;  // destroyed after the lock is released
    const sdk::Lock lock(mutex);
    Queue& queue = queues_[failed.index];
    if (queue.native == nullptr || queue.native != failed.queue) return;
    oldest = std::exchange(queue.previous, std::exchange(queue.native, nullptr));
    queue.replaced = queue.newest;
}

}  // namespace wye::exec
