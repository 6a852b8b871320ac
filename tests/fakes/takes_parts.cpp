// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, which accepts unknown flags, types, kinds and chain entries in
// one place (P-7). The configuration's "takes_parts.at" names the place: "host", "opening",
// "buffer", "queue", "timeline", "command", "submission", "artifact", "loaded", "slot",
// "operation", "launch", "binding", "trap", "indirect", "recorded" (operations of commands),
// "update", "signal", "failure", "handle", "any". To be used by one thread.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "over_cpu.hpp"
#include "wye/abi_native.h"
#include "wye/sdk/plugin.hpp"

namespace {

// The CPU plugin's own tables.
const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;

std::string at;
bool is(std::string_view what) { return at == what; }

// A copy of a description without its unknown parts. `flags`: the known flags, which stay.
template <typename Desc>
Desc without_unknown(const char* what, const Desc& desc, std::uint32_t flags = 0) {
    Desc out = desc;
    if (!is(what)) return out;
    out.header = {sizeof out, 0, nullptr};
    if constexpr (requires { out.flags; }) out.flags &= flags;
    return out;
}

// Copies of operations without their unknown parts, with memory for the bindings.
struct Operations {
    Operations(std::span<const wye_operation> from, bool in_command)
        : operations(from.begin(), from.end()), bindings(from.size()) {
        for (std::size_t i = 0; i < operations.size(); ++i) {
            wye_operation& op = operations[i];
            if (is("operation") && !in_command) take(op);
            if (is("recorded") && in_command) take(op);
            if (op.kind != WYE_OPERATION_DISPATCH) continue;
            wye_dispatch_op& launch = op.u.dispatch;
            if (is("launch"))
                launch.flags &= in_command ? WYE_LAUNCH_INDIRECT | WYE_LAUNCH_LATE_GRID
                                           : std::uint32_t{WYE_LAUNCH_INDIRECT};
            if (is("trap")) launch.trap.flags = 0;
            if (is("indirect")) launch.indirect.flags = 0;
            if (!is("binding")) continue;
            bindings[i].assign(launch.bindings, launch.bindings + launch.binding_count);
            for (wye_binding& one : bindings[i]) one.flags = 0;
            launch.bindings = bindings[i].data();
        }
    }
    static void take(wye_operation& op) {
        op.flags = 0;
        op.next = nullptr;
    }
    std::vector<wye_operation> operations;
    std::vector<std::vector<wye_binding>> bindings;
};

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    wye_submission other = without_unknown("submission", *submission, WYE_SUBMISSION_TIMED);
    const Operations taken({submission->operations, submission->operation_count}, false);
    other.operations = taken.operations.data();
    std::vector<wye_event> signals(submission->signals,
                                   submission->signals + submission->signal_count);
    for (wye_event& one : signals)
        if (is("signal")) one.flags = one.reserved = 0;
    other.signals = signals.data();
    return queue_behind->submit(queue, &other, error);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    const wye_queue_desc other = without_unknown("queue", *desc);
    const wye_status status =
        device_behind->queue_create(device, &other, out, timeline, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(queue_behind, table, [](wye_queue_table& t) { t.submit = submit; });
    return status;
}

wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                wye_error** error) {
    const std::uint32_t known = is("any") && any > 1 ? 1 : any;
    return device_behind->wait(device, events, count, known, timeout_ns, index, error);
}

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    wye_buffer_desc other = without_unknown("buffer", *desc);
    const auto* entry = static_cast<const wye_header*>(desc->header.next);
    if (!is("handle") || entry == nullptr ||
        entry->type != (WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL))
        return device_behind->buffer_create(device, &other, out, error);
    wye_native_memory memory = *reinterpret_cast<const wye_native_memory*>(entry);
    wye_native_handle handle = *memory.handle;
    handle.header.next = nullptr;
    memory.handle = &handle;
    other.header.next = &memory;
    return device_behind->buffer_create(device, &other, out, error);
}

wye_artifact known_artifact(const char* what, const wye_artifact& artifact,
                            std::vector<wye_slot>& slots) {
    wye_artifact out = without_unknown(what, artifact);
    slots.assign(artifact.slots, artifact.slots + artifact.slot_count);
    if (!is("slot")) return out;
    for (wye_slot& one : slots) one.flags = 0;
    std::erase_if(slots, [](const wye_slot& one) {
        return one.kind < WYE_SLOT_BUFFER || one.kind > WYE_SLOT_GRID_BARRIER;
    });
    out.slots = slots.data();
    out.slot_count = static_cast<std::uint32_t>(slots.size());
    return out;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    std::vector<wye_slot> slots;
    const wye_artifact other = known_artifact("artifact", *artifact, slots);
    return device_behind->program_create(device, &other, out, error);
}

wye_status program_save(wye_device_object*, wye_program_object*, wye_bytes* out, wye_error**) {
    *out = {"saved", 5};
    return WYE_OK;
}
wye_status program_load(wye_device_object* device, const wye_artifact* artifact, wye_bytes,
                        wye_program_object** out, wye_error** error) {
    std::vector<wye_slot> slots;
    const wye_artifact other = known_artifact("loaded", *artifact, slots);
    return device_behind->program_create(device, &other, out, error);
}

wye_status timeline_create(wye_device_object* device, const wye_timeline_desc* desc,
                           wye_timeline_object** out, wye_error** error) {
    const wye_timeline_desc other = without_unknown("timeline", *desc);
    return device_behind->timeline_create(device, &other, out, error);
}

wye_status timeline_fail(wye_device_object* device, const wye_event* event,
                         const wye_error_desc* failure, wye_error** error) {
    const wye_error_desc other = without_unknown("failure", *failure);
    return device_behind->timeline_fail(device, event, &other, error);
}

wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                          wye_command_object** out, wye_error** error) {
    wye_command_desc other = without_unknown("command", *desc, WYE_COMMAND_EDGES);
    const Operations taken({desc->operations, desc->operation_count}, true);
    other.operations = taken.operations.data();
    return device_behind->command_create(device, &other, out, error);
}

wye_status command_update(wye_device_object* device, wye_command_object* command,
                          std::uint64_t index, const wye_operation* operation, wye_error** error) {
    wye_operation other = *operation;
    if (is("update")) Operations::take(other);
    return device_behind->command_update(device, command, index, &other, error);
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_open_desc other = without_unknown("opening", *desc);
    const wye_status status = plugin_behind->open_device(plugin, &other, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.buffer_create = buffer_create;
        t.queue_create = queue_create;
        t.wait = wait;
        t.program_create = program_create;
        t.program_save = program_save;
        t.program_load = program_load;
        t.timeline_create = timeline_create;
        t.timeline_fail = timeline_fail;
        t.command_create = command_create;
        t.command_update = command_update;
    });
    return status;
}

wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    wye_string value{};
    if (host->config_get(host->self, wye::sdk::to_abi("takes_parts.at"), &value) == WYE_OK)
        at = wye::sdk::from_abi(value);
    static wye_host_table other;  // valid as long as the plugin
    other = without_unknown("host", *host);
    return plugin_behind->init(is("host") ? &other : host, minor, out, error);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return fake::query_over_cpu(hello, out, "takes_parts", plugin_behind,
                                [](wye_plugin_table& table) {
                                    table.init = init;
                                    table.open_device = open_device;
                                });
}
