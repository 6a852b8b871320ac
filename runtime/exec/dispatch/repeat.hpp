// SPDX-License-Identifier: Apache-2.0
//
// The fast path for a repeated request: requests that ran before are kept with their operations, so
// that asking again costs a lookup.
//
// The operations of a request depend on the request, its program, its device and the sizes of its
// buffers. None of them changes while its handle lives, and no handle is ever used for anything
// else. So an equal request has the same operations if its handles are still live, which `repeat`
// checks every time before it submits them.
//
// Only requests on resident buffers without a time limit are kept, of programs that cannot trap and
// have no grid barrier. Belongs to a device session and its queue lock. Native objects in the
// operations are borrowed from what the handles stand for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "exec/device/clock.hpp"
#include "lower/analysis/preconditions.hpp"
#include "plan/admit.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Context;
class Kernels;
struct Operations;

struct Repeat {
    static constexpr std::size_t kArguments = 8;
    static constexpr std::size_t kParams = 8;
    static constexpr std::size_t kOperations = 4;

    wye_dispatch_desc request;  // its pointers are the caller's, and not looked at
    std::array<wye_argument, kArguments> arguments;
    std::array<std::uint64_t, kParams> params;  // as the request gives them

    std::array<std::uint64_t, kArguments> buffers;  // the handles of the arguments
    std::array<std::uint32_t, 3> groups, workgroup;
    std::uint32_t variant;  // for the report, as the next two
    std::uint64_t natives;
    std::uint32_t check_free;
    // Where parameters decide whether the launch is check-free: the preconditions (the program's,
    // borrowed) and, by buffer index, the lengths. Null: they do not.
    const lower::Preconditions* preconditions;
    plan::Lengths lengths;
    std::uint64_t bytes_filled;
    std::size_t operation_count;
    std::array<wye_operation, kOperations> operations;
    std::array<wye_binding, kArguments> bindings;
    alignas(8) std::array<std::byte, kParams * 8> block;  // the parameters as the kernel reads them

    [[nodiscard]] std::span<const wye_operation> all() const {
        return {operations.data(), operation_count};
    }
    [[nodiscard]] std::span<const std::uint64_t> handles() const {
        return {buffers.data(), static_cast<std::size_t>(request.argument_count)};
    }
};

class Repeats {
  public:
    // A cheap first check: requests with host bytes are never kept.
    [[nodiscard]] static bool may_have(const wye_dispatch_desc& desc) {
        return desc.timeout_ns == 0 && desc.arguments != nullptr && desc.argument_count != 0 &&
               desc.argument_count <= Repeat::kArguments && desc.param_count <= Repeat::kParams &&
               (desc.params != nullptr || desc.param_count == 0) &&
               desc.arguments[0].kind == WYE_ARGUMENT_RESIDENT;
    }
    // The request as it ran before, with the parameters of `desc`; null: it takes all steps. `desc`
    // has passed may_have, `plan` is that of desc.program.
    [[nodiscard]] const Repeat* find(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan);

    // After `desc` ran: keeps its operations if they can be kept, in place of an older request.
    void keep(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan,
              const plan::Launch& launch, const Kernels& kernels, const Operations& operations,
              std::uint64_t bytes_filled);

  private:
    static constexpr std::size_t kKept = 16;
    [[nodiscard]] std::unique_ptr<Repeat>& place(const wye_dispatch_desc& desc);

    std::array<std::unique_ptr<Repeat>, kKept> kept_;
};

// Runs a request that ran before: only its handles are checked anew. False: the request takes all
// steps, which also name what is wrong with it; no queue was entered. `report` may be null.
[[nodiscard]] bool repeat(const Context& context, const wye_dispatch_desc& desc,
                          Clock::time_point start, wye_report* report, Result<void>& result);

}  // namespace wye::exec
