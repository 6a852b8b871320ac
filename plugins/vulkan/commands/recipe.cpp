// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/recipe.hpp"

#include <cstring>

#include "vulkan/buffer.hpp"
#include "vulkan/commands/fill.hpp"
#include "vulkan/program.hpp"

namespace wye::vulkan {
namespace {

constexpr std::size_t kMostWords = 512;

template <typename... Words>
void add(Recipe& out, Words... words) {
    (out.push_back(words), ...);
}

void add(Recipe& out, const wye_binding& binding) {
    add(out, buffer_of(binding.buffer).serial, binding.offset, binding.size);
}

bool add_dispatch(Recipe& out, const wye_dispatch_op& op) {
    const Program& program = program_of(op.program);
    if (program.block_in_buffer()) return false;
    out.push_back(program.serial());
    for (unsigned k = 0; k < 3; ++k)
        add(out, op.groups[k], op.group_offset[k], op.logical_groups[k]);
    out.push_back(op.flags);
    if ((op.flags & WYE_LAUNCH_INDIRECT) != 0) add(out, op.indirect);
    for (std::uint32_t b = 0; b < program.binding_count(); ++b) add(out, op.bindings[b]);
    if (program.has_trap()) add(out, op.trap);
    // The argument block: lengths, parameters and grid.
    const std::size_t at = out.size();
    out.resize(at + (program.block_bytes() + 7) / 8);
    if (program.block_bytes() != 0)
        program.fill_block(op, reinterpret_cast<std::byte*>(out.data() + at));
    return true;
}

}  // namespace

bool describe(std::span<const wye_operation> operations, Recipe& out) {
    out.clear();
    for (const wye_operation& op : operations) {
        out.push_back(op.kind);
        if (op.kind == WYE_OPERATION_DISPATCH) {
            if (!add_dispatch(out, op.u.dispatch)) return false;
        } else if (op.kind == WYE_OPERATION_COPY) {
            const wye_copy_op& copy = op.u.copy;
            add(out, buffer_of(copy.source).serial, buffer_of(copy.target).serial,
                copy.source_offset, copy.target_offset, copy.size);
        } else if (op.kind == WYE_OPERATION_FILL) {
            const wye_fill_op& fill = op.u.fill;
            if (!is_whole_words(fill)) return false;
            add(out, buffer_of(fill.target).serial, fill.offset, fill.size, *word_of(fill));
        } else {
            return false;
        }
        if (out.size() > kMostWords) return false;
    }
    return !operations.empty();
}

}  // namespace wye::vulkan
