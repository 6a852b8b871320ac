// SPDX-License-Identifier: Apache-2.0
//
// Pending: a dispatch in flight, and its result. It keeps everything alive that the device uses,
// and owns copies of inputs and outputs unless the caller lent them. Whoever polls or waits moves
// it on: when its work has ended, a program that can trap is checked, and lent outputs are read
// back only then. Free-threaded. The session outlives it.
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
#include "exec/device/host_memory.hpp"
#include "exec/device/pending_list.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Pending final : public PendingWork, public std::enable_shared_from_this<Pending> {
  public:
    // Runs the steps of a dispatch up to its submit. Errors as of dispatch; DEVICE_BUSY if there is
    // no room and `desc` says not to wait.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 const wye_dispatch_desc& desc,
                                                                 Clock::time_point start);
    Pending(const Context& context, const Flow& flow, Clock::time_point start);

    bool poll() override { return wait(Clock::time_point::min()); }
    bool wait(std::optional<Clock::time_point> deadline) override;
    // UNSUPPORTED: the device cannot stop work.
    [[nodiscard]] Result<void> cancel();
    [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }

    [[nodiscard]] std::shared_ptr<Pending> shared() { return shared_from_this(); }

    // All after the end.
    [[nodiscard]] Code status() const noexcept { return error_ ? error_->code : Code::OK; }
    [[nodiscard]] Result<void> outcome() const {
        if (error_) return *error_;
        return {};
    }
    [[nodiscard]] const wye_report& report() const { return report_; }  // header is zero
    // NOT_FOUND for a binding without an output of its own.
    [[nodiscard]] Result<std::span<const std::byte>> output(std::uint32_t binding) const;

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // Whether it uses memory of the caller until its end.
    [[nodiscard]] bool borrows() const noexcept { return borrows_; }

  private:
    struct Output {
        std::uint32_t binding = 0;
        std::size_t offset = 0, size = 0;
    };

    // Allocates the memory of inputs and outputs and points the operations at it.
    void take_memory(Flow& flow);
    [[nodiscard]] Result<void> start(const registry::HandleTable& handles, Flow& flow);
    // After the end of the submitted operations. Submits what comes next, or ends.
    void advance(Result<void> waited) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> next(Result<void> waited) WYE_REQUIRES(mutex_);
    void end(Result<void> outcome) noexcept WYE_REQUIRES(mutex_);
    void log() const WYE_REQUIRES(mutex_);

    const Context& context_;
    DeviceSession& session_;
    const std::string name_;  // of the program
    const Clock::time_point begun_;
    const bool borrows_, timed_;
    std::string label_, profile_;  // for the log

    HostBlock outputs_;
    std::vector<Output> list_;

    sdk::Mutex mutex_;
    HostBlock inputs_ WYE_GUARDED_BY(mutex_);
    std::vector<CompiledRef> programs_ WYE_GUARDED_BY(mutex_);
    WorkspaceLease workspace_ WYE_GUARDED_BY(mutex_);
    registry::InFlight uses_ WYE_GUARDED_BY(mutex_);
    Operations operations_ WYE_GUARDED_BY(mutex_);
    bool reads_later_ WYE_GUARDED_BY(mutex_) = false;  // the read-backs are not submitted yet
    Ticket ticket_ WYE_GUARDED_BY(mutex_);
    RunTimes times_ WYE_GUARDED_BY(mutex_);

    wye_report report_{};  // written before ended_, as the next
    std::optional<Error> error_;
    std::atomic<bool> ended_ = false;
};

}  // namespace wye::exec
