// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <span>

#include "layers/validate/checks.hpp"
#include "layers/validate/pending.hpp"

namespace wye::layers::validate {
namespace {

// Records an object that the plugin made.
template <typename Object, typename Pointer>
void keep(DeviceNode& node, std::string_view slot, Pointer* at, Object object) {
    Plugin& plugin = node.plugin().state();
    bool added = true;
    {
        const sdk::Lock lock(plugin.mutex);
        added = node.state().objects.of(at).add(at, std::move(object));
    }
    if (!added)
        plugin.breaches.add(
            Side::plugin, "P-12", slot, at,
            "the new " + std::string(Object::kNoun) + " is one that is alive already");
}

// Checks that an object to destroy is alive and that no pending work uses it. Removes the object
// from the record.
template <typename Pointer>
Result<void> ends(DeviceNode& node, std::string_view slot, Pointer* at) {
    Plugin& plugin = node.plugin().state();
    Uses uses;
    std::string noun;
    {
        const sdk::Lock lock(plugin.mutex);
        WYE_TRY(checks_of(plugin, node.state()).usable(at, true));
        auto& kind = node.state().objects.of(at);
        auto& object = *kind.find(at);
        noun = std::remove_reference_t<decltype(object)>::kNoun;
        uses = std::move(object.uses);
        kind.remove(at);
        node.state().objects.end_commands_of(at, noun);
        std::erase_if(node.state().native,
                      [&](const auto& handle) { return handle.first.second == at; });
    }
    for (const auto& [timeline, value] : uses)
        if (is_pending(node, {timeline, value, 0, 0}))
            plugin.breaches.add(Side::host, "P-56", slot, at,
                                "the " + noun + " is destroyed while the value " + number(value) +
                                    " of a timeline, which is pending, uses it");
    return {};
}

template <typename Pointer>
Result<void> is_usable(DeviceNode& node, Pointer* at) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).usable(at);
}

// ---- Commands ----

void add_name(Command& command, wye_buffer_object* at) {
    if (at != nullptr) command.buffers.insert(at);
}
void add_name(Command& command, wye_program_object* at) {
    if (at != nullptr) command.programs.insert(at);
}

// Adds the programs and buffers that an operation names. `objects` are the objects of the command's
// device.
void add_names(Command& command, Objects& objects, const wye_operation& operation) {
    if (operation.kind == WYE_OPERATION_COPY) {
        add_name(command, operation.u.copy.source);
        add_name(command, operation.u.copy.target);
    } else if (operation.kind == WYE_OPERATION_FILL) {
        add_name(command, operation.u.fill.target);
    } else if (operation.kind == WYE_OPERATION_DISPATCH) {
        const wye_dispatch_op& op = operation.u.dispatch;
        const Program* program = objects.programs.find(op.program);
        add_name(command, op.program);
        add_name(command, op.trap.buffer);
        add_name(command, op.indirect.buffer);
        if (program != nullptr && op.bindings != nullptr)
            for (const wye_binding& binding : std::span(op.bindings, program->bindings))
                add_name(command, binding.buffer);
    }
}

Program program_of(const wye_artifact& artifact) {
    Program out;
    out.bindings = artifact.binding_count;
    out.params_size = artifact.params_size;
    for (const wye_slot& slot : std::span(artifact.slots, artifact.slot_count))
        out.traps = out.traps || slot.kind == WYE_SLOT_TRAP;
    return out;
}

}  // namespace

// ---- Buffers -----------------------------------------------------------------------------------

Result<void> before(slot::device::buffer_create, DeviceNode& node, Frame&,
                    const wye_buffer_desc* desc, wye_buffer_object**, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).buffer(*desc);
}

void after(slot::device::buffer_create, DeviceNode& node, Frame&, wye_status status,
           const wye_buffer_desc* desc, wye_buffer_object** out, wye_error**) {
    if (status != WYE_OK || *out == nullptr) return;
    Buffer made;
    made.size = desc->size;
    made.alignment = desc->alignment;
    made.usage = desc->usage;
    if (desc->usage == WYE_BUFFER_USAGE_REGISTERED) {
        made.mapped = desc->memory;
        if (node.state().limits.host_memory_alignment == 0)
            node.plugin().state().breaches.add(
                Side::plugin, "P-48", "buffer_create", *out,
                "a buffer of the usage REGISTERED is made without the fact host_memory_alignment");
    }
    keep(node, "buffer_create", *out, std::move(made));
}

Result<void> before(slot::device::buffer_destroy, DeviceNode& node, Frame&,
                    wye_buffer_object* buffer) {
    return ends(node, "buffer_destroy", buffer);
}

Result<void> before(slot::device::buffer_map, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    wye_mapping*, wye_error**) {
    return is_usable(node, buffer);
}

void after(slot::device::buffer_map, DeviceNode& node, Frame&, wye_status status,
           wye_buffer_object* buffer, wye_mapping* out, wye_error**) {
    if (status != WYE_OK) return;
    Plugin& plugin = node.plugin().state();
    Buffer known;
    {
        const sdk::Lock lock(plugin.mutex);
        Buffer* found = node.state().objects.buffers.find(buffer);
        if (found == nullptr) return;
        if (found->mapped == nullptr) found->mapped = out->address;
        known = *found;
    }
    const auto breach = [&](std::string_view rule, const std::string& text) {
        plugin.breaches.add(Side::plugin, rule, "buffer_map", buffer, text);
    };
    if (out->address == nullptr) breach("P-12", "the mapping has no address");
    if (out->reserved != 0) breach("P-7", "the mapping has a reserved member that is not zero");
    if (out->address != known.mapped)
        breach(known.usage == WYE_BUFFER_USAGE_REGISTERED ? "P-48" : "P-39",
               "the mapping is at another address than before");
    if (reinterpret_cast<std::uintptr_t>(out->address) % known.alignment != 0)
        breach("P-38", "the mapping is not aligned to " + number(known.alignment) + " bytes");
}

Result<void> before(slot::device::buffer_sync, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    std::uint64_t offset, std::uint64_t size, std::uint32_t direction,
                    wye_error**) {
    if (direction != WYE_SYNC_TO_DEVICE && direction != WYE_SYNC_TO_HOST)
        return Error(Code::INVALID_ARGUMENT, "the direction " + number(direction) + " is not known",
                     "Fix: correct the call");
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).range(buffer, offset, size);
}

// ---- Programs ----------------------------------------------------------------------------------

Result<void> before(slot::device::program_create, DeviceNode& node, Frame&,
                    const wye_artifact* artifact, wye_program_object**, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).artifact(*artifact);
}

void after(slot::device::program_create, DeviceNode& node, Frame&, wye_status status,
           const wye_artifact* artifact, wye_program_object** out, wye_error**) {
    if (status == WYE_OK && *out != nullptr)
        keep(node, "program_create", *out, program_of(*artifact));
}

Result<void> before(slot::device::program_load, DeviceNode& node, Frame& frame,
                    const wye_artifact* artifact, wye_bytes saved, wye_program_object** out,
                    wye_error** error) {
    if (saved.size != 0 && saved.data == nullptr)
        return Error(Code::INVALID_ARGUMENT, "the saved bytes are null", "Fix: correct the call");
    return before(slot::device::program_create{}, node, frame, artifact, out, error);
}

void after(slot::device::program_load, DeviceNode& node, Frame&, wye_status status,
           const wye_artifact* artifact, wye_bytes, wye_program_object** out, wye_error**) {
    if (status == WYE_OK && *out != nullptr)
        keep(node, "program_load", *out, program_of(*artifact));
}

Result<void> before(slot::device::program_destroy, DeviceNode& node, Frame&,
                    wye_program_object* program) {
    return ends(node, "program_destroy", program);
}

Result<void> before(slot::device::program_info, DeviceNode& node, Frame&,
                    wye_program_object* program, wye_program_info*, wye_error**) {
    return is_usable(node, program);
}

Result<void> before(slot::device::program_save, DeviceNode& node, Frame&,
                    wye_program_object* program, wye_bytes*, wye_error**) {
    return is_usable(node, program);
}

void after(slot::device::program_save, DeviceNode& node, Frame&, wye_status status,
           wye_program_object* program, wye_bytes* out, wye_error**) {
    if (status == WYE_OK && out->data == nullptr)
        node.plugin().state().breaches.add(Side::plugin, "P-12", "program_save", program,
                                           "it succeeds without bytes");
}

// ---- Commands ----------------------------------------------------------------------------------

Result<void> before(slot::device::command_create, DeviceNode& node, Frame&,
                    const wye_command_desc* desc, wye_command_object**, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).command(*desc);
}

void after(slot::device::command_create, DeviceNode& node, Frame&, wye_status status,
           const wye_command_desc* desc, wye_command_object** out, wye_error**) {
    if (status != WYE_OK || *out == nullptr) return;
    Command made;
    made.slots = desc->slot_count;
    made.params_size = desc->params_size;
    {
        const sdk::Lock lock(node.plugin().state().mutex);
        for (const wye_operation& one : std::span(desc->operations, desc->operation_count)) {
            const bool dispatch = one.kind == WYE_OPERATION_DISPATCH;
            made.operations.emplace_back(one.kind, dispatch ? one.u.dispatch.program : nullptr);
            add_names(made, node.state().objects, one);
        }
    }
    keep(node, "command_create", *out, std::move(made));
}

Result<void> before(slot::device::command_destroy, DeviceNode& node, Frame&,
                    wye_command_object* command) {
    return ends(node, "command_destroy", command);
}

Result<void> before(slot::device::command_info, DeviceNode& node, Frame&,
                    wye_command_object* command, wye_command_info*, wye_error**) {
    return is_usable(node, command);
}

void after(slot::device::command_info, DeviceNode& node, Frame&, wye_status status,
           wye_command_object* command, wye_command_info* out, wye_error**) {
    if (status != WYE_OK) return;
    Plugin& plugin = node.plugin().state();
    {
        const sdk::Lock lock(plugin.mutex);
        if (Command* known = node.state().objects.commands.find(command))
            known->most_pending = out->most_pending;
    }
    if (out->native > 1 || out->late_params > WYE_LATE_RECORD ||
        out->late_slots > WYE_LATE_RECORD || out->late_grid > WYE_LATE_RECORD)
        plugin.breaches.add(Side::plugin, "P-42", "command_info", command,
                            "the verdict has a number that the contract does not know");
}

Result<void> before(slot::device::command_update, DeviceNode& node, Frame& frame,
                    wye_command_object* command, std::uint64_t index,
                    const wye_operation* operation, wye_error**) {
    Plugin& plugin = node.plugin().state();
    settle(node, {&command, 1});
    {
        const sdk::Lock lock(plugin.mutex);
        WYE_TRY(checks_of(plugin, node.state()).update(command, index, *operation));
    }
    enter(node, frame, "command_update", {&command, 1});
    return {};
}

void after(slot::device::command_update, DeviceNode& node, Frame&, wye_status status,
           wye_command_object* command, std::uint64_t, const wye_operation* operation,
           wye_error**) {
    if (status != WYE_OK) return;
    const sdk::Lock lock(node.plugin().state().mutex);
    Objects& objects = node.state().objects;
    if (Command* known = objects.commands.find(command)) add_names(*known, objects, *operation);
}

}  // namespace wye::layers::validate
