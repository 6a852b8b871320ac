// SPDX-License-Identifier: Apache-2.0
//
// Runs the dispatches of a queue: short ones on the caller, others with the pool's help.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "cpu/run/pool.hpp"
#include "cpu/run/run.hpp"

namespace wye::cpu {

// The position of a dispatch when the caller handed it over.
struct Handover {
    std::uint64_t block = 0;
    bool within = false;  // the worker paused inside the block
};

// How long the caller runs work before the queue's thread takes over.
class Patience {
  public:
    // `looks`: the time will be asked for.
    explicit Patience(bool looks) : start_(looks ? Clock::now() : Clock::time_point()) {}
    [[nodiscard]] bool is_over() const { return Clock::now() - start_ > kLimit; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kLimit{100};
    Clock::time_point start_;
};

// Whether the caller may run all of it: waking a thread and moving its data would cost more.
[[nodiscard]] bool is_small(std::span<const wye_operation> operations);

// Runs on the caller, in a FloatState; if it takes long, `out` says where it stopped. CANCELLED: a
// stop was requested.
[[nodiscard]] Result<void> try_launch(Launch& launch, Worker& worker, const Stop& stop,
                                      std::optional<Handover>& out);
// The same for an operation, with a FloatState of its own.
[[nodiscard]] Result<void> try_dispatch(const wye_dispatch_op& op, Worker& worker, const Stop& stop,
                                        std::optional<Handover>& out);

// Runs to the end with the pool's help, or from a handover on, with the same worker.
[[nodiscard]] Result<void> run_dispatch(const wye_dispatch_op& op,
                                        const std::optional<Handover>& handover, Worker& worker,
                                        Pool& pool, const Stop& stop);

}  // namespace wye::cpu
