// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::exec {
namespace {

constexpr std::uint32_t kKnownFlags =
    WYE_DISPATCH_GRID | WYE_DISPATCH_ELEMENTS | WYE_DISPATCH_COOPERATIVE | WYE_DISPATCH_VARIANTS |
    WYE_DISPATCH_SPECULATION | WYE_DISPATCH_PERSISTENT | WYE_DISPATCH_TIMED |
    WYE_DISPATCH_FIXPOINT | WYE_DISPATCH_INDIRECT;

static_assert(WYE_READ_BACK == plan::Argument::kAllBytes);

Error invalid(std::string what, std::string fix) {
    return {Code::INVALID_ARGUMENT, std::move(what), std::move(fix), "wye_dispatch_desc"};
}

Result<void> check_members(const wye_dispatch_desc& desc, const RequestRules& rules) {
    if (const std::uint32_t unknown = desc.flags & ~(kKnownFlags | rules.flags); unknown != 0) {
        if ((unknown & ~(WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE)) == 0)
            return invalid(
                "WYE_DISPATCH_BORROW and WYE_DISPATCH_AT_ONCE are for asynchronous "
                "dispatches",
                "Fix: leave them out, or call wye_dispatch_submit");
        return invalid(fmt::format("the dispatch flags have unknown bits {:#x}", unknown),
                       "Fix: use the WYE_DISPATCH_ flags of this version");
    }
    if (desc.reserved != 0)
        return invalid(fmt::format("the reserved member of the dispatch is {}", desc.reserved),
                       "Fix: start from WYE_INIT, which zeroes it");
    if (desc.arguments == nullptr && desc.argument_count != 0)
        return invalid(
            fmt::format("`arguments` is null but `argument_count` is {}", desc.argument_count),
            "Fix: pass the arguments, or count 0");
    if (desc.params == nullptr && desc.param_count != 0)
        return invalid(fmt::format("`params` is null but `param_count` is {}", desc.param_count),
                       "Fix: pass the parameters, or count 0");
    if (desc.argument_count > WYE_LIMIT_BUFFERS)
        return invalid(fmt::format("the dispatch has {} arguments, a program at most {} buffers",
                                   desc.argument_count, WYE_LIMIT_BUFFERS),
                       "Fix: bind each buffer once");
    return {};
}

// For a dispatch that owns its outputs: refuses an argument with storage of the caller.
Result<void> check_storage(const wye_argument& argument, std::size_t index) {
    if (argument.output == nullptr) return {};
    return invalid(
        fmt::format("argument {} has storage for its output, which this dispatch owns itself",
                    index),
        "Fix: leave `output` null and take the bytes from wye_pending_output; or call "
        "wye_dispatch; "
        "or call wye_dispatch_submit with WYE_DISPATCH_BORROW, and keep the storage until the "
        "dispatch has ended");
}

// Refuses an argument that sets members of another kind of argument.
Result<void> check_argument(const wye_argument& argument, std::size_t index) {
    const bool input = argument.input.data != nullptr || argument.input.size != 0;
    const bool output = argument.output != nullptr || argument.output_size != 0;
    const bool resident = argument.buffer != 0 || argument.offset != 0;
    switch (argument.kind) {
        case WYE_ARGUMENT_HOST:
            if (!resident && argument.size == 0) return {};
            return invalid(fmt::format("argument {} is host bytes, but names a buffer, an offset "
                                       "or a size",
                                       index),
                           "Fix: leave those members zero, or use WYE_ARGUMENT_RESIDENT");
        case WYE_ARGUMENT_RESIDENT:
            if (!input) return {};
            return invalid(
                fmt::format("argument {} is a resident buffer, but has host bytes as its input",
                            index),
                "Fix: leave `input` zero, or use WYE_ARGUMENT_HOST");
        case WYE_ARGUMENT_DISCARD:
            if (!input && !output && !resident) return {};
            return invalid(fmt::format("argument {} is discarded, but has memory", index),
                           "Fix: leave all but `size` zero, or use another kind");
        default:
            return invalid(fmt::format("argument {} has kind {}", index, argument.kind),
                           "Fix: use WYE_ARGUMENT_HOST, _RESIDENT or _DISCARD");
    }
}

}  // namespace

Result<void> read_request(const wye_dispatch_desc& desc, const RequestRules& rules,
                          Requested& out) {
    WYE_TRY(check_members(desc, rules));
    const bool returns =
        rules.asynchronous && !rules.copies_out && (desc.flags & WYE_DISPATCH_BORROW) == 0;
    out.count = static_cast<std::size_t>(desc.argument_count);
    for (std::size_t i = 0; i < out.count; ++i) {
        const wye_argument& from = desc.arguments[i];
        WYE_TRY(check_argument(from, i));
        if (returns) WYE_TRY(check_storage(from, i));
        plan::Argument& to = out.storage[i];
        to.kind = static_cast<plan::ArgumentKind>(from.kind);
        to.binding = from.binding;
        to.input = static_cast<const std::byte*>(from.input.data);
        to.input_size = from.input.size;
        to.output = static_cast<std::byte*>(from.output);
        to.output_size = from.output_size;
        to.returned = returns && (from.kind == WYE_ARGUMENT_HOST || from.output_size != 0);
        to.buffer = from.buffer;
        to.buffer_offset = from.offset;
        to.buffer_size = 0;
        to.size = from.size;
    }
    plan::Request& request = out.request;
    request.arguments = {out.storage, out.count};
    request.params = {desc.params, static_cast<std::size_t>(desc.param_count)};
    request.has_grid = (desc.flags & WYE_DISPATCH_GRID) != 0;
    request.has_elements = (desc.flags & WYE_DISPATCH_ELEMENTS) != 0;
    request.indirect = (desc.flags & WYE_DISPATCH_INDIRECT) != 0;
    request.cooperative = (desc.flags & WYE_DISPATCH_COOPERATIVE) != 0;
    std::copy_n(desc.grid, 3, request.grid.begin());
    request.grid_buffer = desc.grid_buffer;
    request.grid_offset = desc.grid_offset;
    request.elements = desc.elements;
    std::copy_n(desc.workgroup, 3, request.workgroup.begin());
    request.max_output_bytes = desc.max_output_bytes;
    request.has_fixpoint = (desc.flags & WYE_DISPATCH_FIXPOINT) != 0;
    request.fixpoint_iterations = desc.fixpoint_iterations;
    request.ulp_budget = desc.ulp_budget;
    request.speculation = (desc.flags & WYE_DISPATCH_SPECULATION) != 0;
    request.persistent = (desc.flags & WYE_DISPATCH_PERSISTENT) != 0;
    return {};
}

}  // namespace wye::exec
