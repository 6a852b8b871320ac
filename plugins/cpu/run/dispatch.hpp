// SPDX-License-Identifier: Apache-2.0
//
// Runs the dispatches of a queue: short ones on the caller, others with the pool's help.
#pragma once

#include <cstddef>
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

// Whether the caller may run all of it: waking a thread and moving its data would cost more.
[[nodiscard]] bool is_small(std::span<const wye_operation> operations);

// Runs on the caller, one after the other; if they take long, `out` says where launch number `ran`
// stopped, behind those that ran whole. CANCELLED: a stop was requested.
[[nodiscard]] Result<void> try_launches(std::span<Launch> launches, Worker& worker,
                                        const Stop& stop, std::size_t& ran,
                                        std::optional<Handover>& out);
// The same for one operation.
[[nodiscard]] Result<void> try_dispatch(const wye_dispatch_op& op, Worker& worker, const Stop& stop,
                                        std::optional<Handover>& out);

// Runs to the end with the pool's help, or from a handover on, with the same worker.
[[nodiscard]] Result<void> run_dispatch(const wye_dispatch_op& op,
                                        const std::optional<Handover>& handover, Worker& worker,
                                        Pool& pool, const Stop& stop);

}  // namespace wye::cpu
