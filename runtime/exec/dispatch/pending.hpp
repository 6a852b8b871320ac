// SPDX-License-Identifier: Apache-2.0
//
// Pending: a dispatch, transfer or graph execution in flight, and its result. It keeps everything
// alive that the device uses. It has no thread: the threads that poll or wait for it advance it.
// Other threads know it only once it was submitted. Free-threaded. The session outlives it.
//
// There are two kinds: PendingRequest (pending_request.hpp) takes all steps of a request, and may
// own memory of inputs and outputs; PendingLaunch (pending_launch.hpp) is work that was prepared
// before, on resident buffers only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/pending_list.hpp"
#include "exec/dispatch/request.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Pending : public PendingWork {
  public:
    static constexpr RequestRules kAsynchronous = {WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE,
                                                   true};
    // For a caller that waits: it keeps the inputs valid, unless there is a time limit, with which
    // they are copied.
    static constexpr RequestRules kOwned = {0, true, true};
    static constexpr RequestRules kOwnedLimited = {0, true, false, true};
    // Runs the steps of a dispatch up to its submit. Errors as in dispatch; DEVICE_BUSY if the
    // limits on pending work are reached and `desc` has WYE_DISPATCH_AT_ONCE.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(Context& context,
                                                         const wye_dispatch_desc& desc,
                                                         const RequestRules& rules,
                                                         Clock::time_point start);
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
    // Called when a time limit has passed. Returns TIMEOUT, unless the work has ended meanwhile.
    // Work that the device cannot stop keeps the device busy.
    [[nodiscard]] Result<void> time_out(std::uint64_t timeout_ns);
    [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }
    // As `poll` and `wait`, but for the result: if work was given up, its result is known before
    // its end, unless it uses memory of the caller.
    [[nodiscard]] bool poll_result() { return is_given_up() || poll(); }
    [[nodiscard]] bool wait_result(std::optional<Clock::time_point> deadline) {
        // Some drivers poll when they wait with a time limit, which is slower.
        return is_given_up() || (deadline ? wait_in_slices(*deadline) : wait({}));
    }
    [[nodiscard]] bool is_given_up() const final {
        return given_up_.load(std::memory_order_acquire) && !borrows_;
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
        if (is_given_up()) return Code::CANCELLED;
        return error_ ? error_->code : Code::OK;
    }
    [[nodiscard]] Result<void> outcome() const {
        if (is_given_up()) [[unlikely]]
            return cancelled();
        if (error_) [[unlikely]]
            return *error_;
        return {};
    }
    [[nodiscard]] const wye_report& report() const { return report_; }  // header is zero
    // NOT_FOUND for a binding whose output this does not own.
    [[nodiscard]] virtual Result<std::span<const std::byte>> output(std::uint32_t binding) const;

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    // The name of the program, the graph, or the buffer.
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;
    // A description for messages: "dispatch of `add`".
    [[nodiscard]] virtual std::string what() const;
    // Whether it uses memory of the caller until its end.
    [[nodiscard]] bool borrows() const noexcept { return borrows_; }

  protected:
    // What the log says of the request.
    struct Texts {
        explicit Texts(const wye_dispatch_desc& desc);
        std::string label, profile;
    };

    Pending(const Context& context, DeviceSession& session, bool borrows, bool timed)
        : context_(context), session_(session), borrows_(borrows), timed_(timed) {}

    [[nodiscard]] bool wait_in_slices(Clock::time_point deadline);
    // The work that was submitted last; empty once it has ended.
    [[nodiscard]] virtual Ticket ticket() = 0;
    // Asks or waits for the work of a ticket. False: it has not ended by the deadline.
    [[nodiscard]] bool await(const Ticket& ticket, std::optional<Clock::time_point> deadline,
                             Result<void>& waited);
    // The first steps of every end: completes the report of work that began at `begun`, and sets
    // `error_` unless that is set already, which stands for an outcome without memory for it.
    void complete(Clock::time_point begun, const RunTimes& times, Result<void> outcome) noexcept
        WYE_REQUIRES(mutex_);
    // The last steps of every end are to set `ended_`, and to remove it from the session's list.
    void set_ended() noexcept WYE_REQUIRES(mutex_) {
        ended_.store(true, std::memory_order_release);
    }
    // Ends it with a brief error if its work has ended, without memory for what became of that.
    virtual void end_without_memory() noexcept = 0;
    void log(const Texts* texts) const WYE_REQUIRES(mutex_);
    [[nodiscard]] Error cancelled() const;

    const Context& context_;
    DeviceSession& session_;
    const bool borrows_;
    bool timed_;  // written before the submit

    sdk::Mutex mutex_;

    // Written before ended_ is set.
    wye_report report_;
    std::optional<Error> error_;
    std::atomic<bool> ended_ = false;
    std::atomic<bool> given_up_ = false;  // set under the lock, before the end
    std::atomic<bool> unread_ = false;    // its handle was freed: nobody asks for its report
};

}  // namespace wye::exec
