// SPDX-License-Identifier: Apache-2.0
//
// A queue and its timeline, on the skeleton of the SDK. The work ends when the test says so.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <new>
#include <string>
#include <utility>

#include "wye/sdk/plugin.hpp"
#include "wye/sdk/queue_submit.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::sdk {

inline Error broken(const char* what) { return {Code::DRIVER, what, "Fix: none, this is a test"}; }

// A submit of the fake driver is a number. Events are numbers too; 0: none.
struct FakeSubmit {
    int number = 0;
};

// A driver whose work ends when the test says so, and which records its calls.
struct FakeTimeline : Timeline<FakeTimeline, FakeSubmit, int> {
    FakeTimeline(const LossState& loss, std::string& steps, bool timed_ = false)
        : Timeline<FakeTimeline, FakeSubmit, int>(loss), steps_(steps), timed(timed_) {}
    static constexpr bool kWaitsWithLimit = false, kFailsLate = false;
    void add(int value) {
        numbered = value;
        Timeline<FakeTimeline, FakeSubmit, int>::add(static_cast<std::uint64_t>(value), {value},
                                                     timed);
    }
    void add() { add(numbered + 1); }
    Result<bool> has_ended(const FakeSubmit& submit) const {
        if (unknown) return broken("nobody knows");
        return submit.number <= ended_up_to;
    }
    Result<int> event_of(const FakeSubmit& submit) const { return submit.number; }
    Result<void> mark(const FakeSubmit& submit) {
        marked += std::to_string(submit.number) + " ";
        return {};
    }
    std::optional<Error> settle(std::uint64_t value, const FakeSubmit& submit) {
        CHECK(value == static_cast<std::uint64_t>(submit.number));
        settled += std::to_string(submit.number) + " ";
        if (submit.number == fails) return broken("failed at work");
        return std::nullopt;
    }
    static WorkTimes times_of(const FakeSubmit& submit) {
        return {static_cast<std::uint64_t>(submit.number) * 10};
    }
    Result<bool> wait_for(int event, std::uint64_t) {
        waited_for = event;
        if (unknown) return broken("nobody knows");
        ended_up_to = event;
        return true;
    }
    static bool may_finish() { return true; }
    Result<void> finish() {
        steps_ += "drain ";
        if (on_finish) std::exchange(on_finish, nullptr)();
        if (unknown) return broken("cannot finish");
        ended_up_to = numbered;
        return {};
    }

    std::string& steps_;
    const bool timed;
    std::string settled, marked;
    int numbered = 0, ended_up_to = 0, fails = 0, waited_for = 0;
    bool unknown = false;
    std::function<void()> on_finish;  // called once
};

// A queue that records its calls and refuses copies.
struct FakeQueue : InOrderQueue<FakeQueue> {
    static constexpr std::string_view kPlugin = "fake";
    explicit FakeQueue(const LossState& loss) : own(loss, steps) {}
    FakeTimeline& timeline() { return own; }
    [[nodiscard]] wye_event event(std::uint64_t value) { return {own.object(), value, 0, 0}; }
    Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                 std::span<const wye_event> waits,
                                 std::span<const wye_event> signals = {}) {
        const std::uint64_t next = own.newest() + 1;
        wye_submission submission = submission_of(next, operations, waits);
        submission.signals = signals.data();
        submission.signal_count = signals.size();
        WYE_TRY(InOrderQueue::submit(submission));
        return next;
    }
    Result<void> note(const char* what) {
        steps += what;
        return {};
    }
    Result<void> begin() { return note("begin "); }
    Result<void> wait_for(FakeTimeline&, std::uint64_t) { return note("wait "); }
    std::span<const wye_operation> plan(std::span<const wye_operation> operations) {
        (void)note("plan ");
        return operations;
    }
    Result<void> dispatch(const wye_dispatch_op&) {
        if (out_of_memory) throw std::bad_alloc();
        return queued(note("dispatch "));
    }
    Result<void> copy(const wye_copy_op&) { return queued(broken("no copies")); }
    Result<void> fill(const wye_fill_op&) { return queued(note("fill ")); }
    Result<void> upload(const wye_transfer_op&) { return queued(note("upload ")); }
    Result<void> download(const wye_transfer_op&) { return queued(note("download ")); }
    Result<void> end() {
        own.add(static_cast<int>(value()));
        return note("end");
    }
    void abandon() noexcept { (void)note("abandon"); }

    std::string steps;
    FakeTimeline own;
    bool out_of_memory = false;
};

inline wye_operation operation(std::uint32_t kind, std::uint64_t size = 4) {
    wye_operation out{};
    out.kind = kind;
    if (kind == WYE_OPERATION_COPY) out.u.copy.size = size;
    if (kind == WYE_OPERATION_FILL) out.u.fill.size = size;
    if (kind > WYE_OPERATION_FILL) out.u.transfer.size = size;
    return out;
}

}  // namespace wye::sdk
