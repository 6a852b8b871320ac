// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/host_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "wye/sdk/native_slots.hpp"

namespace wye::layers::validate {
namespace {

constexpr const char* kFix = "Fix: correct the call";

Error broken(std::string what) { return {Code::INVALID_ARGUMENT, std::move(what), kFix}; }

bool is_inside(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) {
    return offset <= whole && size <= whole - offset;
}

// Returns the size of an operation's members. The rest of the operation must be zero.
std::size_t size_of(std::uint32_t kind) {
    switch (kind) {
        case WYE_OPERATION_DISPATCH:
            return sizeof(wye_dispatch_op);
        case WYE_OPERATION_COPY:
            return sizeof(wye_copy_op);
        case WYE_OPERATION_FILL:
            return sizeof(wye_fill_op);
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return sizeof(wye_transfer_op);
        case WYE_OPERATION_EXECUTE:
            return sizeof(wye_execute_op);
        default:
            return sizeof(wye_operation::u);
    }
}

bool has_zero_room(const wye_operation& operation) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&operation.u);
    return std::all_of(bytes + size_of(operation.kind), bytes + sizeof operation.u,
                       [](unsigned char byte) { return byte == 0; });
}

// Whether two launches are the same apart from the hint `again`.
bool are_same(wye_dispatch_op a, wye_dispatch_op b) {
    a.again = b.again = 0;
    return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

Result<void> HostChecks::unknown(const void* at, std::string_view noun, bool ended) const {
    const std::string what(noun);
    if (at == nullptr) return broken("the " + what + " is null");
    Error error = broken("the " + what + " was never made by this device");
    if (ended)
        error = {Code::STALE_HANDLE, "the " + what + " was destroyed", kFix,
                 noun == Timeline::kNoun ? "P-54" : ""};
    else if (handles_.count(at) != 0)
        error = {Code::WRONG_KIND, "a device or queue is given as a " + what, kFix, "P-56"};
    else if (const std::string kind = objects_.kind_at(at); !kind.empty())
        error = {Code::WRONG_KIND, kind + " is given as a " + what, kFix};
    else if (std::ranges::any_of(others_,
                                 [&](const Objects* other) { return !other->kind_at(at).empty(); }))
        error = {Code::WRONG_OWNER, "the " + what + " belongs to another device", kFix};
    return error;
}

Result<void> HostChecks::of_before_loss(std::string_view noun) {
    return Error(Code::STALE_HANDLE,
                 "the " + std::string(noun) + " is from before the recovery of its device", kFix);
}

Result<void> HostChecks::chain(const wye_header& header) const {
    constexpr unsigned kMostEntries = 64;
    constexpr std::size_t kMostBytes = 4096;
    const auto* entry = static_cast<const wye_header*>(header.next);
    for (unsigned n = 0; entry != nullptr && n < kMostEntries; ++n) {
        const std::size_t size = std::min<std::size_t>(entry->size, kMostBytes);
        for (std::size_t at = sizeof *entry; at + sizeof(void*) <= size; at += sizeof(void*)) {
            const void* word = nullptr;
            std::memcpy(&word, reinterpret_cast<const unsigned char*>(entry) + at, sizeof word);
            if (handles_.count(word) != 0)
                return Error(
                    Code::INVALID_ARGUMENT,
                    "the chain entry of type " + number(entry->type) + " names a device or a queue",
                    kFix, "P-56");
        }
        entry = static_cast<const wye_header*>(entry->next);
    }
    return {};
}

Result<void> HostChecks::not_staging(wye_buffer_object* buffer) const {
    const std::uint32_t usage = objects_.buffers.find(buffer)->usage;
    if (usage == WYE_BUFFER_USAGE_STAGING || usage == WYE_BUFFER_USAGE_REGISTERED)
        return broken("a buffer of the usage " + number(usage) +
                      " is used by something else than a copy");
    return {};
}

Result<void> HostChecks::range(wye_buffer_object* buffer, std::uint64_t offset,
                               std::uint64_t size) const {
    WYE_TRY(usable(buffer));
    const std::uint64_t whole = objects_.buffers.find(buffer)->size;
    if (is_inside(offset, size, whole)) return {};
    return broken("a range of " + number(size) + " bytes at " + number(offset) +
                  " is not inside its buffer of " + number(whole) + " bytes");
}

// ---- Descriptions ------------------------------------------------------------------------------

Result<void> HostChecks::buffer(const wye_buffer_desc& desc) const {
    if (!std::has_single_bit(desc.alignment))
        return broken("the alignment " + number(desc.alignment) + " is no power of two");
    WYE_TRY(chain(desc.header));
    if (const wye_native_memory* native = sdk::native_memory(desc.header)) {
        if (desc.usage != WYE_BUFFER_USAGE_DEVICE)
            return broken("native memory is given for a buffer of the usage " + number(desc.usage));
        if (native->handle == nullptr || native->handle->count == 0 ||
            native->handle->count > WYE_NATIVE_VALUES)
            return broken("the native memory has no handle, or one without values");
    }
    if (desc.usage != WYE_BUFFER_USAGE_REGISTERED) {
        if (desc.memory != nullptr)
            return broken("memory is given for a buffer of the usage " + number(desc.usage));
        return {};
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(desc.memory);
    const std::uint64_t multiple = limits_.host_memory_alignment;
    if (desc.memory == nullptr || desc.size == 0)
        return broken("a buffer of the usage REGISTERED has no memory");
    if (multiple == 0) return {};  // the plugin refuses the buffer (P-48)
    if (begin % multiple != 0 || desc.size % multiple != 0)
        return broken("the memory's address or size of " + number(desc.size) +
                      " bytes is no multiple of " + number(multiple));
    for (const auto& [pointer, other] : objects_.buffers.all()) {
        if (other.usage != WYE_BUFFER_USAGE_REGISTERED || other.lost) continue;
        const auto at = reinterpret_cast<std::uintptr_t>(other.mapped);
        if (begin < at + other.size && at < begin + desc.size)
            return broken("a part of the memory belongs to another buffer");
    }
    return {};
}

Result<void> HostChecks::artifact(const wye_artifact& artifact) const {
    WYE_TRY(chain(artifact.header));
    std::uint64_t invocations = 1;
    for (unsigned k = 0; k < 3; ++k) {
        const std::uint32_t size = artifact.workgroup_size[k];
        invocations *= size;
        if (size == 0 || size > limits_.workgroup_size[k])
            return broken("the workgroup has " + number(size) + " invocations in axis " +
                          number(k) + ", where the device takes 1 to " +
                          number(limits_.workgroup_size[k]));
    }
    const std::pair<std::uint64_t, std::uint64_t> amounts[] = {
        {invocations, limits_.invocations},
        {artifact.binding_count, limits_.buffers},
        {artifact.params_size, limits_.param_bytes},
        {artifact.shared_bytes, limits_.shared_bytes}};
    constexpr const char* kNames[] = {"invocations in a workgroup", "buffers",
                                      "bytes of parameters", "bytes of shared memory"};
    for (std::size_t i = 0; i < std::size(amounts); ++i)
        if (amounts[i].first > amounts[i].second)
            return broken("the artifact has " + number(amounts[i].first) + ' ' + kNames[i] +
                          ", where the device takes at most " + number(amounts[i].second));
    if (artifact.slot_count != 0 && artifact.slots == nullptr)
        return broken("the slot map is null");
    for (const wye_slot& slot : std::span(artifact.slots, artifact.slot_count)) {
        const bool binds = slot.kind == WYE_SLOT_BUFFER || slot.kind == WYE_SLOT_LENGTH;
        if (binds && slot.binding >= artifact.binding_count)
            return broken("the slot map names binding " + number(slot.binding) + " of " +
                          number(artifact.binding_count));
    }
    return {};
}

Result<void> HostChecks::command(const wye_command_desc& desc) const {
    if (desc.reserved != 0) return broken("a reserved member of the description is not zero");
    WYE_TRY(chain(desc.header));
    const std::span operations(desc.operations, desc.operation_count);
    const Place place{true, desc.slot_count, desc.params_size};
    for (const wye_operation& one : operations) WYE_TRY(operation(one, place));
    if ((desc.flags & WYE_COMMAND_EDGES) == 0 && desc.edge_count != 0)
        return broken("a command without the flag EDGES has " + number(desc.edge_count) + " edges");
    const wye_edge* before = nullptr;
    for (const wye_edge& edge : std::span(desc.edges, desc.edge_count)) {
        if (edge.before >= edge.after || edge.after >= operations.size())
            return broken("the edge from " + number(edge.before) + " to " + number(edge.after) +
                          " leads to no later operation of " + number(operations.size()));
        if (before != nullptr &&
            std::pair(before->after, before->before) >= std::pair(edge.after, edge.before))
            return broken("the edge from " + number(edge.before) + " to " + number(edge.after) +
                          " is not in ascending order");
        before = &edge;
    }
    return {};
}

Result<void> HostChecks::update(wye_command_object* at, std::uint64_t index,
                                const wye_operation& by) const {
    WYE_TRY(usable(at));
    const Command& command = *objects_.commands.find(at);
    if (!command.dead.empty())
        return broken("the command names a " + command.dead + " that was destroyed");
    if (index >= command.operations.size())
        return broken("there is no operation " + number(index) + " of " +
                      number(command.operations.size()));
    const auto& [kind, program] = command.operations[index];
    if (by.kind != kind)
        return broken("an operation of kind " + number(kind) + " is replaced by one of kind " +
                      number(by.kind));
    if (kind == WYE_OPERATION_DISPATCH && by.u.dispatch.program != program)
        return broken("a dispatch is replaced by one of another program");
    if (!command.pending.empty()) return broken("an execution of the command is pending");
    return operation(by, {true, command.slots, command.params_size});
}

// ---- Operations --------------------------------------------------------------------------------

Result<void> HostChecks::binding(const wye_binding& binding, const std::string& what,
                                 const Place& place) const {
    if (binding.reserved != 0) return broken(what + " has a reserved member that is not zero");
    if (binding.buffer == nullptr) {
        if (!place.in_command) return broken(what + " has no buffer");
        if (binding.slot >= place.slots)
            return broken(what + " names slot " + number(binding.slot) + " of " +
                          number(place.slots));
        return {};
    }
    if (binding.slot != 0) return broken(what + " has a buffer and a slot");
    WYE_TRY(range(binding.buffer, binding.offset, binding.size));
    return not_staging(binding.buffer);
}

Result<void> HostChecks::grid(const wye_dispatch_op& op, const Place& place) const {
    const bool late = (op.flags & WYE_LAUNCH_LATE_GRID) != 0;
    if (!place.in_command) {
        if (late || op.late_offset != 0 || op.late_size != 0 || op.grid_offset != 0)
            return broken("a launch outside of a command leaves parameters or its grid open");
    } else {
        constexpr std::uint64_t kGridBytes = 9 * sizeof(std::uint32_t);
        if (!is_inside(op.late_offset, op.late_size, place.params_size))
            return broken("late parameters of " + number(op.late_size) + " bytes at " +
                          number(op.late_offset) + " are not inside the parameter block of " +
                          number(place.params_size) + " bytes");
        if (late && !is_inside(op.grid_offset, kGridBytes, place.params_size))
            return broken("the late grid at " + number(op.grid_offset) +
                          " is not inside the parameter block of " + number(place.params_size) +
                          " bytes");
    }
    if (late || (op.flags & WYE_LAUNCH_INDIRECT) != 0) return {};
    const bool empty = op.groups[0] == 0 && op.groups[1] == 0 && op.groups[2] == 0;
    for (unsigned k = 0; k < 3 && !empty; ++k) {
        if (op.groups[k] == 0)
            return broken("a launch has no workgroups in axis " + number(k) + ", but in others");
        if (op.groups[k] > limits_.workgroups[k])
            return broken("a launch has " + number(op.groups[k]) + " workgroups in axis " +
                          number(k) + ", where the device takes at most " +
                          number(limits_.workgroups[k]));
    }
    return {};
}

Result<void> HostChecks::dispatch(const wye_dispatch_op& op, const Place& place) const {
    WYE_TRY(usable(op.program));
    constexpr std::uint32_t kKnown =
        WYE_LAUNCH_COOPERATIVE | WYE_LAUNCH_INDIRECT | WYE_LAUNCH_LATE_GRID;
    if ((op.flags & ~kKnown) != 0) return {};  // the plugin refuses the launch (P-7)
    if (op.again > (place.in_command ? 0 : 1))
        return broken("a launch has the hint `again` " + number(op.again) +
                      (place.in_command ? " in a command" : ""));
    const Program& program = *objects_.programs.find(op.program);
    if (op.binding_count != program.bindings || op.params_size != program.params_size)
        return broken("a launch has " + number(op.binding_count) + " bindings and " +
                      number(op.params_size) + " bytes of parameters, and its program " +
                      number(program.bindings) + " and " + number(program.params_size));
    if (program.bindings != 0 && op.bindings == nullptr)
        return broken("a launch has no bindings, where its program has " +
                      number(program.bindings));
    for (std::uint32_t i = 0; i < program.bindings; ++i)
        WYE_TRY(binding(op.bindings[i], "binding " + number(i), place));
    if (op.late_size > program.params_size)
        return broken("a launch has " + number(op.late_size) +
                      " late bytes of parameters, and its "
                      "program has " +
                      number(program.params_size));
    if (op.params == nullptr && op.late_size < program.params_size)
        return broken("a launch has no parameters, where its program has " +
                      number(program.params_size) + " bytes of them");
    WYE_TRY(grid(op, place));
    if (program.traps) {
        WYE_TRY(binding(op.trap, "the trap record", place));
        if (op.trap.buffer != nullptr && op.trap.size < 8)
            return broken("the trap record has " + number(op.trap.size) + " bytes");
    } else if (op.trap.buffer != nullptr) {
        return broken("a launch has a trap record, and its program has no slot for it");
    }
    if ((op.flags & WYE_LAUNCH_INDIRECT) == 0) {
        if (op.indirect.buffer != nullptr)
            return broken("a launch without the flag INDIRECT has a buffer of workgroups");
        return {};
    }
    WYE_TRY(binding(op.indirect, "the buffer of workgroups", place));
    if (op.indirect.buffer != nullptr && (op.indirect.size < 12 || op.indirect.offset % 4 != 0))
        return broken("the buffer of workgroups has " + number(op.indirect.size) + " bytes at " +
                      number(op.indirect.offset));
    return {};
}

Result<void> HostChecks::copy(const wye_copy_op& op, const Place& place) const {
    const auto end = [&](wye_buffer_object* buffer, std::uint64_t offset,
                         std::uint32_t slot) -> Result<void> {
        if (buffer != nullptr || !place.in_command) return range(buffer, offset, op.size);
        if (slot < place.slots) return {};
        return broken("a copy names slot " + number(slot) + " of " + number(place.slots));
    };
    WYE_TRY(end(op.source, op.source_offset, op.source_slot));
    WYE_TRY(end(op.target, op.target_offset, op.target_slot));
    if (op.source != nullptr && op.source == op.target && op.size != 0 &&
        op.source_offset < op.target_offset + op.size &&
        op.target_offset < op.source_offset + op.size)
        return broken("a copy of " + number(op.size) + " bytes from " + number(op.source_offset) +
                      " to " + number(op.target_offset) + " of one buffer overlaps itself");
    return {};
}

Result<void> HostChecks::fill(const wye_fill_op& op, const Place& place) const {
    if (op.pattern_size != 1 && op.pattern_size != 2 && op.pattern_size != 4 &&
        op.pattern_size != 8)
        return broken("a fill has a pattern of " + number(op.pattern_size) + " bytes");
    if (op.offset % op.pattern_size != 0 || op.size % op.pattern_size != 0)
        return broken("a fill of " + number(op.size) + " bytes at " + number(op.offset) +
                      " is no multiple of its pattern's " + number(op.pattern_size));
    if (op.target == nullptr && place.in_command) {
        if (op.target_slot < place.slots) return {};
        return broken("a fill names slot " + number(op.target_slot) + " of " + number(place.slots));
    }
    WYE_TRY(range(op.target, op.offset, op.size));
    return not_staging(op.target);
}

Result<void> HostChecks::transfer(const wye_transfer_op& op, bool upload) const {
    WYE_TRY(range(op.buffer, op.offset, op.size));
    WYE_TRY(not_staging(op.buffer));
    if (op.size != 0 && (upload ? op.source == nullptr : op.target == nullptr))
        return broken("a transfer of " + number(op.size) + " bytes has no memory of the host");
    return {};
}

Result<void> HostChecks::execute(const wye_execute_op& op) const {
    WYE_TRY(usable(op.command));
    const Command& command = *objects_.commands.find(op.command);
    if (!command.dead.empty())
        return Error(Code::STALE_HANDLE,
                     "the command names a " + command.dead + " that was destroyed", kFix);
    if (op.slot_count != command.slots || op.params_size != command.params_size)
        return broken("an execution has " + number(op.slot_count) + " bindings and " +
                      number(op.params_size) + " bytes of parameters, and its command " +
                      number(command.slots) + " and " + number(command.params_size));
    if (command.slots != 0 && op.slots == nullptr)
        return broken("an execution gives no bindings, where its command has " +
                      number(command.slots) + " slots");
    for (std::uint32_t i = 0; i < command.slots; ++i) {
        const wye_binding& slot = op.slots[i];
        WYE_TRY(range(slot.buffer, slot.offset, slot.size));
    }
    if (command.params_size != 0 &&
        (op.params == nullptr || reinterpret_cast<std::uintptr_t>(op.params) % 8 != 0))
        return broken("the block of an execution is null, or not aligned to 8 bytes");
    if (command.most_pending != 0 && command.pending.size() >= command.most_pending)
        return broken(number(command.pending.size()) +
                      " executions of the command are pending, "
                      "which is the most that its plugin allows");
    return {};
}

Result<void> HostChecks::operation(const wye_operation& operation, const Place& place) const {
    if (operation.flags != 0) return {};  // the plugin refuses the operation (P-7)
    if (!has_zero_room(operation))
        return broken("the unused bytes of an operation of kind " + number(operation.kind) +
                      " are not zero");
    switch (operation.kind) {
        case WYE_OPERATION_DISPATCH:
            return dispatch(operation.u.dispatch, place);
        case WYE_OPERATION_COPY:
            return copy(operation.u.copy, place);
        case WYE_OPERATION_FILL:
            return fill(operation.u.fill, place);
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            if (place.in_command) return {};  // the plugin refuses the transfer (P-41)
            return transfer(operation.u.transfer, operation.kind == WYE_OPERATION_UPLOAD);
        case WYE_OPERATION_EXECUTE:
            return place.in_command ? Result<void>() : execute(operation.u.execute);
        default:
            return {};  // the plugin refuses the operation (P-7)
    }
}

// ---- Submits and events ------------------------------------------------------------------------

Result<void> HostChecks::event(const wye_event& event) const {
    if (event.reserved != 0) return broken("an event has a reserved member that is not zero");
    return usable(event.timeline);
}

Result<void> HostChecks::submission(const wye_submission& submission, std::uint64_t newest) const {
    if (submission.value <= newest)
        return broken("the value " + number(submission.value) + " is not above " + number(newest) +
                      ", which the queue had before");
    if (submission.reserved != 0) return broken("a reserved member of the submission is not zero");
    WYE_TRY(chain(submission.header));
    if (const wye_native_wait* native = sdk::native_wait(submission.header))
        if (native->event == nullptr || native->event->count == 0 ||
            native->event->count > WYE_NATIVE_VALUES)
            return broken("the native wait has no event, or one without values");
    for (const wye_event& wait : std::span(submission.waits, submission.wait_count)) {
        if (wait.timeline == nullptr) continue;
        if ((wait.flags & ~WYE_EVENT_ORDER_ONLY) != 0) return {};  // the plugin refuses it (P-7)
        WYE_TRY(event(wait));
        const std::uint64_t known = objects_.timelines.find(wait.timeline)->signalled;
        if (wait.value > known)
            return broken("the submit waits for the value " + number(wait.value) +
                          ", which nothing signals yet; the highest is " + number(known));
    }
    for (const wye_event& signal : std::span(submission.signals, submission.signal_count)) {
        if (signal.flags != 0) return {};  // the plugin refuses the signal (P-7)
        WYE_TRY(event(signal));
        const Timeline& timeline = *objects_.timelines.find(signal.timeline);
        if (timeline.of_queue) return broken("the submit signals the timeline of a queue");
        if (signal.value <= timeline.signalled)
            return broken("the submit signals the value " + number(signal.value) +
                          ", which is not above " + number(timeline.signalled));
    }
    const wye_operation* before = nullptr;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count)) {
        WYE_TRY(operation(one, {}));
        const bool again = one.kind == WYE_OPERATION_DISPATCH && one.u.dispatch.again != 0;
        if (again && !(before != nullptr && are_same(before->u.dispatch, one.u.dispatch)))
            return broken(
                "a launch has the hint `again`, but differs from the operation before it");
        before = one.kind == WYE_OPERATION_DISPATCH ? &one : nullptr;
    }
    return {};
}

}  // namespace wye::layers::validate
