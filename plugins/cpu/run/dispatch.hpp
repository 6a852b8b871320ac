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

// Whether the operations are so small that the caller should run them itself: waking a thread and
// moving the data to it would cost more.
[[nodiscard]] bool is_small(std::span<const wye_operation> operations);

// Runs launches on the caller, one after the other. `ran`: the number of launches that ran
// completely. If the launches take long, `out` says where the next launch stopped. CANCELLED: a
// stop was requested.
[[nodiscard]] Result<void> try_launches(std::span<Launch> launches, Worker& worker,
                                        const Stop& stop, std::size_t& ran,
                                        std::optional<Handover>& out);
// Like `try_launches`, for one launch.
[[nodiscard]] Result<void> try_launch(Launch& launch, Worker& worker, const Stop& stop,
                                      std::optional<Handover>& out);

// Whether a launch is one block without loops. Such a launch runs without checks for a stop request
// or a handover.
[[nodiscard]] bool is_short(const Launch& launch);
// Runs a short launch on the caller.
[[nodiscard]] Result<void> run_short(const Launch& launch, Worker& worker);

// Runs a dispatch to its end with the pool's help. With a handover, continues at its position with
// the same worker.
[[nodiscard]] Result<void> run_dispatch(const wye_dispatch_op& op,
                                        const std::optional<Handover>& handover, Worker& worker,
                                        Pool& pool, const Stop& stop);

}  // namespace wye::cpu
