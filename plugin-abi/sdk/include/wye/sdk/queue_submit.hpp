// SPDX-License-Identifier: Apache-2.0
//
// The body of InOrderQueue::submit. Only the source of a plugin's queue includes and instantiates
// it, so that the queue's own functions are inlined.
#pragma once

#include "wye/sdk/queue.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::sdk {

template <typename Derived>
Result<void> InOrderQueue<Derived>::submit(const wye_submission& submission) {
    auto& queue = static_cast<Derived&>(*this);
    WYE_TRY(known_flags(submission));
    [[maybe_unused]] const auto entered = enter(queue.timeline());
    queued_ = false;
    value_ = submission.value;
    timed_ = (submission.flags & WYE_SUBMISSION_TIMED) != 0;
    try {
        Result<void> done = steps(queue, submission);
        if (!done.ok()) give_up(queue, done.error());
        return done;
    } catch (...) {
        give_up(queue, errors::submit_out_of_memory());
        throw;
    }
}

template <typename Derived>
[[gnu::always_inline]] inline Result<void> InOrderQueue<Derived>::known_flags(
    const wye_submission& submission) {
    if ((submission.flags & ~std::uint32_t{WYE_SUBMISSION_TIMED}) != 0)
        return errors::unknown_flags(Derived::kPlugin, "a submission", submission.flags);
    for (const wye_operation& op : std::span(submission.operations, submission.operation_count))
        if (flags_of(op) != 0)
            return errors::unknown_flags(Derived::kPlugin, "an operation", flags_of(op));
    return {};
}

template <typename Derived>
[[gnu::always_inline]] inline Result<void> InOrderQueue<Derived>::steps(
    Derived& queue, const wye_submission& submission) {
    WYE_TRY(queue.timeline().usable(submission.value));
    const std::span operations(submission.operations, submission.operation_count);
    WYE_TRY(queue.begin());
    for (const wye_event& wait : std::span(submission.waits, submission.wait_count)) {
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
