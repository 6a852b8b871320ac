// SPDX-License-Identifier: Apache-2.0
//
// Computes the element count and the bytes of every buffer of a launch. Literal and computed counts
// follow from the program. A run-time count follows from the bound bytes or, for an output, from
// the size of its storage, else from `elements`.
#include <fmt/format.h>

#include "plan/admit.hpp"

namespace wye::plan {
namespace {

const Argument kNoArgument{ArgumentKind::Discard, 0, nullptr, 0, nullptr, 0, false, 0, 0, 0, 0};

const Argument& argument_of(const Request& request, const BoundBuffer& bound) {
    return bound.argument == ir::kNone ? kNoArgument : request.arguments[bound.argument];
}

// Returns the size in bytes that the argument gives its buffer, regardless of the program's count.
// `known`: whether the argument determines the size.
std::uint64_t brought(const ir::Buffer& buffer, const Request& request, const Argument& argument,
                      bool& known) {
    known = true;
    switch (argument.kind) {
        case ArgumentKind::Host:
            if (buffer.in_inputs()) {
                // If only sizes are asked for, a null input takes its size from the computed count.
                known = !request.sizes_only || argument.input != nullptr ||
                        buffer.count_kind != ir::Buffer::Count::Computed;
                return argument.input_size;
            }
            // The storage does not determine the buffer's size if only a range is read back.
            known = argument.output_size != 0 && !buffer.bytes;
            return argument.output_size;
        case ArgumentKind::Resident:
            return argument.size != 0 ? argument.size
                                      : argument.buffer_size - argument.buffer_offset;
        case ArgumentKind::Discard:
            break;
    }
    known = argument.size != 0;
    return argument.size;
}

Result<std::uint64_t> runtime_count(const ir::Buffer& buffer, const Request& request,
                                    const Argument& argument) {
    bool known = false;
    const std::uint64_t bytes = brought(buffer, request, argument, known);
    const std::uint64_t element = buffer.type.bytes();
    if (known) {
        if (bytes % element == 0) return bytes / element;
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`{}` is bound to {} bytes, which is not a multiple of its element "
                        "size {}",
                        buffer.name, bytes, element),
            "Fix: bind whole elements", buffer.name);
    }
    if (request.has_elements) return request.elements;
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("the element count of run-time output `{}` is not given", buffer.name),
                 "Fix: pass storage for it, or give the request an element count", buffer.name);
}

Error wrong_size(const ir::Buffer& buffer, std::uint64_t count, std::uint64_t need,
                 std::uint64_t got, std::string_view what) {
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{}` takes {} bytes{} ({} elements of {}), got {}", buffer.name, need,
                             what, count, ir::type_name(buffer.type), got),
                 fmt::format("Fix: bind exactly {} bytes", need), buffer.name);
}

Error wrong_storage(const ir::Buffer& buffer, std::uint64_t count, std::uint64_t need,
                    std::uint64_t got) {
    const bool all = got == Argument::kAllBytes;
    return Error(
        Code::INVALID_ARGUMENT,
        fmt::format("the read-back of `{}` has {} bytes{}, its storage has {}", buffer.name, need,
                    buffer.bytes
                        ? ", as its `bytes` clause says"
                        : fmt::format(" ({} elements of {})", count, ir::type_name(buffer.type)),
                    all ? "the size WYE_READ_BACK" : std::to_string(got)),
        all ? fmt::format("Fix: give {} as output_size, or give no `output`; the result then owns "
                          "the bytes",
                          need)
            : fmt::format("Fix: give storage of exactly {} bytes", need),
        buffer.name);
}

Result<void> admit_read_back(const ir::Buffer& buffer, const Request& request,
                             const Argument& argument, BoundBuffer& bound) {
    bound.read_offset = 0;
    bound.read_size = 0;
    const bool asked = argument.asks();
    if (!buffer.in_outputs() || !(bound.kind == ArgumentKind::Host || asked)) return {};
    bound.read_size = bound.bytes;
    if (buffer.bytes) {
        const auto [first, end] = *buffer.bytes;
        if (end > bound.bytes || first > end)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the read-back range {}..{} of `{}` ends beyond its {} bytes",
                                     first, end, buffer.name, bound.bytes),
                         "Fix: bind a larger buffer, or narrow its `bytes` clause", buffer.name);
        bound.read_offset = first;
        bound.read_size = end - first;
    }
    const bool all = argument.returned && argument.output_size == Argument::kAllBytes;
    if (asked && !all && argument.output_size != bound.read_size &&
        !(request.sizes_only && argument.output_size == 0))
        return wrong_storage(buffer, bound.elements, bound.read_size, argument.output_size);
    return {};
}

Result<void> admit_bytes(const ir::Buffer& buffer, const Request& request, std::uint64_t count,
                         BoundBuffer& bound) {
    const Argument& argument = argument_of(request, bound);
    bound.elements = count;
    if (__builtin_mul_overflow(count, std::uint64_t{buffer.type.bytes()}, &bound.bytes) ||
        bound.bytes >> 63U != 0)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("`{}` would have {} elements of {} bytes, more than any device "
                                 "can hold",
                                 buffer.name, count, buffer.type.bytes()),
                     "Fix: lower the count", buffer.name);
    bool known = false;
    const std::uint64_t bytes = brought(buffer, request, argument, known);
    // A host argument of an output is storage. It is checked below against the read-back size.
    const bool storage = argument.kind == ArgumentKind::Host && !buffer.in_inputs();
    if (known && !storage && bytes != bound.bytes)
        return wrong_size(buffer, count, bound.bytes, bytes, "");
    return admit_read_back(buffer, request, argument, bound);
}

}  // namespace

Result<void> admit_sizes(const ProgramPlan& plan, const Request& request, Lengths& lengths,
                         Launch& out) {
    const ir::Program& program = *plan.program;
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        lengths[i] = program.buffers[i].count_kind == ir::Buffer::Count::Literal
                         ? program.buffers[i].count
                         : 0;
    for (const BoundBuffer& bound : out.bound()) {
        const ir::Buffer& buffer = program.buffers[bound.buffer_index];
        if (buffer.count_kind != ir::Buffer::Count::Runtime) continue;
        auto count = runtime_count(buffer, request, argument_of(request, bound));
        if (!count.ok()) return std::move(count).error();
        lengths[bound.buffer_index] = *count;
    }
    const std::span<const std::uint64_t> known(lengths, program.buffers.size());
    for (const BoundBuffer& bound : out.bound()) {
        const ir::Buffer& buffer = program.buffers[bound.buffer_index];
        if (buffer.count_kind != ir::Buffer::Count::Computed) continue;
        auto count = ir::evaluate_size(buffer.size, program, request.params, known,
                                       plan.count_names[bound.buffer_index]);
        if (!count.ok()) return std::move(count).error();
        lengths[bound.buffer_index] = *count;
    }
    std::uint64_t delivered = 0;
    for (std::uint32_t i = 0; i < out.buffer_count; ++i) {
        BoundBuffer& bound = out.buffers[i];
        WYE_TRY(admit_bytes(program.buffers[bound.buffer_index], request,
                            lengths[bound.buffer_index], bound));
        if (bound.output != nullptr || bound.returned) delivered += bound.read_size;
    }
    if (request.max_output_bytes != 0 && delivered > request.max_output_bytes)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("the outputs of program `{}` have {} bytes, above the request's "
                                 "limit of {}",
                                 program.name, delivered, request.max_output_bytes),
                     "Fix: raise max_output_bytes, or read less back", program.name);
    return {};
}

}  // namespace wye::plan
