// SPDX-License-Identifier: Apache-2.0
//
// The body of InOrderQueue::submit. Only the source of a plugin's queue includes and instantiates
// it, so that the queue's own functions are inlined.
#pragma once

#include <exception>

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
        return done.ok() ? std::move(done) : give_up(queue, std::move(done).error());
    } catch (const std::exception&) {
        if (!give_up(queue, errors::submit_out_of_memory()).ok()) throw;
        return {};
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
        WYE_TRY(other.timeline().usable(wait.value));
        if (&other == &queue && !queue.timeline().fails_late()) continue;  // it is in order
        WYE_TRY(queue.wait_for(other, wait.value));
    }
    for (const wye_operation& op : queue.plan(operations)) WYE_TRY(queue.perform(op));
    return queue.end();
}

// Cancelled work may have begun. After a loss the call fails in any case.
template <typename Derived>
Result<void> InOrderQueue<Derived>::give_up(Derived& queue, Error error) {
    const bool begun = queue.begun() || error.code == Code::CANCELLED;
    if (begun) queue.timeline().drain();
    queue.abandon();
    if (!begun || error.code == Code::DEVICE_LOST) return error;
    queue.timeline().add_failed(value_, std::move(error));
    return {};
}

}  // namespace wye::sdk
