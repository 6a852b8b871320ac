// SPDX-License-Identifier: Apache-2.0
//
// PendingRequest: a transfer, or a dispatch that takes all steps, in flight. Unless the caller
// lends the memory, the request owns copies of the inputs and the memory of the outputs. Large
// inputs and outputs, lent or owned, are in staging memory as long as some is left. Lent registered
// memory needs no staging memory. The threads that advance the request check for traps when its
// launch has ended, and only then read outputs back to lent memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/device/host_memory.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/dispatch/pending.hpp"
#include "wye/sdk/host_copy.hpp"

namespace wye::exec {

class PendingRequest : public Pending {
  public:
    PendingRequest(const Context& context, const Flow& flow, Clock::time_point start);
    PendingRequest(const Context& context, const CheckedTransfer& checked, std::uint32_t flags,
                   Clock::time_point start);

    [[nodiscard]] Result<void> start(const registry::HandleTable& handles, Flow& flow);
    [[nodiscard]] Result<void> start(const registry::HandleTable& handles,
                                     const CheckedTransfer& checked, std::uint32_t flags);

    bool wait(std::optional<Clock::time_point> deadline) override;
    [[nodiscard]] Result<std::span<const std::byte>> output(std::uint32_t binding) const override;
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    [[nodiscard]] std::string what() const override;
    void copy_out() const override;

  protected:
    void unreferenced() noexcept override { session_.recycler().destroy(this); }
    struct Output {
        std::uint32_t binding = 0;
        std::size_t offset = 0, size = 0;
    };

    [[nodiscard]] Ticket ticket() override {
        const sdk::Lock lock(mutex_);
        return ticket_;
    }
    // Like `start`, for a caller that holds the lock.
    [[nodiscard]] Result<void> start_held(const registry::HandleTable& handles, Flow& flow)
        WYE_REQUIRES(mutex_);
    // The part of `start` for a transfer, before the submit. Returns the operations to submit,
    // which are in `operation` or in `copies`. Empty: there is nothing to submit.
    [[nodiscard]] Result<std::span<const wye_operation>> prepare_transfer(
        const registry::HandleTable& handles, const CheckedTransfer& checked,
        wye_operation& operation, std::vector<wye_operation>& copies) WYE_REQUIRES(mutex_);
    // Submits the next iteration of a fixpoint, after an iteration that did not trap. False: there
    // is no next iteration.
    [[nodiscard]] virtual Result<bool> next_iteration() WYE_REQUIRES(mutex_) { return false; }
    // Allocates the memory of inputs and outputs, copies the inputs, and points the operations at
    // that memory.
    [[nodiscard]] Result<void> take_memory(const registry::HandleTable& handles, Flow& flow)
        WYE_REQUIRES(mutex_);
    // Replaces the transfers that use staging memory by copies on the device.
    void copy_staged_memory() WYE_REQUIRES(mutex_);
    // Like `take_memory` above, for a transfer.
    [[nodiscard]] Result<void> take_memory(wye_operation& operation) WYE_REQUIRES(mutex_);
    // Called when the submitted operations have ended. Submits the next operations, or ends the
    // work.
    void advance(Result<void> waited) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> next(Result<void> waited) WYE_REQUIRES(mutex_);
    // Whether read-backs write directly to the caller's memory.
    [[nodiscard]] bool reads_to_caller() const WYE_REQUIRES(mutex_) {
        return borrows_ && !operations_.read_backs().empty() &&
               (!staged_outputs_ || registered_.reads_back());
    }
    // Copies lent outputs from staging memory to the caller's memory.
    [[nodiscard]] Result<void> deliver() WYE_REQUIRES(mutex_);
    void end(Result<void> outcome) noexcept WYE_REQUIRES(mutex_);
    void end_without_memory() noexcept override;

    const std::string name_;
    const Clock::time_point begun_;
    const std::uint32_t transfer_ = 0;     // enum wye_op_kind; 0: not a transfer
    const std::uint64_t transferred_ = 0;  // bytes
    std::unique_ptr<const Texts> texts_;   // null: nothing is logged

    // The memory of outputs: staging memory, or ordinary host memory if there is none left.
    StagingBlock staged_outputs_;
    HostBlock outputs_;
    std::vector<Output> list_;
    std::uint64_t output_bytes_ = 0;  // including the gaps between outputs

    // The memory of inputs: staging memory or `inputs_`.
    StagingBlock staged_inputs_ WYE_GUARDED_BY(mutex_);
    HostBlock inputs_ WYE_GUARDED_BY(mutex_);
    // Host copies to make from staging memory to lent outputs.
    std::vector<sdk::HostCopy> lent_ WYE_GUARDED_BY(mutex_);
    std::vector<sdk::HostCopy> owned_;                       // of owned outputs, for copy_out
    RegisteredTransfers registered_ WYE_GUARDED_BY(mutex_);  // of lent registered memory
    std::vector<CompiledRef> programs_ WYE_GUARDED_BY(mutex_);
    WorkspaceLease workspace_ WYE_GUARDED_BY(mutex_);
    registry::InFlight uses_ WYE_GUARDED_BY(mutex_);
    Operations operations_ WYE_GUARDED_BY(mutex_);
    // The public queue of the submits after the first; null: none.
    std::shared_ptr<PublicQueue> queue_ WYE_GUARDED_BY(mutex_);
    RunTimes times_ WYE_GUARDED_BY(mutex_);
    bool reads_later_ WYE_GUARDED_BY(mutex_) = false;  // the read-backs are not submitted yet
    Ticket ticket_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
