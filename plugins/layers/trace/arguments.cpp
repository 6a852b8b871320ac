// SPDX-License-Identifier: Apache-2.0
#include "layers/trace/arguments.hpp"

#include <array>
#include <string>
#include <utility>

#include "wye/sdk/native_wait.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/words.hpp"

namespace wye::layers::trace {
namespace {

using sdk::from_abi;

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"init", "host,minor,plugin,error"},
    {"probe_devices", "count,error"},
    {"device_info", "index,info,error"},
    {"device_fact", "index,key,fact"},
    {"open_device", "desc,device,table,error"},
    {"translate", "index,artifact,format,code,error"},
    {"translate_release", "code"},
    {"get_extension", "name,version"},
    {"buffer_create", "desc,buffer,error"},
    {"buffer_destroy", "buffer"},
    {"buffer_map", "buffer,mapping,error"},
    {"buffer_sync", "buffer,offset,size,direction,error"},
    {"program_create", "artifact,program,error"},
    {"program_destroy", "program"},
    {"program_info", "program,info,error"},
    {"queue_create", "desc,queue,timeline,table,error"},
    {"query", "event,error"},
    {"wait", "events,count,any,timeout_ns,index,error"},
    {"retire", "event,error"},
    {"timeline_create", "desc,timeline,error"},
    {"timeline_destroy", "timeline"},
    {"timeline_signal", "event,error"},
    {"timeline_fail", "event,failure,error"},
    {"memory_info", "info,error"},
    {"program_save", "program,saved,error"},
    {"program_load", "artifact,saved,program,error"},
    {"command_create", "desc,command,error"},
    {"command_destroy", "command"},
    {"command_info", "command,info,error"},
    {"command_update", "command,index,operation,error"},
    {"submit", "submission,error"},
    {"timing", "value,timing,error"},
    {"cancel", "first,last,error"},
    {"info", "info,error"},
    {"native_device", "handle,error"},
    {"native_queue", "queue,handle,error"},
    {"native_buffer", "buffer,handle,error"},
    {"layout_counts", "counts,error"},
    {"lose", "error"},
    {"compiler_identity", "identity"},
};

std::string_view operation_name(std::uint32_t kind) {
    constexpr std::string_view kNames[] = {"unknown", "dispatch", "copy",   "fill",
                                           "upload",  "download", "execute"};
    return sdk::name_in(kNames, kind);
}

std::string groups_text(const std::uint32_t (&groups)[3]) {
    return std::to_string(groups[0]) + "x" + std::to_string(groups[1]) + "x" +
           std::to_string(groups[2]);
}

// Describes each operation with its size: "dispatch 4x1x1, copy 64".
std::string operations_text(const wye_operation* operations, std::uint64_t count) {
    constexpr std::uint64_t kMost = 8;
    std::string out;
    for (std::uint64_t i = 0; i < count && i < kMost; ++i) {
        const wye_operation& one = operations[i];
        out += i == 0 ? "" : ", ";
        out += operation_name(one.kind);
        if (one.kind == WYE_OPERATION_DISPATCH)
            out += " " + groups_text(one.u.dispatch.groups);
        else if (one.kind == WYE_OPERATION_COPY)
            out += " " + std::to_string(one.u.copy.size);
        else if (one.kind == WYE_OPERATION_FILL)
            out += " " + std::to_string(one.u.fill.size);
        else if (one.kind == WYE_OPERATION_UPLOAD || one.kind == WYE_OPERATION_DOWNLOAD)
            out += " " + std::to_string(one.u.transfer.size);
    }
    if (count > kMost) out += ", and " + std::to_string(count - kMost) + " more";
    return out;
}

void label(Fields& out, wye_string text) {
    if (text.size != 0) out.text("label", from_abi(text));
}

}  // namespace

std::string_view argument_names(std::string_view slot) noexcept {
    for (const auto& [name, arguments] : kNames)
        if (name == slot) return arguments;
    return "error";
}

std::string_view status_name(wye_status status) noexcept {
    switch (status) {
#define WYE_TRACE_STATUS(name, value, text) \
    case value:                             \
        return #name;
        WYE_STATUSES(WYE_TRACE_STATUS)
#undef WYE_TRACE_STATUS
        default:
            return "unknown";
    }
}

void in(Fields& out, std::string_view name, std::uint32_t value) { out.number(name, value); }
void in(Fields& out, std::string_view name, std::uint64_t value) { out.number(name, value); }
void in(Fields& out, std::string_view name, wye_string value) { out.text(name, from_abi(value)); }
void in(Fields& out, std::string_view name, wye_bytes value) {
    out.number(std::string(name) + "_bytes", value.size);
}

void in(Fields& out, std::string_view, const wye_artifact* value) {
    out.text("format", from_abi(value->format));
    label(out, value->label);
    out.number("code_bytes", value->code.size);
    out.number("bindings", value->binding_count);
    out.text("workgroup", groups_text(value->workgroup_size));
}

void in(Fields& out, std::string_view, const wye_buffer_desc* value) {
    out.number("size", value->size);
    out.number("alignment", value->alignment);
    out.number("usage", value->usage);
    label(out, value->label);
}

void in(Fields& out, std::string_view, const wye_command_desc* value) {
    out.text("operations", operations_text(value->operations, value->operation_count));
    out.number("edges", value->edge_count);
    out.number("slots", value->slot_count);
    out.number("params_bytes", value->params_size);
    label(out, value->label);
}

void in(Fields& out, std::string_view, const wye_error_desc* value) {
    out.text("failure", from_abi(value->message));
}

void in(Fields& out, std::string_view, const wye_event* value) {
    if (value == nullptr) return;
    out.object("timeline", value->timeline);
    out.number("value", value->value);
}

void in(Fields& out, std::string_view name, const wye_operation* value) {
    out.text(name, operations_text(value, 1));
}

void in(Fields& out, std::string_view, const wye_queue_desc* value) {
    out.number("kind", value->kind);
    out.integer("priority", value->priority);
    label(out, value->label);
}

void in(Fields& out, std::string_view, const wye_submission* value) {
    out.number("value", value->value);
    out.text("operations", operations_text(value->operations, value->operation_count));
    if (value->wait_count != 0) out.number("waits", value->wait_count);
    if (value->signal_count != 0) out.number("signals", value->signal_count);
    if (const wye_native_wait* native = sdk::native_wait(value->header))
        out.text("native_wait", from_abi(native->event->values[0].type));
    if (value->flags != 0) out.number("flags", value->flags);
}

void in(Fields& out, std::string_view, const wye_timeline_desc* value) { label(out, value->label); }

void out_of(Fields& out, std::string_view name, const std::uint32_t& value) {
    out.number(name, value);
}
void out_of(Fields& out, std::string_view name, const std::uint64_t& value) {
    out.number(name, value);
}
void out_of(Fields& out, std::string_view name, const wye_bytes& value) {
    out.number(std::string(name) + "_bytes", value.size);
}
void out_of(Fields& out, std::string_view name, const wye_string& value) {
    out.text(name, from_abi(value));
}

void out_of(Fields& out, std::string_view, const wye_command_info& value) {
    out.number("native", value.native);
    out.number("most_pending", value.most_pending);
    out.number("bytes", value.bytes);
}

void out_of(Fields& out, std::string_view, const wye_device_info& value) {
    out.text("name", from_abi(value.name));
    out.number("state", value.state);
    if (value.reason.size != 0) out.text("reason", from_abi(value.reason));
}

void out_of(Fields& out, std::string_view name, const wye_fact& value) {
    switch (value.type) {
        case WYE_FACT_BOOL:
        case WYE_FACT_U64:
            return out.number(name, value.u);
        case WYE_FACT_F64:
            return out.real(name, value.f);
        case WYE_FACT_TEXT:
            return out.text(name, from_abi(value.text));
        case WYE_FACT_U32X3:
            return out.text(name, groups_text(value.xyz));
        default:
            return out.number("values", value.list_size);
    }
}

void out_of(Fields& out, std::string_view, const wye_layout_counts& value) {
    out.number("made", value.made);
    out.number("shared", value.shared);
}

void out_of(Fields& out, std::string_view, const wye_mapping& value) {
    out.object("address", value.address);
    out.number("flags", value.flags);
}

void out_of(Fields& out, std::string_view, const wye_memory_info& value) {
    out.number("total_bytes", value.total_bytes);
    out.number("free_bytes", value.free_bytes);
}

void out_of(Fields& out, std::string_view, const wye_native_handle& value) {
    if (value.count == 0) return;
    out.text("type", from_abi(value.values[0].type));
    out.number("handle", value.values[0].value);
}

void out_of(Fields& out, std::string_view, const wye_program_info& value) {
    out.number("max_invocations", value.max_invocations);
    out.number("registers", value.registers);
    out.number("shared_bytes", value.shared_bytes);
}

void out_of(Fields& out, std::string_view, const wye_queue_info& value) {
    out.number("granted_kind", value.kind);
    out.integer("granted_priority", value.priority);
    out.number("native_index", value.native_index);
}

void out_of(Fields& out, std::string_view, const wye_timing& value) {
    out.number("device_ns", value.device_ns);
    out.number("begin_ns", value.begin_ns);
    out.number("end_ns", value.end_ns);
}

}  // namespace wye::layers::trace
