// SPDX-License-Identifier: Apache-2.0
//
// Checks the options of a request: each option is supported, or is refused by name.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plan/admit.hpp"

namespace wye::plan {
namespace {

Result<void> refuse_option(const ProgramPlan& plan, std::string_view option, std::string_view fix) {
    return Error(Code::UNSUPPORTED,
                 fmt::format("the request asks for {}, which this version does not offer", option),
                 std::string(fix), plan.program->name);
}

// Checks a request whose grid is in a buffer: refuses options that need the grid before the launch.
Result<void> admit_indirect(const ProgramPlan& plan, const Request& request) {
    const std::string& name = plan.program->name;
    if (!request.indirect) {
        if (request.grid_buffer == 0 && request.grid_offset == 0) return {};
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a grid buffer ({:#x}, offset {}) is given without "
                                 "WYE_DISPATCH_INDIRECT",
                                 request.grid_buffer, request.grid_offset),
                     "Fix: set WYE_DISPATCH_INDIRECT, or leave grid_buffer and grid_offset zero",
                     name);
    }
    if (request.has_grid)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("a grid of {}x{}x{} and a grid buffer are given", request.grid[0],
                                 request.grid[1], request.grid[2]),
                     "Fix: clear WYE_DISPATCH_GRID or WYE_DISPATCH_INDIRECT", name);
    constexpr const char* kRead =
        "Fix: read the three words back, and give them as `grid` (WYE_DISPATCH_GRID)";
    if (plan.analysis.uses_grid_barrier)
        return Error(Code::UNSUPPORTED,
                     fmt::format("program `{}` has grid barriers, so its number of workgroups must "
                                 "be known before the launch, but the request keeps this number in "
                                 "a buffer",
                                 name),
                     kRead, name);
    if (request.cooperative)
        return Error(
            Code::UNSUPPORTED,
            fmt::format("a cooperative launch of `{}` must have a number of workgroups "
                        "that is known before the launch, but the request keeps this number "
                        "in a buffer",
                        name),
            kRead, name);
    return {};
}

Result<void> admit_workgroup(const ProgramPlan& plan, const Request& request, Launch& out) {
    const ir::Program& program = *plan.program;
    const Count3& wanted = request.workgroup;
    out.workgroup = program.workgroup;
    out.has_override = false;
    if (wanted == Count3{0, 0, 0}) return {};
    const std::string size = fmt::format("{},{},{}", wanted[0], wanted[1], wanted[2]);
    if (!program.adjustable)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("workgroup size {} is asked for, but program `{}` is not "
                                 "adjustable",
                                 size, program.name),
                     "Fix: leave the override out, or say `workgroup ... adjustable` in the "
                     "program",
                     program.name);
    std::uint64_t invocations = 1;
    for (const std::uint32_t axis : wanted) {
        if (axis == 0 || axis > WYE_LIMIT_WORKGROUP) invocations = WYE_LIMIT_WORKGROUP + 1;
        invocations *= axis;
        if (invocations == 0 || invocations > WYE_LIMIT_WORKGROUP)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("workgroup size {} is outside 1 to {} invocations", size,
                                     WYE_LIMIT_WORKGROUP),
                         "Fix: give three sizes of at least 1 with a product in that range",
                         program.name);
    }
    out.workgroup = wanted;
    out.has_override = wanted != program.workgroup;
    return {};
}

}  // namespace

Result<void> admit_options(const ProgramPlan& plan, const Request& request, Launch& out) {
    if (request.speculation)
        return refuse_option(plan, "speculation", "Fix: clear WYE_DISPATCH_SPECULATION");
    if (request.persistent)
        return refuse_option(plan, "persistent threads", "Fix: clear WYE_DISPATCH_PERSISTENT");
    if (request.has_fixpoint && request.fixpoint_iterations == 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("0 fixpoint iterations of program `{}` are asked for", plan.program->name),
            "Fix: ask for 1 or more, or do not dispatch", plan.program->name);
    out.iterations = std::max(request.fixpoint_iterations, 1U);
    if (!request.has_grid && request.grid != Count3{0, 0, 0})
        return Error(Code::INVALID_ARGUMENT, "a grid is given without WYE_DISPATCH_GRID",
                     "Fix: set the flag, or leave the grid zero", plan.program->name);
    if (!request.has_elements && request.elements != 0)
        return Error(Code::INVALID_ARGUMENT,
                     "an element count is given without WYE_DISPATCH_ELEMENTS",
                     "Fix: set the flag, or leave the count zero", plan.program->name);
    WYE_TRY(admit_indirect(plan, request));
    return admit_workgroup(plan, request, out);
}

Result<void> pack_params(const ProgramPlan& plan, std::span<const std::uint64_t> params,
                         std::byte* block) {
    const ir::Program& program = *plan.program;
    if (params.size() != program.params.size())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("program `{}` has {} parameters, the request gives {}",
                                 program.name, program.params.size(), params.size()),
                     "Fix: give one word for each parameter, in declared order", program.name);
    if (plan.params.size != 0) std::memset(block, 0, plan.params.size);
    for (std::size_t i = 0; i < program.params.size(); ++i) {
        const std::uint64_t bits = params[i];
        const std::size_t size = program.params[i].type.bytes();
        if (size == 4 && bits >> 32U != 0)
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("parameter `{}` has type {}, but its word {:#x} uses more "
                            "than 32 bits",
                            program.params[i].name, ir::type_name(program.params[i].type), bits),
                "Fix: zero-extend the value's bits (a negative i32 too)", program.params[i].name);
        std::memcpy(block + plan.params.offsets[i], &bits, size);  // little endian
    }
    return {};
}

Result<void> admit_params(const ProgramPlan& plan, const Request& request, Launch& out) {
    out.params_size = plan.params.size;
    return pack_params(plan, request.params, out.params);
}

}  // namespace wye::plan
