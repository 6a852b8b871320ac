// SPDX-License-Identifier: Apache-2.0
//
// PendingLater: a dispatch or transfer in flight that the session's line submits after its call has
// returned. There are three reasons: its program must be compiled first, it must come after work in
// the line, or the host must check for traps between its iterations. From its call until the submit
// of its last iteration the work has a place in the order of submits (device/hold.hpp). The line's
// thread submits all iterations. If read-backs need a later submit, any thread that polls or waits
// for the work may make that submit.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <vector>

#include "exec/dispatch/later.hpp"
#include "exec/dispatch/pending_request.hpp"

namespace wye::exec {

class PendingLater final : public PendingRequest {
  public:
    PendingLater(const Context& context, std::unique_ptr<Later> later, Clock::time_point start)
        : PendingRequest(context, later->flow(), start), later_(std::move(later)) {}
    PendingLater(const Context& context, const CheckedTransfer& checked, std::uint32_t flags,
                 Clock::time_point start)
        : PendingRequest(context, checked, flags, start) {}

    // Puts the work in the line. `room`: its room in the session's list of pending work. The caller
    // has started the line's thread.
    [[nodiscard]] static Result<void> put(WorkPtr<PendingLater> self,
                                          const registry::HandleTable& handles, PendingRoom& room);
    // The same for a transfer.
    [[nodiscard]] static Result<void> put(WorkPtr<PendingLater> self,
                                          const registry::HandleTable& handles,
                                          const CheckedTransfer& checked, PendingRoom& room);

    bool wait(std::optional<Clock::time_point> deadline) override;
    void take_turn() noexcept override;

  private:
    void unreferenced() noexcept override { delete this; }
    [[nodiscard]] bool withdraw(bool late) override;
    [[nodiscard]] Result<bool> next_iteration() WYE_REQUIRES(mutex_) override;
    // Compiles the program, and makes the first submit. Does nothing if the work has ended. If the
    // compile fails, the caller ends the work.
    [[nodiscard]] Result<void> submit_now();
    [[nodiscard]] Result<void> submit_first(Clock::time_point enqueue) WYE_REQUIRES(mutex_);
    // Waits for the end of each iteration, and submits the next, until the last iteration is
    // submitted.
    void run_rounds();
    void leave() noexcept { session_.leave_line(hold_, in_line_); }
    static void go(WorkPtr<PendingLater> self, PendingRoom& room, std::list<WorkRef>& entry);

    std::unique_ptr<Later> later_;  // null: a transfer; used by the line's thread only
    std::vector<wye_operation> transfer_work_;
    std::vector<BufferUse> held_;
    Hold hold_;
    std::atomic<bool> in_line_ = true;
    std::atomic<bool> begun_submit_ = false;                    // set under the lock
    std::uint32_t iterations_left_ WYE_GUARDED_BY(mutex_) = 1;  // includes the one in progress
};

}  // namespace wye::exec
