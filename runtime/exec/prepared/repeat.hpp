// SPDX-License-Identifier: Apache-2.0
//
// The fast path for repeated requests: requests are kept with their operations, so that repeating
// one costs a look-up.
//
// The operations of a request depend on the request, its program, its device and the sizes of its
// buffers. None of them changes while its handle lives, and handles are never reused. So an equal
// request has the same operations if its handles are still live, which `repeat` checks before each
// submit.
//
// A request that is repeated becomes a command of the plugin, which keeps the operations as a
// native object of the driver. The operations are submitted as they are if the plugin has no
// commands, or while as many executions of the command are pending as the plugin allows.
//
// Only requests without a time limit are kept, on resident buffers only, of programs that cannot
// trap and are not split at grid barriers, of at most kOperations operations, none of which is on
// scratch. The rounds of a
// fixpoint and the parts of a split grid are operations of the one command. Owned by a device
// session. Native objects and histories are borrowed from the objects of the handles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/device/buffer_use.hpp"
#include "exec/device/ticket.hpp"
#include "exec/dispatch/request.hpp"
#include "lower/analysis/preconditions.hpp"
#include "plan/admit.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Context;
class DeviceSession;
class Kernels;
class LoadedProgram;
class QueuePool;
struct Operations;

struct Repeat {
    static constexpr std::size_t kArguments = 8;
    static constexpr std::size_t kParams = 8;
    static constexpr std::size_t kOperations = 256;

    wye_dispatch_desc request;  // its pointers are the caller's and are not dereferenced
    std::array<wye_argument, kArguments> arguments;
    std::array<std::uint64_t, kParams> params;  // as in the request

    std::array<std::uint64_t, kArguments> buffers;  // the handles of the arguments
    std::array<BufferUse, kArguments> uses;         // of these buffers
    std::uint64_t frees;  // QueuePool::frees() when these handles were last live
    std::array<std::uint32_t, 3> groups, workgroup;
    std::uint32_t variant;  // for the report, as the members up to `profile`
    std::uint64_t natives;
    std::uint64_t profile;            // as in Form
    std::uint64_t requested_profile;  // of the request itself; differs from `profile` if that is
                                      // the pipeline's
    std::uint32_t check_free, cooperative, determinism;
    // Set if parameters decide whether the launch is check-free, else null: the preconditions
    // (borrowed from the program).
    const lower::Preconditions* preconditions;
    bool deterministic;  // as in Launch
    // Element counts by buffer index; set if parameters decide the form or the determinism.
    plan::Lengths lengths;
    std::uint64_t bytes_filled;
    std::vector<wye_operation> operations;
    std::array<wye_binding, kArguments> bindings;
    std::uint32_t params_size;
    alignas(8) std::array<std::byte, kParams * 8> block;  // the parameters as the kernel reads them

    std::optional<registry::NativeCommand> command;
    bool asked;                // the plugin was asked for a command
    std::uint32_t last_queue;  // queue and value of the command's newest execution
    std::uint64_t last_value;
    wye_operation execute;
    bool sending;  // a submit uses it: the pool's mutex is not held meanwhile

    // What to submit: the command, made at the first call, or the operations. Only for the submit
    // that set `sending`.
    [[nodiscard]] std::span<const wye_operation> work(const registry::DeviceRef& device,
                                                      const QueuePool& queues);
    void submitted(std::span<const wye_operation> work, const Ticket& ticket);
    void make_command(const registry::DeviceRef& device);
    [[nodiscard]] std::span<const BufferUse> used() const {
        return {uses.data(), static_cast<std::size_t>(request.argument_count)};
    }
    [[nodiscard]] std::span<const std::uint64_t> handles() const {
        return {buffers.data(), static_cast<std::size_t>(request.argument_count)};
    }
};

class Repeats {
  public:
    // A cheap first check: requests with host bytes are never kept, nor those with a grid buffer.
    [[nodiscard]] static bool may_have(const wye_dispatch_desc& desc) {
        return is_plain_request(desc) && desc.arguments != nullptr && desc.argument_count != 0 &&
               desc.argument_count <= Repeat::kArguments && desc.param_count <= Repeat::kParams &&
               (desc.params != nullptr || desc.param_count == 0) &&
               desc.arguments[0].kind == WYE_ARGUMENT_RESIDENT;
    }
    // Returns the kept request that equals `desc`, with the parameters of `desc`, unless a submit
    // uses it; null: the request must take all steps. `desc` must have passed may_have; `plan` is
    // that of desc.program.
    [[nodiscard]] Repeat* find(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan);

    // Called after `desc` ran: keeps its operations if possible, replacing an older request.
    void keep(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan,
              const plan::Launch& launch, const Kernels& kernels, const Operations& operations,
              std::span<const BufferUse> uses, std::uint64_t bytes_filled, const QueuePool& queues);

  private:
    static constexpr std::size_t kKept = 16;
    [[nodiscard]] std::unique_ptr<Repeat>& place(const wye_dispatch_desc& desc);

    std::array<std::unique_ptr<Repeat>, kKept> kept_;
};

// The submitted work of a repeated request.
struct Repeated {
    wye_report& report;  // is written, with an empty header and without times
    Result<void> sent;
    Ticket ticket;         // valid if it was sent
    bool at_once = false;  // set by the caller: do not wait for room on the device
};
// The form in which a request is kept and found: without the flags that concern only one call.
[[nodiscard]] inline wye_dispatch_desc kept_form(const wye_dispatch_desc& desc) {
    wye_dispatch_desc out = desc;
    out.flags &= ~(WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE);
    return out;
}
// Submits a repeated request of this program and session without waiting. `queue`: the number of
// its public queue, or 0. Returns false, having submitted nothing, if the request is not kept or a
// handle is not live.
[[nodiscard]] bool submit_repeated(const registry::HandleTable& handles,
                                   const wye_dispatch_desc& desc, const LoadedProgram& program,
                                   DeviceSession& session, std::uint32_t queue, Repeated& out);

// Runs a repeated request and waits; only its handles are checked again. Returns false, having
// submitted nothing, if the request must take all steps (which also report any error). `report` may
// be null; `start` is read only if there is a report, or the context reads times.
[[nodiscard]] bool repeat(const Context& context, const wye_dispatch_desc& desc,
                          Clock::time_point start, wye_report* report, Result<void>& result);

}  // namespace wye::exec
