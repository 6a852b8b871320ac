// SPDX-License-Identifier: Apache-2.0
//
// Pending: a dispatch, transfer, graph execution or compile in flight, and its result. It keeps
// everything alive that the device uses. It has no thread: the threads that poll or wait for it
// advance it. Other threads know it only once it was submitted, or is in the session's line.
// Free-threaded. The session outlives it.
//
// PendingRequest (pending_request.hpp) takes all steps of a request, and may own memory of inputs
// and outputs; PendingLater (pending_later.hpp) is one that the line submits; PendingLaunch
// (pending_launch.hpp) is work that was prepared before, on resident buffers only; PendingCompile
// (pipeline/pending_compile.hpp) submits nothing.
//
// Work with a time limit that has not ended in time is cancelled by whoever notices first: a thread
// that polls or waits for it, or the session's watcher.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/pending_list.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct Flow;
class Target;

class Pending : public PendingWork {
  public:
    static constexpr RequestRules kAsynchronous = {
        .flags = WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE, .asynchronous = true, .defers = true};
    // For a caller that waits: it keeps the inputs valid, unless there is a time limit, with which
    // they are copied.
    static constexpr RequestRules kOwned = {.flags = 0, .asynchronous = true, .waits = true};
    static constexpr RequestRules kOwnedLimited = {.flags = 0, .asynchronous = true};
    // Runs the steps of a dispatch up to its submit, or up to its place in the line. `queue`: the
    // queue that it names, if its device is known. Errors as in dispatch_in_full; DEVICE_BUSY if
    // the limits on pending work are reached and `desc` has WYE_DISPATCH_AT_ONCE. A time limit
    // begins at `start`; TIMEOUT if it ends before that. The caller keeps `target`, which keeps the
    // device, until the work has a handle: the work may end, and its device be closed, before.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(Context& context, Target& target,
                                                         const RequestRules& rules,
                                                         Clock::time_point start, NamedQueue queue,
                                                         Keep keep);
    // Submits a transfer. `flags`: WYE_DISPATCH_TIMED, _BORROW, _AT_ONCE. Errors of the driver, and
    // DEVICE_BUSY as above.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context,
                                                         const CheckedTransfer& checked,
                                                         std::uint32_t flags,
                                                         Clock::time_point start);

    bool poll() final { return wait(Clock::time_point::min()); }
    void wait_for_end() noexcept final;
    // Cancels the work. Work that the device cannot stop is given up: its result is CANCELLED
    // although it uses its memory until its end, and what the host has not submitted yet never
    // runs.
    [[nodiscard]] Result<void> cancel();
    // Cancels the work if its time limit has passed. As opposed to `cancel`, the result is TIMEOUT,
    // and work that the device cannot stop keeps the device busy.
    void expire() noexcept final;
    [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }
    // Like `poll` and `wait`, but for the result, which work that was given up has before its end,
    // unless it uses memory of the caller. Both cancel the work when its time limit has passed.
    [[nodiscard]] bool poll_result() {
        return special_.load(std::memory_order_acquire) != 0 ? poll_special() : poll();
    }
    [[nodiscard]] bool wait_result(std::optional<Clock::time_point> deadline) {
        if (special_.load(std::memory_order_acquire) != 0) [[unlikely]]
            return wait_special(deadline);
        // Some drivers poll when they wait with a time limit, which is slower.
        return deadline ? wait_in_slices(*deadline) : wait({});
    }
    [[nodiscard]] bool is_given_up() const final {
        return (special_.load(std::memory_order_acquire) & kGivenUp) != 0 && !borrows_;
    }

    // Adds it to the handle table, which the caller made room in before the submit. If that fails
    // all the same, the work is cancelled, and the caller's memory is not in use on return.
    [[nodiscard]] static Result<registry::Handle> add(WorkPtr<Pending> work,
                                                      registry::HandleTable& handles);
    // Gives a handle's reference back; for HandleTable.
    static void release_handle(void* work) noexcept {
        auto& self = *static_cast<Pending*>(work);
        self.unread_.store(true, std::memory_order_relaxed);
        self.dereference();
    }

    // The functions from here to `output` may be called once the result is known.
    [[nodiscard]] Code status() const noexcept {
        if (is_given_up()) return given_up_code();
        return error_ ? error_->code : Code::OK;
    }
    [[nodiscard]] Result<void> outcome() const {
        if (is_given_up()) [[unlikely]]
            return stopped();
        if (error_) [[unlikely]]
            return *error_;
        return {};
    }
    [[nodiscard]] const wye_report& report() const { return report_; }  // header is zero
    // Returns the outcome. Writes the members of the report except the header on success and for
    // TRAPPED, unless it is null.
    [[nodiscard]] Result<void> outcome(wye_report* out) const;
    // NOT_FOUND for a binding whose output this does not own.
    [[nodiscard]] virtual Result<std::span<const std::byte>> output(std::uint32_t binding) const;
    // Copies owned outputs to the storage that the request named, for RequestRules::copies_out.
    virtual void copy_out() const {}

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    // The name of the program, the graph, or the buffer.
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;
    // A description for messages: "dispatch of `add`".
    [[nodiscard]] std::string what() const override;
    // Whether the work uses memory of the caller until the work ends.
    [[nodiscard]] bool borrows() const noexcept { return borrows_; }

  private:
    // Asks the device to stop. True: it does; false: the work was given up.
    [[nodiscard]] Result<bool> stop(bool late);
    // The rest of `submit` for work that may have to wait in the session's line. Null: it need not
    // wait. `must`: it must.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit_later(Context& context, Target& target,
                                                               Flow& flow, bool must,
                                                               Clock::time_point start,
                                                               PendingRoom& room);
    // As `submit_later`, for a transfer while work is in the line.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit_behind(const Context& context,
                                                                const CheckedTransfer& checked,
                                                                std::uint32_t flags,
                                                                Clock::time_point start,
                                                                PendingRoom& room);
    // The end of `complete`, if `special_` is not 0.
    [[gnu::cold]] void complete_special() noexcept WYE_REQUIRES(mutex_);

  protected:
    // What the log says of the request.
    struct Texts {
        explicit Texts(const wye_dispatch_desc& desc);
        std::string label, profile;
    };

    Pending(const Context& context, DeviceSession& session, bool borrows, bool timed)
        : context_(context), session_(session), borrows_(borrows), timed_(timed) {}

    // What is known of work with a time limit.
    struct Limit {
        Limit(std::uint64_t ns, Clock::time_point deadline) : timeout_ns(ns) {
            alarm.at = deadline.time_since_epoch().count();
        }
        const std::uint64_t timeout_ns;
        Alarm alarm;  // the next time to call `expire`
        // For `abandon`, which must not fail.
        std::list<Abandoned> abandoned;
    };
    // Gives it a time limit, before its submit. `watched`: its caller does not wait for it, so the
    // watcher is started.
    [[nodiscard]] Result<void> set_limit(std::uint64_t timeout_ns, Clock::time_point deadline,
                                         bool watched);
    // Called after its submit, for work with a time limit.
    void set_alarm() noexcept {
        const sdk::Lock lock(mutex_);
        if (limit_watched_ && !has_ended()) session_.watcher().set(limit_->alarm);
    }
    // Whether it was cancelled, or its time limit has passed: nothing more is to be submitted.
    [[nodiscard]] bool is_stopping() const noexcept {
        return (special_.load(std::memory_order_acquire) & (kGivenUp | kLate | kCancelled)) != 0;
    }
    // Ends work that the host has not submitted yet, with this error. False: it was submitted.
    [[nodiscard]] virtual bool withdraw(bool late) {
        (void)late;
        return false;
    }
    [[nodiscard]] bool poll_special();
    [[nodiscard]] bool wait_special(std::optional<Clock::time_point> deadline);
    [[nodiscard]] bool wait_in_slices(Clock::time_point deadline);
    // The work that was submitted last; empty once it has ended.
    [[nodiscard]] virtual Ticket ticket() = 0;
    // Asks or waits for the work of a ticket. False: it has not ended by the deadline.
    [[nodiscard]] bool await(const Ticket& ticket, std::optional<Clock::time_point> deadline,
                             Result<void>& waited);
    // The first step when work ends: completes the report of work that began at `begun`, and stores
    // the error of a failed `outcome`. An `error_` set before the call stays if `outcome` is a
    // success. The last step is PendingList::remove.
    void complete(Clock::time_point begun, const RunTimes& times, Result<void> outcome) noexcept
        WYE_REQUIRES(mutex_);
    // If the device has ended the work, ends it with a brief OUT_OF_MEMORY. Allocates nothing.
    virtual void end_without_memory() noexcept = 0;
    void log(const Texts* texts) const WYE_REQUIRES(mutex_);
    // The error of work that was given up: CANCELLED or TIMEOUT.
    [[nodiscard]] Error stopped() const;
    // The error of work of several submits that was stopped between two of them.
    [[nodiscard]] Error stopped_early() const;
    // The error of work that never ran.
    [[nodiscard]] Error never_ran(bool late) const;
    [[nodiscard]] Code given_up_code() const noexcept {
        return (special_.load(std::memory_order_relaxed) & kLate) != 0 ? Code::TIMEOUT
                                                                       : Code::CANCELLED;
    }

    const Context& context_;
    DeviceSession& session_;
    const bool borrows_;
    bool timed_;  // written before the submit

    sdk::Mutex mutex_;

    // Valid for work with kLimited; may be left from earlier work. Written before the submit.
    std::unique_ptr<Limit> limit_;
    bool limit_watched_ = false;

    // Written before ended_ is set.
    wye_report report_;
    std::optional<Error> error_;
    std::atomic<bool> ended_ = false;
    // Not 0 for work that was cancelled or has a time limit. Bits are set under the lock, and
    // before the end.
    static constexpr std::uint8_t kGivenUp = 1, kLimited = 2, kLate = 4, kCancelled = 8;
    std::atomic<std::uint8_t> special_ = 0;
    std::atomic<bool> unread_ = false;  // its handle was freed: nobody asks for its report
};

}  // namespace wye::exec
