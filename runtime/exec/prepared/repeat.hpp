// SPDX-License-Identifier: Apache-2.0
//
// The fast path for repeated requests: requests are kept with their operations, so that repeating
// one costs a look-up.
//
// The operations of a request depend on the request, its program, its device and the sizes of its
// buffers. None of them changes while its handle lives, and handles are never reused. So an equal
// request has the same operations if its handles are still live, which `repeat` checks before each
// submit. From the first repetition on it is an Executable.
//
// Only requests without a time limit are kept, on resident buffers only, of programs that cannot
// trap and are not split at grid barriers, of at most kOperations operations, none of which is on
// scratch. The rounds of a fixpoint and the parts of a split grid are operations of the one
// command. Owned by a device session. Native objects and histories are borrowed from the objects of
// the handles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/context.hpp"
#include "exec/device/buffer_use.hpp"
#include "exec/device/queue_pool.hpp"
#include "exec/device/ticket.hpp"
#include "exec/dispatch/dispatch.hpp"
#include "exec/prepared/executable.hpp"
#include "exec/prepared/kept_request.hpp"
#include "exec/prepared/param_rules.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct Repeat final : KeptWork {
    static constexpr std::size_t kArguments = 8;
    static constexpr std::size_t kParams = 8;
    static constexpr std::size_t kOperations = 256;

    // A cheap first check: requests with host bytes are never kept, nor those with a grid buffer.
    [[nodiscard]] static bool may_have(const wye_dispatch_desc& desc) {
        return KeptRequest::may_be_same(desc) && desc.argument_count != 0 &&
               desc.argument_count <= kArguments && desc.param_count <= kParams &&
               desc.arguments[0].kind == WYE_ARGUMENT_RESIDENT;
    }
    // Returns the kept request that equals `desc`, with the parameters of `desc`, unless a submit
    // uses it; null: the request must take all steps. `desc` must have passed may_have.
    [[nodiscard]] static Repeat* find(QueuePool& queues, const wye_dispatch_desc& desc)
        WYE_REQUIRES(queues.mutex);
    // Called after a request was submitted: keeps its operations if possible, replacing an older
    // request.
    static void keep(const Flow& flow, const Operations& operations);

    KeptRequest request;
    std::array<wye_argument, kArguments> arguments;
    std::array<std::uint64_t, kParams> params;      // as in the request
    ParamRules rules;                               // for other ones
    std::array<std::uint64_t, kArguments> buffers;  // the handles of the arguments
    std::array<BufferUse, kArguments> uses;         // of these buffers
    std::uint64_t frees;  // QueuePool::frees() when these handles were last live
    wye_report report;    // launch_report
    std::array<wye_binding, kArguments> bindings;
    std::uint32_t params_size;
    bool asked;                                           // the plugin was asked for a command
    alignas(8) std::array<std::byte, kParams * 8> block;  // the parameters as the kernel reads them
    Executable work;

    // What to submit: the command, made at the first call, or the operations. Only for the submit
    // that holds `work`.
    [[nodiscard]] std::span<const wye_operation> to_submit(DeviceSession& session,
                                                           const LoadedProgram& program);
    [[nodiscard]] std::span<const BufferUse> used() const {
        return {uses.data(), request.argument_count()};
    }
    [[nodiscard]] std::span<const std::uint64_t> handles() const {
        return {buffers.data(), request.argument_count()};
    }

  private:
    void make_command(const DeviceSession& session, const LoadedProgram& program);
};

// The submitted work of a repeated request.
struct Repeated {
    wye_report* report = nullptr;  // gets all members but the times; null: nobody reads them
    bool at_once = false;          // it does not wait for room on the device
    bool waits = false;            // the caller then waits for its end
    Result<void> sent;
    Ticket ticket;  // valid if it was sent
};
// Submits a repeated request of this program and session, and counts it. `queue`: the number of its
// public queue, or 0. Returns false, having submitted nothing, if the request is not kept or a
// handle is not live.
[[nodiscard]] bool submit_repeated(const registry::HandleTable& handles,
                                   const wye_dispatch_desc& desc, const LoadedProgram& program,
                                   DeviceSession& session, std::uint32_t queue, Repeated& out);

// Runs a repeated request and waits; only its handles are checked again. Returns false, having
// submitted nothing, if the request must take all steps (which also report any error). `report` may
// be null; `start` is read only if there is a report, or the context reads times.
[[nodiscard]] bool repeat(const Context& context, const wye_dispatch_desc& desc,
                          Clock::time_point start, wye_report* report, Result<void>& result);

// Runs a dispatch: again if it is a repeated request, else with all steps, as dispatch_in_full.
[[nodiscard]] inline Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                           wye_report* report) {
    const bool timed = report != nullptr || context.reads_times();
    const Clock::time_point start = timed ? now() : Clock::time_point();
    Result<void> result;
    if (repeat(context, desc, start, report, result)) return result;
    return dispatch_in_full(context, desc, timed ? start : now(), Repeat::keep, report);
}

}  // namespace wye::exec
