// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/command.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wye::sdk {
namespace {

bool has_late_indirect(const wye_dispatch_op& op) {
    return (op.flags & WYE_LAUNCH_INDIRECT) != 0 && op.indirect.buffer == nullptr;
}

// The binding that an execution gives for a late binding.
wye_binding bound(const wye_execute_op& execution, const wye_binding& described) {
    wye_binding out = execution.slots[described.slot];
    if (described.size == WYE_WHOLE_SLOT) return out;
    out.offset += described.offset;
    out.size = described.size;
    out.elements = described.elements;
    return out;
}

}  // namespace

Result<CommandList> CommandList::of(std::string_view plugin, const wye_command_desc& desc,
                                    SizesOf sizes, std::uint32_t flags) {
    CommandList out;
    out.plugin_ = plugin;
    out.label_ = from_abi(desc.label);
    out.sizes_ = sizes;
    out.flags_ = flags | WYE_LAUNCH_LATE_GRID;
    out.has_edges_ = (desc.flags & WYE_COMMAND_EDGES) != 0;
    out.edges_.assign(desc.edges, desc.edges + desc.edge_count);
    out.operations_.reserve(desc.operation_count);
    out.kept_.reserve(desc.operation_count);
    for (const wye_operation& op : std::span(desc.operations, desc.operation_count)) {
        WYE_TRY(out.check(op));
        out.keep(op, out.operations_.emplace_back(), out.kept_.emplace_back());
    }
    out.set_late(out.find_late());
    return out;
}

Result<void> CommandList::check(const wye_operation& op) const {
    if (op.kind != WYE_OPERATION_DISPATCH && op.kind != WYE_OPERATION_COPY &&
        op.kind != WYE_OPERATION_FILL)
        return errors::not_in_command(plugin_, op.kind);
    return known_parts_of(op, plugin_, flags_);
}

void CommandList::keep(const wye_operation& from, wye_operation& out, Kept& kept) const {
    out = from;
    out.next = nullptr;  // extensions that may be skipped are not kept
    if (from.kind == WYE_OPERATION_COPY)
        kept.late = from.u.copy.source == nullptr || from.u.copy.target == nullptr;
    if (from.kind == WYE_OPERATION_FILL) kept.late = from.u.fill.target == nullptr;
    if (from.kind != WYE_OPERATION_DISPATCH) return;
    wye_dispatch_op& op = out.u.dispatch;
    const ArgumentSizes sizes = sizes_(op.program);
    const std::size_t list = sizes.bindings * sizeof(wye_binding);
    const std::size_t words = (std::size_t{sizes.params} + 7) / 8;
    kept.memory = std::make_unique<std::byte[]>(2 * list + words * sizeof(std::uint64_t));
    const auto bindings_at = [&](std::size_t at) {
        auto* const first = reinterpret_cast<wye_binding*>(kept.memory.get() + at);
        std::uninitialized_copy_n(op.bindings, sizes.bindings, first);
        return std::span(first, sizes.bindings);
    };
    kept.described = bindings_at(0);
    kept.bindings = bindings_at(list);
    kept.params = {reinterpret_cast<std::uint64_t*>(kept.memory.get() + 2 * list), words};
    if (sizes.params != 0 && op.params != nullptr)
        std::memcpy(kept.params.data(), op.params, sizes.params);
    op.bindings = kept.bindings.data();
    op.params = kept.params.data();
    kept.indirect = op.indirect;
    kept.late = has_late_indirect(op) || op.late_size != 0 ||
                (op.flags & WYE_LAUNCH_LATE_GRID) != 0 ||
                std::ranges::any_of(kept.described,
                                    [](const wye_binding& b) { return b.buffer == nullptr; });
}

CommandList::Late CommandList::find_late() const {
    Late out;
    for (std::size_t n = 0; n < operations_.size(); ++n) {
        const Kept& kept = kept_[n];
        const wye_operation& operation = operations_[n];
        if (operation.kind == WYE_OPERATION_COPY) {
            const wye_copy_op& op = operation.u.copy;
            if (op.source == nullptr)
                out.buffers.push_back({n, op.source_offset, op.source_slot, true});
            if (op.target == nullptr)
                out.buffers.push_back({n, op.target_offset, op.target_slot, false});
        } else if (operation.kind == WYE_OPERATION_FILL) {
            const wye_fill_op& op = operation.u.fill;
            if (op.target == nullptr) out.buffers.push_back({n, op.offset, op.target_slot, false});
        } else {
            const wye_dispatch_op& op = operation.u.dispatch;
            for (std::size_t b = 0; b < kept.described.size(); ++b)
                if (kept.described[b].buffer == nullptr)
                    out.bindings.push_back({&kept.bindings[b], kept.described[b]});
            if (op.late_size != 0)
                out.params.push_back({kept.params.data(), op.late_offset, op.late_size});
            if ((op.flags & WYE_LAUNCH_LATE_GRID) != 0) out.grids.push_back({n, op.grid_offset});
            if ((op.flags & WYE_LAUNCH_INDIRECT) != 0 && kept.indirect.buffer == nullptr)
                out.indirect.push_back(n);
        }
    }
    return out;
}

void CommandList::resolve_late(const wye_execute_op& execution) {
    const auto* const block = static_cast<const std::byte*>(execution.params);
    for (const LateBinding& late : late_.bindings) *late.target = bound(execution, late.described);
    for (const std::size_t n : late_.indirect)
        operations_[n].u.dispatch.indirect = bound(execution, kept_[n].indirect);
    for (const LateParams& late : late_.params)
        std::memcpy(late.target, block + late.offset, late.size);
    for (const LateGrid& late : late_.grids) {
        wye_dispatch_op& op = operations_[late.operation].u.dispatch;
        std::memcpy(op.groups, block + late.offset, sizeof op.groups);
        std::memcpy(op.group_offset, block + late.offset + 12, sizeof op.group_offset);
        std::memcpy(op.logical_groups, block + late.offset + 24, sizeof op.logical_groups);
    }
    for (const LateBuffer& late : late_.buffers) {
        const wye_binding& given = execution.slots[late.slot];
        wye_operation& op = operations_[late.operation];
        if (op.kind == WYE_OPERATION_FILL) {
            op.u.fill.target = given.buffer;
            op.u.fill.offset = given.offset + late.offset;
        } else if (late.source) {
            op.u.copy.source = given.buffer;
            op.u.copy.source_offset = given.offset + late.offset;
        } else {
            op.u.copy.target = given.buffer;
            op.u.copy.target_offset = given.offset + late.offset;
        }
    }
}

bool CommandList::set_params(const void* block) {
    bool changed = false;
    for (const LateParams& late : late_.params) {
        const std::byte* const from = static_cast<const std::byte*>(block) + late.offset;
        changed = changed || std::memcmp(late.target, from, late.size) != 0;
        std::memcpy(late.target, from, late.size);
    }
    return changed;
}

Result<void> CommandList::update(std::uint64_t index, const wye_operation& operation) {
    WYE_TRY(check(operation));
    Kept kept;
    wye_operation op = operation;
    keep(operation, op, kept);
    const auto exchange = [&] {
        std::swap(kept_[index], kept);
        std::swap(operations_[index], op);
    };
    exchange();
    try {
        set_late(find_late());
    } catch (...) {  // without memory, the operation stays unchanged
        exchange();
        throw;
    }
    return {};
}

void CommandList::set_late(Late late) {
    late_ = std::move(late);
    const bool others = has_late_slots() || has_late_grid();
    fixed_ = !others && !has_late_params();
    only_params_ = !others && has_late_params();
}

std::uint64_t CommandList::bytes() const {
    std::uint64_t out = operations_.size() * sizeof(wye_operation);
    for (const Kept& kept : kept_)
        out += kept.described.size() * 2 * sizeof(wye_binding) + kept.params.size_bytes();
    return out;
}

}  // namespace wye::sdk
