// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue_pool.hpp"

#include <algorithm>
#include <utility>

namespace wye::exec {
namespace {

// Raises each value to what work with these uses has to run after.
void collect(std::span<const BufferUse> uses, std::array<std::uint64_t, kMostQueues>& after) {
    for (const BufferUse& use : uses)
        for (std::uint32_t i = 0; i < kMostQueues; ++i) {
            after[i] = std::max(after[i], use.history->writes[i]);
            if (use.writes) after[i] = std::max(after[i], use.history->reads[i]);
        }
}

void record(std::span<const BufferUse> uses, std::uint32_t queue, std::uint64_t value) {
    for (const BufferUse& use : uses) {
        if (use.writes)  // it ran after all that the history has
            *use.history = {};
        (use.writes ? use.history->writes : use.history->reads)[queue] = value;
    }
}

}  // namespace

std::uint32_t QueuePool::choose(const Values& after) const {
    for (std::uint32_t i = 0; i < limit_; ++i)
        if (is_pending(i, after[i])) return i;
    std::uint32_t shortest = 0;
    for (std::uint32_t i = 0; i < limit_; ++i)
        if (pending(i) < pending(shortest)) shortest = i;
    return shortest;
}

Result<void> QueuePool::make(const registry::DeviceRef& device, std::uint32_t index) {
    Queue& queue = queues_[index];
    WYE_ASSIGN(registry::NativeQueue native,
               registry::NativeQueue::create(device, "wye", queue.newest));
    queue.native = std::make_shared<registry::NativeQueue>(std::move(native));
    return {};
}

// Work waits for other queues' work for its order only. The native queue refuses a wait for work
// that has failed: then the values have ended, and it is asked again without them.
bool QueuePool::drop_failed(const Values& after) {
    bool dropped = false;
    for (std::uint32_t i = 0; i < limit_; ++i) {
        if (!is_pending(i, after[i]) || native(i, after[i]).reached(after[i]).ok()) continue;
        ended_[i].store(after[i], std::memory_order_release);
        dropped = true;
    }
    return dropped;
}

[[gnu::hot]] Result<Ticket> QueuePool::submit(const registry::DeviceRef& device,
                                              std::span<const wye_operation> operations,
                                              std::span<const BufferUse> uses, bool timed) {
    if (limit_ == 1) return submit_to(device, 0, operations, {}, timed);
    Values after{};
    collect(uses, after);
    for (;;) {
        const std::uint32_t index = choose(after);
        std::array<wye_event, kMostQueues> waits;
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < limit_; ++i)
            if (is_pending(i, after[i]) && (i != index || was_replaced(i, after[i])))
                waits[count++] = native(i, after[i]).event(after[i]);
        auto ticket = submit_to(device, index, operations, {waits.data(), count}, timed);
        if (!ticket.ok() && count != 0 && drop_failed(after)) continue;
        if (ticket.ok()) record(uses, index, ticket->value);
        return ticket;
    }
}

Result<Ticket> QueuePool::submit_to(const registry::DeviceRef& device, std::uint32_t index,
                                    std::span<const wye_operation> operations,
                                    std::span<const wye_event> waits, bool timed) {
    Queue& queue = queues_[index];
    if (!queue.native) WYE_TRY(make(device, index));
    if (trace_.trace != nullptr) [[unlikely]] {
        const std::uint64_t begin_ns = Trace::now_ns();
        WYE_ASSIGN(queue.newest, queue.native->submit(operations, true, waits));
        trace_.trace->submitted(trace_.device, index, queue.newest, operations, begin_ns);
        return Ticket{queue.native, index, queue.newest};
    }
    WYE_ASSIGN(queue.newest, queue.native->submit(operations, timed, waits));
    return Ticket{queue.native, index, queue.newest};
}

std::array<Ticket, kMostQueues> QueuePool::newest() {
    const sdk::Lock lock(mutex);
    std::array<Ticket, kMostQueues> out;
    for (std::uint32_t i = 0; i < kMostQueues; ++i)
        if (queues_[i].native) out[i] = {queues_[i].native, i, queues_[i].newest};
    return out;
}

void QueuePool::replace(const Ticket& failed) {
    std::shared_ptr<registry::NativeQueue> oldest;  // destroyed without the lock
    const sdk::Lock lock(mutex);
    Queue& queue = queues_[failed.index];
    if (queue.native == nullptr || queue.native != failed.queue) return;
    oldest = std::exchange(queue.previous, std::exchange(queue.native, nullptr));
    queue.replaced = queue.newest;
}

}  // namespace wye::exec
