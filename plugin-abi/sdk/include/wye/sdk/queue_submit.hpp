// SPDX-License-Identifier: Apache-2.0
//
// The body of InOrderQueue::submit. Only the source of a plugin's queue includes this file and
// instantiates the body, so that the queue's own functions are inlined.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>

#include "wye/sdk/queue.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::sdk {

// The value of a queue's timeline to wait for in place of `event`; a null timeline: nothing is left
// to wait for.
template <typename QueueTimeline>
[[nodiscard]] Result<Place<QueueTimeline>> place_of(const wye_event& event, QueueTimeline&) {
    TimelineObject& timeline = TimelineObject::of(event.timeline);
    if (timeline.of_queue())
        return Place<QueueTimeline>{static_cast<QueueTimeline*>(&timeline), event.value};
    return static_cast<SignalTimeline<QueueTimeline>&>(timeline).place_of(event.value);
}

// Whether the value of an event has failed.
template <typename QueueTimeline>
[[nodiscard]] bool has_failed(const wye_event& event) {
    TimelineObject& timeline = TimelineObject::of(event.timeline);
    if (timeline.of_queue()) return static_cast<QueueTimeline&>(timeline).has_failed(event.value);
    return static_cast<SignalTimeline<QueueTimeline>&>(timeline).has_failed(event.value);
}

template <typename Derived>
Result<void> InOrderQueue<Derived>::submit(const wye_submission& submission) {
    auto& queue = static_cast<Derived&>(*this);
    WYE_TRY(known_operations(submission));
    [[maybe_unused]] const auto entered = enter(queue.timeline());
    queued_ = false;
    value_ = submission.value;
    timed_ = (submission.flags & WYE_SUBMISSION_TIMED) != 0;
    std::optional<Error> error;  // nullopt: there was no memory for the error
    try {
        Result<void> done;
        if (submission.signal_count != 0) [[unlikely]]
            done = add_signals(queue, {submission.signals, submission.signal_count});
        if (done.ok()) done = steps(queue, submission);
        if (done.ok()) return done;
        error = std::move(done).error();
    } catch (const std::exception&) {
    }
    return give_up(queue, std::move(error));
}

template <typename Derived>
[[gnu::always_inline]] inline bool InOrderQueue<Derived>::replay_alone(
    const wye_submission& submission) noexcept {
    auto& queue = static_cast<Derived&>(*this);
    if constexpr (requires(const wye_execute_op& op) { queue.replay(op, std::uint64_t{}); }) {
        const bool bare = (submission.flags | submission.wait_count | submission.signal_count |
                           submission.header.type) == 0 &&
                          submission.header.next == nullptr;
        if (!bare || submission.operation_count != 1) return false;
        const wye_operation& op = *submission.operations;
        if (op.kind != WYE_OPERATION_EXECUTE || op.flags != 0 || op.next != nullptr ||
            flags_of(op.u.execute.slots, op.u.execute.slot_count) != 0 ||
            !queue.timeline().usable(submission.value).ok())
            return false;
        try {
            [[maybe_unused]] const auto entered = enter(queue.timeline());
            return queue.replay(op.u.execute, submission.value);
        } catch (const std::exception&) {  // no memory, which `submit` reports
            return false;
        }
    } else {
        return false;
    }
}

template <typename Derived>
[[gnu::always_inline]] inline Result<void> InOrderQueue<Derived>::known_operations(
    const wye_submission& submission) {
    for (const wye_operation& op : std::span(submission.operations, submission.operation_count))
        WYE_TRY(known_parts_of(op, Derived::kPlugin, launch_flags<Derived>()));
    return {};
}

template <typename Derived>
[[gnu::always_inline]] inline Result<void> InOrderQueue<Derived>::steps(
    Derived& queue, const wye_submission& submission) {
    WYE_TRY(queue.timeline().usable(submission.value));
    const std::span operations(submission.operations, submission.operation_count);
    WYE_TRY(queue.begin());
    if (submission.wait_count != 0)
        WYE_TRY(wait_for_all(queue, {submission.waits, submission.wait_count}));
    if constexpr (waits_native<Derived>())
        if (const wye_native_wait* wait = native_wait(submission.header))
            WYE_TRY(queue.wait_native(*wait->event));
    for (const wye_operation& op : queue.plan(operations)) WYE_TRY(queue.perform(op));
    return queue.end();
}

template <typename Derived>
Result<void> InOrderQueue<Derived>::add_signals(Derived& queue,
                                                std::span<const wye_event> signals) {
    for (const wye_event& signal : signals)
        if ((signal.flags | signal.reserved) != 0)
            return errors::unknown_flags(Derived::kPlugin, "a signal", signal.flags,
                                         signal.reserved);
    queue.timeline().add_signals(queue.value(), signals);
    return {};
}

template <typename Derived>
Result<void> InOrderQueue<Derived>::wait_for_all(Derived& queue, std::span<const wye_event> waits) {
    for (const wye_event& wait : waits)
        if (((wait.flags & ~std::uint32_t{WYE_EVENT_ORDER_ONLY}) | wait.reserved) != 0)
            return errors::unknown_flags(Derived::kPlugin, "a wait", wait.flags, wait.reserved);
    for (const wye_event& wait : waits)
        if (wait.timeline != nullptr) WYE_TRY(wait_for(queue, wait));
    return {};
}

// Makes later operations wait for an event. An order-only wait for the queue's own work needs
// nothing, since the queue is in order.
template <typename Derived>
Result<void> InOrderQueue<Derived>::wait_for(Derived& queue, const wye_event& wait) {
    using QueueTimeline = std::remove_reference_t<decltype(queue.timeline())>;
    const bool order_only = (wait.flags & WYE_EVENT_ORDER_ONLY) != 0;
    if (order_only && has_failed<QueueTimeline>(wait)) return {};
    WYE_ASSIGN(const auto place, place_of(wait, queue.timeline()));
    if (place.timeline == nullptr) return {};
    if (place.value > place.timeline->newest()) return errors::not_signalled(wait.value);
    const bool own = place.timeline == &queue.timeline();
    if (!order_only) {
        WYE_TRY(place.timeline->usable(place.value));
        if (own && !QueueTimeline::fails_late()) return {};
        return queue.wait_for(*place.timeline, place.value);
    }
    if (own || place.timeline->has_failed(place.value)) return {};
    if constexpr (QueueTimeline::fails_late())
        return queue.order_after(*place.timeline, place.value);
    else
        return queue.wait_for(*place.timeline, place.value);
}

// Drops the submit before anything that may need memory, so that no part of the submit runs later.
// If the device was lost, the call fails even if a part of the submit was queued.
template <typename Derived>
Result<void> InOrderQueue<Derived>::give_up(Derived& queue, std::optional<Error> error) {
    static_assert(noexcept(queue.abandon())&& noexcept(queue.begun()));
    const bool begun = queue.begun();
    if (begun) queue.timeline().drain();
    queue.abandon();
    if (!error) error = errors::submit_out_of_memory();
    if (!begun || error->code == Code::DEVICE_LOST) {
        queue.timeline().drop_signals(value_);
        return *std::move(error);
    }
    queue.timeline().add_failed(value_, *std::move(error));
    return {};
}

}  // namespace wye::sdk
