// SPDX-License-Identifier: Apache-2.0
//
// PendingLater: a dispatch or transfer in flight that the session's line submits after its call has
// returned, because a program must be compiled first, because it must come after such work, or
// because the host must look for traps between its rounds. From its call until its last submit it
// has a place in the order of submits (device/hold.hpp). All its submits are made by the line's
// thread.
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

    // Takes its place in the line; `room` is that of the session's list. The caller has started the
    // line's thread.
    [[nodiscard]] static Result<void> put(WorkPtr<PendingLater> self,
                                          const registry::HandleTable& handles, PendingRoom& room);
    // As above, for a transfer.
    [[nodiscard]] static Result<void> put(WorkPtr<PendingLater> self,
                                          const registry::HandleTable& handles,
                                          const CheckedTransfer& checked, PendingRoom& room);

    bool wait(std::optional<Clock::time_point> deadline) override;
    void take_turn() noexcept override;

  private:
    void unreferenced() noexcept override { delete this; }
    [[nodiscard]] bool withdraw(bool late) override;
    [[nodiscard]] Result<bool> next_round() WYE_REQUIRES(mutex_) override;
    // Compiles and submits. Ends the work if that fails.
    [[nodiscard]] Result<void> submit_now();
    // Waits for each round until the last one is submitted.
    void run_rounds();
    void leave() noexcept { session_.leave_line(hold_, in_line_); }
    static void go(WorkPtr<PendingLater> self, PendingRoom& room, std::list<WorkRef>& entry);

    std::unique_ptr<Later> later_;  // of a dispatch; used by the line's thread only
    std::vector<wye_operation> transfer_work_;
    std::vector<BufferUse> held_;
    Hold hold_;
    std::atomic<bool> in_line_ = true;
    std::atomic<bool> begun_submit_ = false;                // set under the lock
    std::uint32_t rounds_left_ WYE_GUARDED_BY(mutex_) = 1;  // that one in progress included
};

}  // namespace wye::exec
