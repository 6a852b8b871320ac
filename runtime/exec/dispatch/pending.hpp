// SPDX-License-Identifier: Apache-2.0
//
// Pending: a dispatch, transfer, graph execution or compile in flight, and its result. The object
// keeps everything alive that the device uses. Work has no thread of its own: the threads that poll
// or wait for the work advance it. Other threads know the work only after its submit, or once it is
// in the session's line. Free-threaded. The session outlives the work.
//
// PendingRequest (pending_request.hpp) takes all steps of a request, and may own memory of inputs
// and outputs; PendingLater (pending_later.hpp) is a PendingRequest that the line submits;
// PendingLaunch (pending_launch.hpp) is work that was prepared before, on resident buffers only;
// PendingCompile (pipeline/pending_compile.hpp) submits nothing.
//
// Work that has not ended within its time limit is cancelled by the first thread that notices: a
// thread that polls or waits for the work, or the session's watcher.
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
    // For a caller that waits. kOwned: the caller keeps the inputs valid, so they are not copied.
    // kOwnedLimited: there is a time limit, so the inputs are copied.
    static constexpr RequestRules kOwned = {.flags = 0, .asynchronous = true, .waits = true};
    static constexpr RequestRules kOwnedLimited = {.flags = 0, .asynchronous = true};
    // Runs the steps of a dispatch up to its submit, or up to its place in the line. `queue`: the
    // queue that the request names, if the device is known. Errors as in `dispatch_in_full`;
    // DEVICE_BUSY if the limits on pending work are reached and the request has
    // WYE_DISPATCH_AT_ONCE. A time limit begins at `start`; TIMEOUT if the limit passes before the
    // submit. The caller keeps `target`, which keeps the device alive, until the work has a handle:
    // if the work ended before, its device could be closed.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(Context& context, Target& target,
                                                         const RequestRules& rules,
                                                         Clock::time_point start, NamedQueue queue,
                                                         Keep keep);
    // Submits a transfer. `flags`: WYE_DISPATCH_TIMED, _BORROW, _AT_ONCE. Errors: those of the
    // driver, and DEVICE_BUSY as for a dispatch.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context,
                                                         const CheckedTransfer& checked,
                                                         std::uint32_t flags,
                                                         Clock::time_point start);

    bool poll() final { return wait(Clock::time_point::min()); }
    void wait_for_end() noexcept final;
    // Cancels the work. Work that the device cannot stop is given up: its result is CANCELLED at
    // once, although it uses its memory until its end. Operations that the host has not submitted
    // yet never run.
    [[nodiscard]] Result<void> cancel();
    // Cancels the work if its time limit has passed. Unlike after `cancel`, the result is TIMEOUT,
    // and work that the device cannot stop keeps the device busy.
    void expire() noexcept final;
    [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }
    // Like `poll` and `wait`, but for the result instead of the end. Work that was given up has its
    // result before its end, unless it uses memory of the caller. Both functions cancel the work
    // when its time limit has passed.
    [[nodiscard]] bool poll_result() {
        return special_.load(std::memory_order_acquire) != 0 ? poll_special() : poll();
    }
    [[nodiscard]] bool wait_result(std::optional<Clock::time_point> deadline) {
        if (special_.load(std::memory_order_acquire) != 0) [[unlikely]]
            return wait_special(deadline);
        // Some drivers poll when they wait with a time limit, which is slower.
        return deadline ? wait_in_slices(*deadline) : wait({});
    }
    // Waits for the result, even if memory runs out. Also enforces the time limit, since no watcher
    // does so for work whose caller waits.
    void wait_for_result() noexcept;
    [[nodiscard]] bool is_given_up() const final {
        return (special_.load(std::memory_order_acquire) & kGivenUp) != 0 && !borrows_;
    }

    // Adds the work to the handle table, in which the caller made room before the submit. If
    // adding fails nevertheless, cancels the work, which on return uses no memory of the caller.
    [[nodiscard]] static Result<registry::Handle> add(WorkPtr<Pending> work,
                                                      registry::HandleTable& handles);
    // Gives back the reference that a handle holds; called by HandleTable.
    static void release_handle(void* work) noexcept {
        auto& self = *static_cast<Pending*>(work);
        self.unread_.store(true, std::memory_order_relaxed);
        self.dereference();
    }

    // The functions from here to `output` may be called only once the result is known.
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
    // Returns the outcome. `out` may be null; else its members, except the header, are written on
    // success and for TRAPPED.
    [[nodiscard]] Result<void> outcome(wye_report* out) const;
    // The bytes of an output that the work owns. NOT_FOUND: the work owns no output with this
    // binding.
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
    // Ends work that is not submitted yet, or asks the device to stop the work. False: the device
    // cannot stop the work, so the caller must give it up. `late`: the time limit has passed.
    [[nodiscard]] Result<bool> stop(bool late);
    // The rest of `submit` for work that may have to wait in the session's line. Null: the work
    // need not wait, and is not submitted yet. `must`: the work must wait in any case.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit_later(Context& context, Target& target,
                                                               Flow& flow, bool must,
                                                               Clock::time_point start,
                                                               PendingRoom& room);
    // Like `submit_later`, for a transfer while work is in the line.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit_behind(const Context& context,
                                                                const CheckedTransfer& checked,
                                                                std::uint32_t flags,
                                                                Clock::time_point start,
                                                                PendingRoom& room);
    // Calls the wait function `once`, and again after each exception, unless the work has ended.
    template <typename Wait>
    void wait_surely(const Wait& once) noexcept;
    // The part of `complete` for work whose `special_` is not 0.
    [[gnu::cold]] void complete_special() noexcept WYE_REQUIRES(mutex_);

  protected:
    // The texts of a request that the log shows.
    struct Texts {
        explicit Texts(const wye_dispatch_desc& desc);
        std::string label, profile;
    };

    Pending(const Context& context, DeviceSession& session, bool borrows, bool timed)
        : context_(context), session_(session), borrows_(borrows), timed_(timed) {}

    // The time limit of work, and the objects that are needed when the limit passes.
    struct Limit {
        Limit(std::uint64_t ns, Clock::time_point end) : timeout_ns(ns), deadline(end) {
            alarm.at = end.time_since_epoch().count();
        }
        const std::uint64_t timeout_ns;
        const Clock::time_point deadline;
        Alarm alarm;  // the next time to call `expire`
        // The one element for DeviceSession::abandon, allocated early since giving up must not
        // fail.
        std::list<Abandoned> abandoned;
    };
    // Gives the work a time limit. Called before its submit. `watched`: the caller does not wait
    // for the work, so this function starts the watcher's thread.
    [[nodiscard]] Result<void> set_limit(std::uint64_t timeout_ns, Clock::time_point deadline,
                                         bool watched);
    // Called after the submit of work with a time limit. Sets the alarm if the watcher watches the
    // work.
    void set_alarm() noexcept {
        const sdk::Lock lock(mutex_);
        if (limit_watched_ && !has_ended()) session_.watcher().set(limit_->alarm);
    }
    // Returns `options` for a submit of work that other threads know already. Such a submit waits
    // for room only until the time limit: threads that enforce the limit may wait for the submit.
    [[nodiscard]] SubmitOptions within_limit(const SubmitOptions& options) const {
        if (!limit_ || options.room_until != Clock::time_point::max()) return options;
        return options.waiting(false, limit_->deadline);
    }
    // Whether the work was cancelled, or its time limit has passed, so that nothing more may be
    // submitted.
    [[nodiscard]] bool is_stopping() const noexcept {
        return (special_.load(std::memory_order_acquire) & (kGivenUp | kLate | kCancelled)) != 0;
    }
    // Ends work that the host has not submitted yet, with TIMEOUT if `late`, else with CANCELLED.
    // False: the work was submitted.
    [[nodiscard]] virtual bool withdraw(bool late) {
        (void)late;
        return false;
    }
    [[nodiscard]] bool poll_special();
    [[nodiscard]] bool wait_special(std::optional<Clock::time_point> deadline);
    [[nodiscard]] bool wait_in_slices(Clock::time_point deadline);
    // The ticket of the last submit of the work; empty once the work has ended.
    [[nodiscard]] virtual Ticket ticket() = 0;
    // Polls the work of a ticket, or waits for it until the deadline. False: the work has not
    // ended. True: the work has ended, and `waited` has its error, if any.
    [[nodiscard]] bool await(const Ticket& ticket, std::optional<Clock::time_point> deadline,
                             Result<void>& waited);
    // The first step when work ends: completes the report of work that began at `begun`, and stores
    // the error of a failed `outcome`. An `error_` set before the call stays if `outcome` is a
    // success. The last step is PendingList::remove.
    void complete(Clock::time_point begun, const RunTimes& times, Result<void> outcome) noexcept
        WYE_REQUIRES(mutex_);
    // Called after memory ran out. If the device has finished the work, ends the work with the
    // error OUT_OF_MEMORY. Allocates nothing.
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

    // Valid only for work with kLimited: a reused object may still have the limit of earlier work.
    // Written before the submit.
    std::unique_ptr<Limit> limit_;
    bool limit_watched_ = false;

    // Written before `ended_` is set.
    wye_report report_;
    std::optional<Error> error_;
    std::atomic<bool> ended_ = false;
    // Not 0 for work that was cancelled or has a time limit. kLimited is set before the submit, the
    // other bits under the lock and before the end.
    static constexpr std::uint8_t kGivenUp = 1, kLimited = 2, kLate = 4, kCancelled = 8;
    std::atomic<std::uint8_t> special_ = 0;
    std::atomic<bool> unread_ = false;  // the handle was freed: nobody asks for the report
};

}  // namespace wye::exec
