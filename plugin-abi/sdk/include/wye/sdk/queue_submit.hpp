// SPDX-License-Identifier: Apache-2.0
//
// The body of InOrderQueue::submit. Only the source of a plugin's queue includes and instantiates
// it, so that the queue's own functions are inlined.
#pragma once

#include "wye/sdk/queue.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::sdk {

template <typename Derived>
Result<std::uint64_t> InOrderQueue<Derived>::submit(std::span<const wye_operation> operations,
                                                    std::span<const wye_event> waits) {
    auto& queue = static_cast<Derived&>(*this);
    [[maybe_unused]] const auto entered = enter(queue.timeline());
    queued_ = false;
    try {
        Result<std::uint64_t> value = steps(queue, operations, waits);
        if (!value.ok()) give_up(queue, value.error());
        return value;
    } catch (...) {
        give_up(queue, errors::submit_out_of_memory());
        throw;
    }
}

template <typename Derived>
[[gnu::always_inline]] inline Result<std::uint64_t> InOrderQueue<Derived>::steps(
    Derived& queue, std::span<const wye_operation> operations, std::span<const wye_event> waits) {
    WYE_TRY(queue.timeline().usable(queue.timeline().newest() + 1));
    WYE_TRY(queue.begin());
    for (const wye_event& wait : waits) {
        if (wait.queue == nullptr) continue;
        Derived& other = of(wait.queue);
        if (&other == &queue) continue;  // this queue is in order
        WYE_TRY(other.timeline().usable(wait.value));
        WYE_TRY(queue.wait_for(other, wait.value));
    }
    for (const wye_operation& op : queue.plan(operations)) WYE_TRY(queue.perform(op));
    return queue.end();
}

// Cancelled or lost work may have begun.
template <typename Derived>
void InOrderQueue<Derived>::give_up(Derived& queue, const Error& error) {
    const bool begun = queue.begun();
    if (begun) queue.timeline().drain();
    if (begun || error.code == Code::CANCELLED || error.code == Code::DEVICE_LOST)
        queue.timeline().poison(error);
    queue.abandon();
}

}  // namespace wye::sdk
