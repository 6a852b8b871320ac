// SPDX-License-Identifier: Apache-2.0
//
// InOrderQueue: the steps of a submit to an in-order queue, the same in every plugin:
//
//     begin -> wait_for, for each wait -> wait_native -> plan -> one call for each operation -> end
//
// Unknown flags are refused before anything is queued. If a step fails or memory runs out,
// abandon() drops the submit, and the call fails. If part of the submit was already queued, that
// part ends first, the call succeeds, and the submit's value fails.
//
// The plugin's class derives from InOrderQueue. It has timeline() (see timeline.hpp) and, in this
// order, the following steps, which return Result unless a type is given:
//
//     begin()                     before anything else
//     wait_for(timeline, value)   makes later operations run after `value` of the timeline of a
//                                 queue of the same device; called for the queue's own timeline
//                                 only with kFailsLate
//     order_after(timeline, value)   as wait_for, but later operations run even if `value` fails;
//                                 never called for the queue's own timeline; needed only with
//                                 kFailsLate
//     wait_native(event)          as wait_for, for an event of the driver's API; optional, see
//                                 native_wait.hpp
//     span plan(operations)       returns the operations that are left to queue one by one
//     dispatch(op)                also with no workgroups, see is_empty
//     copy(op), fill(op), upload(op), download(op)   never of 0 bytes
//     execute(op)                 of a command; optional
//     bool replay(op, value)      sends a submit of one command without waits, signals and times,
//                                 in place of all steps; false: nothing was sent, and the steps
//                                 follow, which report any error; must not throw after sending;
//                                 optional
//     end()                       from here on, the submit's work has the value value()
//     void abandon() noexcept     drops the submit, so that no part of it runs with a later submit
//
// The class also has `static constexpr std::string_view kPlugin`, the plugin's name in messages,
// and, if dispatches may have flags, `static constexpr std::uint32_t kLaunchFlags`. One thread at a
// time. The body of `submit` is in queue_submit.hpp, which the class's own source includes and
// instantiates.
#pragma once

#include <optional>
#include <span>

#include "wye/sdk/command.hpp"
#include "wye/sdk/known.hpp"
#include "wye/sdk/native_wait.hpp"

namespace wye::sdk {

// Whether a launch has no workgroups, as far as the host knows.
[[nodiscard]] inline bool is_empty(const wye_dispatch_op& op) {
    return op.groups[0] == 0 && (op.flags & WYE_LAUNCH_INDIRECT) == 0;
}
// Whether an operation has no bytes or workgroups.
[[nodiscard]] inline bool is_empty(const wye_operation& op) {
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            return is_empty(op.u.dispatch);
        case WYE_OPERATION_COPY:
            return op.u.copy.size == 0;
        case WYE_OPERATION_FILL:
            return op.u.fill.size == 0;
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return op.u.transfer.size == 0;
        default:
            return false;
    }
}

// The flags that dispatches to a queue may have.
template <typename Queue>
[[nodiscard]] constexpr std::uint32_t launch_flags() {
    if constexpr (requires { Queue::kLaunchFlags; })
        return Queue::kLaunchFlags;
    else
        return 0;
}

// What the driver granted for a queue, as in wye_queue_info.
struct QueueGrant {
    std::uint32_t kind = WYE_QUEUE_ANY;
    std::int32_t priority = 0;
    std::uint32_t native_index = 0;
};

template <typename Derived>
class InOrderQueue {
  public:
    [[nodiscard]] static Derived& of(wye_queue_object* object) {
        return *reinterpret_cast<Derived*>(object);
    }

    [[nodiscard, gnu::hot]] Result<void> submit(const wye_submission& submission);
    // Sends a submit through the plugin's `replay`, if the submit is one that `replay` takes.
    // False: nothing was sent; call `submit`.
    [[nodiscard, gnu::hot]] bool replay_alone(const wye_submission& submission) noexcept;
    // Writes what the driver granted.
    void describe(wye_queue_info& out) const {
        out.kind = granted_.kind;
        out.priority = granted_.priority;
        out.native_index = granted_.native_index;
    }

  protected:
    explicit InOrderQueue(const QueueGrant& granted = {}) : granted_(granted) {}
    ~InOrderQueue() = default;

    // Passes on the result of queueing an operation. The first success marks the submit as begun.
    // So does a cancellation, since a part of the operation may have run before.
    [[nodiscard]] Result<void> queued(Result<void> done) {
        queued_ = queued_ || done.ok() || done.error().code == Code::CANCELLED;
        return done;
    }
    // Like `queued`, for the status of a driver call.
    template <typename Status>
    [[nodiscard]] Result<void> took(Status status, std::string_view call) {
        return queued(static_cast<Derived&>(*this).device().check(status, call));
    }
    // Whether any operation of the submit was queued.
    [[nodiscard]] bool begun() const noexcept { return queued_; }
    // Returns the value of the submit in progress.
    [[nodiscard]] std::uint64_t value() const { return value_; }
    // Whether the submit's times were requested.
    [[nodiscard]] bool timed() const { return timed_; }
    // Calls the member function for the operation's kind.
    [[nodiscard, gnu::always_inline]] inline Result<void> perform(const wye_operation& op) {
        auto& queue = static_cast<Derived&>(*this);
        if (op.kind == WYE_OPERATION_DISPATCH) return queue.dispatch(op.u.dispatch);
        if constexpr (requires { queue.execute(op.u.execute); })
            if (op.kind == WYE_OPERATION_EXECUTE) return queue.execute(op.u.execute);
        if (is_empty(op)) return {};
        switch (op.kind) {
            case WYE_OPERATION_COPY:
                return queue.copy(op.u.copy);
            case WYE_OPERATION_FILL:
                return queue.fill(op.u.fill);
            case WYE_OPERATION_UPLOAD:
                return queue.upload(op.u.transfer);
            case WYE_OPERATION_DOWNLOAD:
                return queue.download(op.u.transfer);
            default:
                return errors::unknown_operation(Derived::kPlugin, op.kind);
        }
    }

    [[nodiscard]] Result<void> perform_all(std::span<const wye_operation> operations) {
        for (const wye_operation& op : operations)
            WYE_TRY(static_cast<Derived&>(*this).perform(op));
        return {};
    }

  private:
    [[gnu::always_inline]] static Result<void> known_operations(const wye_submission& submission);
    [[gnu::always_inline]] static Result<void> steps(Derived& queue,
                                                     const wye_submission& submission);
    [[gnu::noinline]] static Result<void> add_signals(Derived& queue,
                                                      std::span<const wye_event> signals);
    [[gnu::noinline]] static Result<void> wait_for_all(Derived& queue,
                                                       std::span<const wye_event> waits);
    static Result<void> wait_for(Derived& queue, const wye_event& wait);
    Result<void> give_up(Derived& queue, std::optional<Error> error);

    bool queued_ = false, timed_ = false;
    std::uint64_t value_ = 0;
    const QueueGrant granted_;
};

}  // namespace wye::sdk
