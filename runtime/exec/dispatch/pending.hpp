// SPDX-License-Identifier: Apache-2.0
//
// Pending: a dispatch, transfer or graph execution in flight, and its result. It keeps everything
// alive that the device uses. Unless the caller lends the memory, it owns copies of the inputs and
// the outputs, in staging memory while there is some left. Lent registered memory needs no staging
// memory. It has no thread: the threads that poll or wait for it advance it. When its work has
// ended they check for traps, and only then read back lent outputs. Free-threaded. The session
// outlives it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/host_memory.hpp"
#include "exec/device/pending_list.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/graph/graph.hpp"
#include "wye/graph.h"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Pending final : public PendingWork, public std::enable_shared_from_this<Pending> {
  public:
    static constexpr RequestRules kAsynchronous = {WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE,
                                                   true};
    // For a caller that waits: it keeps the inputs valid, unless there is a time limit, with which
    // they are copied.
    static constexpr RequestRules kOwned = {0, true, true};
    static constexpr RequestRules kOwnedLimited = {0, true, false, true};
    // Runs the steps of a dispatch up to its submit. Errors as in dispatch; DEVICE_BUSY if the
    // limits on pending work are reached and `desc` has WYE_DISPATCH_AT_ONCE.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 const wye_dispatch_desc& desc,
                                                                 const RequestRules& rules,
                                                                 Clock::time_point start);
    // Submits an execution of a graph. Errors as in Graph::submit; DEVICE_BUSY as above.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 Graph& graph,
                                                                 const wye_graph_run_desc& run,
                                                                 Clock::time_point start);
    // Submits a transfer. `flags`: WYE_DISPATCH_TIMED, _BORROW, _AT_ONCE. Errors of the driver, and
    // DEVICE_BUSY as above.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 const CheckedTransfer& checked,
                                                                 std::uint32_t flags,
                                                                 Clock::time_point start);
    Pending(const Context& context, const Flow& flow, Clock::time_point start);
    Pending(const Context& context, const CheckedTransfer& checked, std::uint32_t flags,
            Clock::time_point start);
    Pending(const Context& context, const Target& target, Clock::time_point start);
    Pending(const Context& context, Graph& graph, const wye_graph_run_desc& run,
            Clock::time_point start);

    bool poll() override { return wait(Clock::time_point::min()); }
    bool wait(std::optional<Clock::time_point> deadline) override;
    // Waits without a time limit. If memory runs out it retries.
    void wait_for_end() noexcept;
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
    bool wait_result(std::optional<Clock::time_point> deadline);
    [[nodiscard]] bool is_given_up() const override {
        return !borrows_ && given_up_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::shared_ptr<Pending> shared() { return shared_from_this(); }
    // Adds it to the handle table. If that fails, the work has ended on return, so the caller's
    // memory is not in use.
    [[nodiscard]] Result<registry::Handle> add_to(registry::HandleTable& handles);

    // The functions from here to `output` may be called once the result is known.
    [[nodiscard]] Code status() const noexcept {
        if (is_given_up()) return Code::CANCELLED;
        return error_ ? error_->code : Code::OK;
    }
    [[nodiscard]] Result<void> outcome() const {
        if (is_given_up()) return cancelled();
        if (error_) return *error_;
        return {};
    }
    [[nodiscard]] const wye_report& report() const { return report_; }  // header is zero
    // NOT_FOUND for a binding whose output this does not own.
    [[nodiscard]] Result<std::span<const std::byte>> output(std::uint32_t binding) const;

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // A description for messages: "dispatch of `add`".
    [[nodiscard]] std::string what() const;
    // Whether it uses memory of the caller until its end.
    [[nodiscard]] bool borrows() const noexcept { return borrows_; }

  private:
    struct Output {
        std::uint32_t binding = 0;
        std::size_t offset = 0, size = 0;
    };

    [[nodiscard]] static wye_dispatch_desc kept_form(const wye_dispatch_desc& desc);
    [[nodiscard]] Result<bool> start_again(const registry::HandleTable& handles,
                                           const wye_dispatch_desc& request, const Target& target,
                                           std::uint32_t queue, Clock::time_point start);
    // Submits a repeated request on the fast path; null: the request must take all steps.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> repeat(const Context& context,
                                                                 const Target& target,
                                                                 std::uint32_t queue,
                                                                 Clock::time_point start);
    // Allocates the memory of inputs and outputs, copies the inputs, and points the operations at
    // it.
    [[nodiscard]] Result<void> take_memory(const registry::HandleTable& handles, Flow& flow);
    // Replaces the transfers that use staging memory by copies on the device.
    void copy_staged_memory() WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> start(const registry::HandleTable& handles, Flow& flow);
    [[nodiscard]] Result<void> start(const registry::HandleTable& handles,
                                     const CheckedTransfer& checked);
    // As take_memory above, for a transfer.
    [[nodiscard]] Result<void> take_memory(wye_operation& operation) WYE_REQUIRES(mutex_);
    // Called when the submitted operations have ended: submits the next ones, or ends.
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
    void log() const WYE_REQUIRES(mutex_);
    [[nodiscard]] Error cancelled() const;

    const Context& context_;
    DeviceSession& session_;
    const std::string name_;               // of the program, the graph, or the buffer
    const std::uint32_t transfer_ = 0;     // enum wye_operation_kind; 0: not a transfer
    const std::uint64_t transferred_ = 0;  // bytes
    const Clock::time_point begun_;
    const bool borrows_, timed_;
    std::string label_, profile_;  // for the log

    // The memory of outputs: staging memory, or ordinary host memory if there is none left.
    StagingBlock staged_outputs_;
    HostBlock outputs_;
    std::vector<Output> list_;
    std::uint64_t output_bytes_ = 0;  // with the gaps between outputs

    sdk::Mutex mutex_;
    // The memory of inputs: staging memory or `inputs_`.
    StagingBlock staged_inputs_ WYE_GUARDED_BY(mutex_);
    HostBlock inputs_ WYE_GUARDED_BY(mutex_);
    // Copies of lent outputs from staging memory.
    std::vector<sdk::HostCopy> lent_ WYE_GUARDED_BY(mutex_);
    RegisteredTransfers registered_ WYE_GUARDED_BY(mutex_);  // of lent registered memory
    std::vector<CompiledRef> programs_ WYE_GUARDED_BY(mutex_);
    WorkspaceLease workspace_ WYE_GUARDED_BY(mutex_);
    registry::InFlight uses_ WYE_GUARDED_BY(mutex_);
    Operations operations_ WYE_GUARDED_BY(mutex_);
    registry::Pin program_ WYE_GUARDED_BY(mutex_);  // of a repeated request
    // For a graph execution, in place of the members above.
    std::shared_ptr<Graph> graph_ WYE_GUARDED_BY(mutex_);
    Execution execution_ WYE_GUARDED_BY(mutex_);
    // Queue for later read-backs; null: none.
    std::shared_ptr<PublicQueue> queue_ WYE_GUARDED_BY(mutex_);
    bool reads_later_ WYE_GUARDED_BY(mutex_) = false;  // the read-backs are not submitted yet
    Ticket ticket_ WYE_GUARDED_BY(mutex_);
    RunTimes times_ WYE_GUARDED_BY(mutex_);

    wye_report report_{};  // written before ended_ is set, as is error_
    std::optional<Error> error_;
    std::atomic<bool> submitted_ = false;
    std::atomic<bool> ended_ = false;
    std::atomic<bool> given_up_ = false;  // set under the lock, before the end
};

}  // namespace wye::exec
