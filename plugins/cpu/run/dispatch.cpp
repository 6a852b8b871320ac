// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/dispatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "cpu/buffer.hpp"
#include "cpu/command.hpp"
#include "wye/sdk/errors.hpp"
#include "wye/sdk/float_state.hpp"

namespace wye::cpu {
namespace {

constexpr std::uint64_t kSmallWork = 20000;  // estimated nanoseconds, see Routine::weight
constexpr std::uint64_t kSmallBytes = std::uint64_t{4} << 20;
constexpr double kMostInvocations = 9.2e18;  // per launch: fits a 63-bit count

// How long the caller runs work before the queue's thread takes over.
class Patience {
  public:
    // `looks`: whether is_over() will be called.
    explicit Patience(bool looks) : start_(looks ? Clock::now() : Clock::time_point()) {}
    [[nodiscard]] bool is_over() const { return Clock::now() - start_ > kLimit; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kLimit{100};
    Clock::time_point start_;
};

Error no_registers() {
    return {Code::OUT_OF_MEMORY, "no memory for the registers of a dispatch",
            "Fix: free memory or use a smaller workgroup"};
}

std::uint64_t bytes_moved(const wye_operation& operation) {
    switch (operation.kind) {
        case WYE_OPERATION_COPY:
            return operation.u.copy.size;
        case WYE_OPERATION_FILL:
            return operation.u.fill.size;
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return operation.u.transfer.size;
        default:
            return 0;
    }
}

double invocations_of(const wye_dispatch_op& op) {
    double out = 1;
    for (unsigned axis = 0; axis < 3; ++axis)
        out *= static_cast<double>(op.groups[axis]) * program_of(op.program).workgroup()[axis];
    return out;
}

double work_of(const wye_dispatch_op& op) {
    return invocations_of(op) / kTile * static_cast<double>(program_of(op.program).weight());
}

bool is_as_large(const wye_dispatch_op& a, const wye_dispatch_op& b) {
    return a.program == b.program && a.flags == b.flags &&
           std::memcmp(a.groups, b.groups, sizeof a.groups) == 0;
}

// Must be called while a FloatState exists.
[[gnu::always_inline]] inline Result<void> try_one(Launch& launch, Worker& worker, const Stop& stop,
                                                   std::optional<Handover>& out) {
    launch.stop = stop;
    try {
        worker.prepare(launch);
    } catch (const std::bad_alloc&) {
        return no_registers();
    }
    const Patience patience(launch.blocks > 1);
    for (std::uint64_t block = 0; block < launch.blocks; ++block) {
        const Worker::State state = worker.block(launch, block, false);
        if (state == Worker::State::Paused) {
            out = {block, true};
            return {};
        }
        if (state == Worker::State::Stopped) {
            worker.finish(launch);
            return sdk::errors::cancelled();
        }
        const bool last = block + 1 == launch.blocks;
        if (!last && patience.is_over()) {
            out = {block + 1, false};
            break;
        }
    }
    worker.finish(launch);
    return {};
}

}  // namespace

bool is_small(std::span<const wye_operation> operations) {
    std::uint64_t bytes = 0;
    const wye_dispatch_op* before = nullptr;  // the last dispatch that was checked and is small
    for (const wye_operation& operation : operations) {
        if (operation.kind == WYE_OPERATION_DISPATCH) {
            const wye_dispatch_op& op = operation.u.dispatch;
            if (before != nullptr && is_as_large(op, *before)) continue;
            if ((op.flags & WYE_LAUNCH_INDIRECT) != 0) return false;  // its size is not known yet
            if (work_of(op) > static_cast<double>(kSmallWork)) return false;
            before = &op;
            continue;
        }
        if (operation.kind == WYE_OPERATION_EXECUTE &&
            !sdk::command_of<Command>(operation.u.execute.command).is_small(operation.u.execute))
            return false;
        bytes += bytes_moved(operation);
    }
    return bytes <= kSmallBytes;
}

Result<void> try_launches(std::span<Launch> launches, Worker& worker, const Stop& stop,
                          std::size_t& ran, std::optional<Handover>& out) {
    constexpr std::size_t kBetweenLooks = 32;  // launches between two looks at the clock
    const sdk::FloatState floats;
    const Patience patience(launches.size() > kBetweenLooks);
    for (ran = 0; ran < launches.size(); ++ran) {
        if (ran % kBetweenLooks == kBetweenLooks - 1 && patience.is_over()) {
            out = Handover{};
            return {};
        }
        WYE_TRY(try_one(launches[ran], worker, stop, out));
        if (out) return {};
    }
    return {};
}

Result<void> try_launch(Launch& launch, Worker& worker, const Stop& stop,
                        std::optional<Handover>& out) {
    const sdk::FloatState floats;
    return try_one(launch, worker, stop, out);
}

bool is_short(const Launch& launch) {
    const auto loops = [](const Instr& instr) {
        return instr.step == Step::BackEdge || instr.step == Step::ForNext;
    };
    return launch.blocks == 1 && std::ranges::none_of(launch.routine->instrs, loops);
}

Result<void> run_short(const Launch& launch, Worker& worker) {
    try {
        std::optional<sdk::FloatState> floats;
        if (launch.routine->uses_floats) floats.emplace();
        worker.run_short(launch);
    } catch (const std::bad_alloc&) {
        return no_registers();
    }
    return {};
}

Result<void> run_dispatch(const wye_dispatch_op& op, const std::optional<Handover>& handover,
                          Worker& worker, Pool& pool, const Stop& stop) {
    if ((op.flags & WYE_LAUNCH_INDIRECT) != 0) {
        wye_dispatch_op found = op;
        found.flags &= ~std::uint32_t{WYE_LAUNCH_INDIRECT};
        std::memcpy(found.groups, buffer_of(op.indirect.buffer).data() + op.indirect.offset,
                    sizeof found.groups);
        if (!program_of(op.program).has_grid())
            std::memcpy(found.logical_groups, found.groups, sizeof found.groups);
        if (found.groups[0] == 0 || found.groups[1] == 0 || found.groups[2] == 0) return {};
        if (invocations_of(found) >= kMostInvocations)
            return sdk::errors::too_many_found(program_of(op.program).name(), found.groups,
                                               "the CPU");
        return run_dispatch(found, handover, worker, pool, stop);
    }
    WYE_ASSIGN(Launch launch, make_launch(op));
    launch.stop = stop;
    std::uint64_t first = handover ? handover->block : 0;
    if (handover && handover->within) {
        // The worker's frame does not refer to the caller's launch, so the worker can continue with
        // this launch.
        if (worker.resume(launch, true) == Worker::State::Stopped) return sdk::errors::cancelled();
        worker.finish(launch);
        ++first;
    }
    try {
        if (pool.run(launch, first, worker)) return {};
    } catch (const std::bad_alloc&) {
        return no_registers();
    }
    return sdk::errors::cancelled();
}

}  // namespace wye::cpu
