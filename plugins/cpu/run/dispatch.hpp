// SPDX-License-Identifier: Apache-2.0
//
// Runs the dispatches of a queue: short ones on the caller, longer ones with the pool's help.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cpu/run/pool.hpp"
#include "cpu/run/run.hpp"

namespace wye::cpu {

// The position at which the caller handed over a dispatch.
struct Handover {
    std::uint64_t block = 0;
    bool within = false;  // whether the worker paused inside the block
};

// Whether the caller may run all operations itself, because waking a thread and moving the data to
// it would cost more.
[[nodiscard]] bool is_small(std::span<const wye_operation> operations);

// Runs launches on the caller, one after the other. `ran` counts those that ran completely. If they
// take long, `out` says where the next one stopped. CANCELLED: a stop was requested.
[[nodiscard]] Result<void> try_launches(std::span<Launch> launches, Worker& worker,
                                        const Stop& stop, std::size_t& ran,
                                        std::optional<Handover>& out);
// Like try_launches, for one.
[[nodiscard]] Result<void> try_launch(Launch& launch, Worker& worker, const Stop& stop,
                                      std::optional<Handover>& out);

// Whether a launch is one block without loops, which ends without a check for stop or handover.
[[nodiscard]] bool is_short(const Launch& launch);
// Runs such a launch on the caller.
[[nodiscard]] Result<void> run_short(const Launch& launch, Worker& worker);

// Runs a dispatch to its end with the pool's help. Given a handover, continues from there with the
// same worker.
[[nodiscard]] Result<void> run_dispatch(const wye_dispatch_op& op,
                                        const std::optional<Handover>& handover, Worker& worker,
                                        Pool& pool, const Stop& stop);

}  // namespace wye::cpu
