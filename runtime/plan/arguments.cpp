// SPDX-License-Identifier: Apache-2.0
//
// Checks arguments against the program's buffers: refuses unknown, duplicate and missing arguments,
// and kinds that do not fit the roles.
#include <fmt/format.h>

#include <algorithm>

#include "plan/admit.hpp"

namespace wye::plan {
namespace {

Error wrong(const ir::Buffer& buffer, std::string_view what, std::string_view fix) {
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("{} `{}` (binding {}) {}", role_name(buffer.role), buffer.name,
                             buffer.binding, what),
                 std::string(fix), buffer.name);
}

Error unknown_binding(const ProgramPlan& plan, std::uint32_t binding) {
    for (const ir::Buffer& buffer : plan.program->buffers)
        if (buffer.binding == binding)
            return wrong(buffer, "is workgroup memory and takes no argument",
                         "Fix: leave the argument out");
    std::string known;
    for (const std::uint32_t slot : plan.bindings.arguments)
        known +=
            fmt::format("{}{} `{}`", known.empty() ? "" : ", ",
                        plan.bindings.bindings[slot].binding, plan.bindings.bindings[slot].name);
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("program `{}` has no binding {}", plan.program->name, binding),
                 "Fix: use one of its bindings: " + (known.empty() ? "none" : known),
                 plan.program->name);
}

// `asked`: whether the argument asks for a read-back.
Result<void> check_read_back(const ir::Buffer& buffer, const Argument& argument, bool asked) {
    if (argument.output == nullptr && argument.output_size == Argument::kAllBytes &&
        !argument.returned)
        return wrong(buffer,
                     "asks the library for read-back memory, which this call does not offer",
                     "Fix: pass storage for it; or call wye_dispatch_owned, or wye_dispatch_submit "
                     "without WYE_DISPATCH_BORROW");
    if (argument.output == nullptr && argument.output_size != 0 && !argument.returned)
        return wrong(buffer,
                     fmt::format("has {} bytes of output storage, but its pointer is null",
                                 argument.output_size),
                     "Fix: pass the storage, or size 0");
    if (!buffer.in_outputs() && asked)
        return wrong(buffer, "asks for an output, but is never read back",
                     buffer.role == ir::Role::INPUT
                         ? "Fix: give its values as input, not as output; or declare it "
                           "`input_output` if the program writes it"
                         : "Fix: leave the output out, or declare it `live`");
    return {};
}

Result<void> check_host(const ir::Buffer& buffer, const Argument& argument) {
    if (buffer.role == ir::Role::PERSISTENT)
        return wrong(buffer, "is bound to host bytes",
                     "Fix: bind a resident buffer; its contents outlive the dispatch");
    if (argument.input == nullptr && argument.input_size != 0)
        return wrong(
            buffer, fmt::format("has {} input bytes, but its pointer is null", argument.input_size),
            "Fix: pass the bytes, or size 0");
    if (!buffer.in_inputs() && argument.input_size != 0)
        return wrong(buffer, "takes no input bytes; it starts at zero",
                     "Fix: leave the input out, or declare it input_output");
    return check_read_back(buffer, argument, argument.output != nullptr);
}

Result<void> check_resident(const ir::Buffer& buffer, const Argument& argument) {
    if (argument.buffer_offset > argument.buffer_size ||
        argument.size > argument.buffer_size - argument.buffer_offset)
        return wrong(buffer,
                     fmt::format("is bound to {} bytes at offset {} of a resident buffer of {} "
                                 "bytes",
                                 argument.size, argument.buffer_offset, argument.buffer_size),
                     "Fix: keep the range inside the buffer");
    const std::uint32_t natural = std::max(buffer.natural_alignment(), 1U);
    if (argument.buffer_offset % natural != 0)
        return wrong(buffer,
                     fmt::format("starts at offset {}, which is not a multiple of {}",
                                 argument.buffer_offset, natural),
                     fmt::format("Fix: start the range at a multiple of {}", natural));
    return check_read_back(buffer, argument, argument.asks());
}

Result<void> check_kind(const ir::Buffer& buffer, const Argument& argument, bool sizes_only) {
    switch (argument.kind) {
        case ArgumentKind::Host:
            return check_host(buffer, argument);
        case ArgumentKind::Resident:
            return check_resident(buffer, argument);
        case ArgumentKind::Discard:
            if (buffer.role == ir::Role::OUTPUT) return {};
            // The caller has no such buffer yet, and asks how large to make it.
            if (sizes_only && buffer.role == ir::Role::PERSISTENT) return {};
            return wrong(buffer, "is discarded, but only an output can be",
                         "Fix: bind host bytes or a resident buffer");
    }
    return wrong(buffer, fmt::format("has argument kind {}", static_cast<unsigned>(argument.kind)),
                 "Fix: use HOST, RESIDENT or DISCARD");
}

}  // namespace

Result<void> admit_arguments(const ProgramPlan& plan, const Request& request, Launch& out) {
    const ir::Program& program = *plan.program;
    out.buffer_count = static_cast<std::uint32_t>(plan.bindings.arguments.size());
    for (std::uint32_t i = 0; i < out.buffer_count; ++i) out.buffers[i].argument = ir::kNone;

    for (std::uint32_t i = 0; i < request.arguments.size(); ++i) {
        const Argument& argument = request.arguments[i];
        const int slot =
            argument.binding < plan.argument_of.size() ? plan.argument_of[argument.binding] : -1;
        if (slot < 0) return unknown_binding(plan, argument.binding);
        const Binding& binding =
            plan.bindings.bindings[plan.bindings.arguments[static_cast<std::size_t>(slot)]];
        const ir::Buffer& buffer = program.buffers[binding.buffer_index];
        BoundBuffer& bound = out.buffers[slot];
        if (bound.argument != ir::kNone)
            return Error(Code::DUPLICATE,
                         fmt::format("`{}` (binding {}) is bound twice, by arguments {} and {}",
                                     buffer.name, buffer.binding, bound.argument, i),
                         "Fix: bind each buffer once", buffer.name);
        WYE_TRY(check_kind(buffer, argument, request.sizes_only));
        bound.argument = i;
        bound.kind = argument.kind;
        bound.input =
            buffer.in_inputs() && argument.kind == ArgumentKind::Host ? argument.input : nullptr;
        bound.output = argument.output;
        bound.returned = argument.returned && buffer.in_outputs();
        bound.handle = argument.buffer;
        bound.offset = argument.buffer_offset;
    }

    for (std::uint32_t i = 0; i < out.buffer_count; ++i) {
        const Binding& binding = plan.bindings.bindings[plan.bindings.arguments[i]];
        BoundBuffer& bound = out.buffers[i];
        bound.buffer_index = binding.buffer_index;
        bound.writable = role_writable(binding.role);
        if (bound.argument != ir::kNone) continue;
        if (!request.sizes_only || binding.role != ir::Role::OUTPUT)
            return wrong(program.buffers[binding.buffer_index], "has no argument",
                         "Fix: bind host bytes, a resident buffer, or (an output) discard it");
        bound.kind = ArgumentKind::Discard;
        bound.input = nullptr;
        bound.output = nullptr;
        bound.returned = false;
        bound.handle = 0;
        bound.offset = 0;
    }
    return {};
}

}  // namespace wye::plan
