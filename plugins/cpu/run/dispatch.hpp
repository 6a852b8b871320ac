// SPDX-License-Identifier: Apache-2.0
//
// Runs the dispatches of a queue: short ones on the caller, others with the pool's help.
#pragma once

#include <optional>
#include <span>

#include "cpu/run/pool.hpp"
#include "cpu/run/run.hpp"

namespace wye::cpu {

// Where a dispatch stood when the caller had spent enough time on it.
struct Handover {
    std::uint64_t block = 0;
    bool within = false;  // the worker stands in the middle of it
};

// Whether the caller may run all of it: waking a thread and moving its data would cost more.
[[nodiscard]] bool is_small(std::span<const wye_operation> operations);

// On the caller, unless it takes long: then `out` says where it stopped. CANCELLED: it was told to.
[[nodiscard]] Result<void> try_dispatch(const wye_dispatch_op& op, Worker& worker, const Stop& stop,
                                        std::optional<Handover>& out);

// To its end, with the pool's help; from where another thread handed it over, with its worker.
[[nodiscard]] Result<void> run_dispatch(const wye_dispatch_op& op,
                                        const std::optional<Handover>& handover, Worker& worker,
                                        Pool& pool, const Stop& stop);

}  // namespace wye::cpu
