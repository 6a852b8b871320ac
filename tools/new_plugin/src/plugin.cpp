// SPDX-License-Identifier: Apache-2.0
//
// The acme plugin: one device, which is this machine's processor, so that the plugin can be tried
// without hardware. Replace it piece by piece: plugin-tutorial.md goes through all slots.
//
// Each noun of the contract has its file: buffer.hpp, program.hpp, and queue.hpp (with timelines).
// This file has the device, the slots, the tables and the export. The contract is wye/abi.h; the
// rules (P-1, ...) are in plugin-abi.md.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "buffer.hpp"
#include "host.hpp"
#include "program.hpp"
#include "queue.hpp"

// ---- Objects: opaque to the host ---------------------------------------------------------------

struct wye_plugin_object {
    const wye_host_table& host;  // valid until shutdown
    driver::Tools tools;
    std::uint64_t memory_bytes;
};

struct wye_device_object {
    wye_plugin_object& plugin;
    driver::Progress progress;
};

namespace {

using driver::buffer_of;
using driver::Failure;
using driver::guard;
using driver::refuse;
using driver::timeline_of;

constexpr wye_string literal(std::string_view text) { return {text.data(), text.size()}; }

driver::Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<driver::Program*>(object);
}

// ---- Plugin ------------------------------------------------------------------------------------

// A real plugin opens its vendor's library here, by its versioned soname, and looks up its
// functions. If the library is absent, the error WYE_MISSING_DEPENDENCY names it.
wye_status plugin_init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                       wye_error** error) {
    return guard(*host, error, [&] {
        driver::refuse_unknown(host->header, 0, "the host's table");
        const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
        const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        *out = new wye_plugin_object{*host, driver::Tools(*host), pages * bytes};
        return WYE_OK;
    });
}

// Counts devices, including unusable ones, and opens none.
wye_status plugin_probe_devices(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 1;
    return WYE_OK;
}

wye_status plugin_device_info(wye_plugin_object* plugin, std::uint32_t, wye_device_info* out,
                              wye_error**) {
    static constexpr wye_string kFormats[] = {literal(driver::kFormat)};
    out->name = literal("acme (simulated by the processor)");
    out->formats = kFormats;
    out->format_count = std::size(kFormats);
    if (!plugin->tools.installed()) {
        out->state = WYE_DEVICE_UNUSABLE;
        out->reason = literal(driver::kToolsMissing);
        out->fix = literal(driver::kToolsFix);
    }
    return WYE_OK;
}

// Each function sets the type and the value of a fact, and leaves the fact's header, which the host
// has set.
wye_status set_flag(wye_fact& out) {
    out.type = WYE_FACT_BOOL;
    out.u = 1;
    return WYE_OK;
}
wye_status set_number(wye_fact& out, std::uint64_t value) {
    out.type = WYE_FACT_U64;
    out.u = value;
    return WYE_OK;
}
wye_status set_triple(wye_fact& out, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    out.type = WYE_FACT_U32X3;
    out.xyz[0] = x, out.xyz[1] = y, out.xyz[2] = z;
    return WYE_OK;
}
wye_status set_text(wye_fact& out, std::string_view value) {
    out.type = WYE_FACT_TEXT;
    out.text = literal(value);
    return WYE_OK;
}

// Whether the abi.h with which this plugin was built declares the fact.
bool is_known(std::uint32_t key) {
    switch (key) {
#define ACME_CASE(name, number, json, type) case number:
        WYE_FACTS(ACME_CASE)
#undef ACME_CASE
        return true;
        default:
            return false;
    }
}

// Returns WYE_UNSUPPORTED for a fact that the device does not report. A capability is then absent,
// and a limit unknown. Facts never change.
wye_status plugin_device_fact(wye_plugin_object* plugin, std::uint32_t, std::uint32_t key,
                              wye_fact* out) {
    for (const std::uint32_t claimed : driver::kCapabilities)
        if (key == claimed) return set_flag(*out);
    switch (key) {
        // One thread runs a workgroup, on its stack, so the limits are small.
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            return set_triple(*out, 256, 256, 256);
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return set_number(*out, 256);
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            return set_triple(*out, UINT32_MAX, UINT32_MAX, UINT32_MAX);
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            return set_number(*out, 32U << 10U);
        case WYE_FACT_KEY_MAX_PRIVATE_BYTES:
            return set_number(*out, 4U << 10U);
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            return set_number(*out, 1U << 10U);
        case WYE_FACT_KEY_MAX_BUFFERS:
            return set_number(*out, 64);
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            return set_number(*out, 1);
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
        case WYE_FACT_KEY_MEMORY_BYTES:
            return set_number(*out, plugin->memory_bytes);
        case WYE_FACT_KEY_UNIFIED_MEMORY:
        case WYE_FACT_KEY_HOST_PROCESSOR:  // a real device does not report this
            return set_flag(*out);
        case WYE_FACT_KEY_DEVICE_KIND:
            return set_text(*out, "cpu");
        case WYE_FACT_KEY_VENDOR:
        case WYE_FACT_KEY_PLATFORM:
            return set_text(*out, "acme");
        case WYE_FACT_KEY_DRIVER:
            return set_text(*out, ACME_VERSION);
        default:
            return is_known(key) ? WYE_UNSUPPORTED : WYE_UNKNOWN_KEY;
    }
}

// The host has destroyed all objects before this call. A later init starts anew.
void plugin_shutdown(wye_plugin_object* plugin) { delete plugin; }

// ---- Device ------------------------------------------------------------------------------------

extern const wye_device_table kDeviceTable;
extern const wye_queue_table kQueueTable;

wye_status device_open(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    return guard(plugin->host, error, [&] {
        driver::refuse_unknown(desc->header, desc->flags, "an opening");
        *out = new wye_device_object{*plugin, {}};
        *table = &kDeviceTable;
        return WYE_OK;
    });
}

void device_close(wye_device_object* device) { delete device; }

// ---- Buffer ------------------------------------------------------------------------------------

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    return guard(device->plugin.host, error, [&] {
        auto* buffer = new driver::Buffer(*desc, device->plugin.memory_bytes);
        *out = reinterpret_cast<wye_buffer_object*>(buffer);
        return WYE_OK;
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) { delete &buffer_of(buffer); }

// The host can read and write these buffers. Mappings are coherent, so `buffer_sync` is left out.
wye_status buffer_map(wye_device_object*, wye_buffer_object* buffer, wye_mapping* out,
                      wye_error**) {
    out->address = buffer_of(buffer).at(0);
    out->flags = WYE_MAPPING_CACHED;
    return WYE_OK;
}

// ---- Program -----------------------------------------------------------------------------------

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    return guard(device->plugin.host, error, [&] {
        auto* program = new driver::Program(device->plugin.tools, *artifact);
        *out = reinterpret_cast<wye_program_object*>(program);
        return WYE_OK;
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    delete &program_of(program);
}

// ---- Queue -------------------------------------------------------------------------------------

struct QueueObject {
    wye_device_object& device;
    driver::Queue queue;
};

// Kind and priority are hints, which this device ignores.
wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    return guard(device->plugin.host, error, [&] {
        driver::refuse_unknown(desc->header, desc->flags, "a queue's description");
        auto* queue = new QueueObject{*device, driver::Queue(device->progress)};
        *out = reinterpret_cast<wye_queue_object*>(queue);
        *timeline = reinterpret_cast<wye_timeline_object*>(&queue->queue.timeline());
        *table = &kQueueTable;
        return WYE_OK;
    });
}

void fill(const wye_fill_op& op) {
    std::byte* const target = buffer_of(op.target).at(op.offset);
    for (std::uint64_t at = 0; at < op.size; at += op.pattern_size)
        std::memcpy(target + at, &op.pattern, op.pattern_size);
}

// Returns an operation with copies of its arguments, since `op` is valid during the call only.
driver::Operation operation_of(const wye_operation& op) {
    if (op.flags != 0) refuse("operation flags " + std::to_string(op.flags));
    driver::refuse_critical(op.next);
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            if (op.u.dispatch.flags != 0)
                refuse("launch flags " + std::to_string(op.u.dispatch.flags));
            for (std::uint32_t b = 0; b < op.u.dispatch.binding_count; ++b)
                if (op.u.dispatch.bindings[b].flags != 0) refuse("flags of a binding");
            if ((op.u.dispatch.trap.flags | op.u.dispatch.indirect.flags) != 0)
                refuse("flags of a binding");
            return program_of(op.u.dispatch.program).launch(op.u.dispatch);
        case WYE_OPERATION_COPY:
            return [copy = op.u.copy] {
                std::memcpy(buffer_of(copy.target).at(copy.target_offset),
                            buffer_of(copy.source).at(copy.source_offset), copy.size);
            };
        case WYE_OPERATION_FILL:
            return [op = op.u.fill] { fill(op); };
        case WYE_OPERATION_UPLOAD:  // the host's memory stays valid until the value is reached
            return [to = op.u.transfer] {
                std::memcpy(buffer_of(to.buffer).at(to.offset), to.source, to.size);
            };
        case WYE_OPERATION_DOWNLOAD:
            return [from = op.u.transfer] {
                std::memcpy(from.target, buffer_of(from.buffer).at(from.offset), from.size);
            };
        default:
            refuse("operation " + std::to_string(op.kind));
    }
}

// Queues all operations or none, and does not wait for them.
wye_status queue_submit(wye_queue_object* object, const wye_submission* submission,
                        wye_error** error) {
    auto& queue = *reinterpret_cast<QueueObject*>(object);
    return guard(queue.device.plugin.host, error, [&] {
        driver::refuse_unknown(submission->header, submission->flags, "a submission",
                               WYE_SUBMISSION_TIMED);
        for (std::uint64_t i = 0; i < submission->wait_count; ++i)
            if ((submission->waits[i].flags & ~std::uint32_t{WYE_EVENT_ORDER_ONLY}) != 0 ||
                submission->waits[i].reserved != 0)
                refuse("flags of a wait");
        if (submission->signal_count != 0) refuse("timelines that submits signal");
        driver::Submit submit{
            submission->value, driver::waits_of({submission->waits, submission->wait_count}), {}};
        for (std::uint64_t i = 0; i < submission->operation_count; ++i)
            submit.operations.push_back(operation_of(submission->operations[i]));
        queue.queue.submit(std::move(submit));
        return WYE_OK;
    });
}

void queue_destroy(wye_queue_object* object) { delete reinterpret_cast<QueueObject*>(object); }

// ---- Timeline ----------------------------------------------------------------------------------

wye_status timeline_query(wye_device_object* device, const wye_event* event, wye_error** error) {
    return guard(device->plugin.host, error, [&] {
        const std::lock_guard lock(device->progress.mutex);
        return timeline_of(event->timeline).reached(event->value) ? WYE_OK : WYE_NOT_READY;
    });
}

wye_status timeline_wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                         std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                         wye_error** error) {
    std::uint64_t ended = count;
    const wye_status status = guard(device->plugin.host, error, [&] {
        if (any > 1) refuse("a wait with `any` = " + std::to_string(any));
        driver::wait(device->progress, {events, count}, any != 0, timeout_ns, ended);
        return WYE_OK;
    });
    if (index != nullptr && ended < count) *index = ended;
    return status;
}

wye_status timeline_retire(wye_device_object* device, const wye_event* event, wye_error** error) {
    return guard(device->plugin.host, error, [&] {
        const std::lock_guard lock(device->progress.mutex);
        timeline_of(event->timeline).retire(event->value);
        return WYE_OK;
    });
}

// ---- Tables ------------------------------------------------------------------------------------

// Slots that are left out are null. abi.h says what the host then does instead.
constexpr wye_queue_table queue_table() {
    wye_queue_table table{};
    table.header.size = sizeof table;
    table.submit = queue_submit;
    table.destroy = queue_destroy;
    return table;
}

constexpr wye_device_table device_table() {
    wye_device_table table{};
    table.header.size = sizeof table;
    table.buffer_create = buffer_create;
    table.buffer_destroy = buffer_destroy;
    table.buffer_map = buffer_map;
    table.program_create = program_create;
    table.program_destroy = program_destroy;
    table.queue_create = queue_create;
    table.query = timeline_query;
    table.wait = timeline_wait;
    table.retire = timeline_retire;
    table.close = device_close;
    return table;
}

constexpr wye_plugin_table plugin_table() {
    wye_plugin_table table{};
    table.header.size = sizeof table;
    table.init = plugin_init;
    table.probe_devices = plugin_probe_devices;
    table.device_info = plugin_device_info;
    table.device_fact = plugin_device_fact;
    table.open_device = device_open;
    table.shutdown = plugin_shutdown;
    return table;
}

constexpr wye_queue_table kQueueTable = queue_table();
constexpr wye_device_table kDeviceTable = device_table();
constexpr wye_plugin_table kPluginTable = plugin_table();

constexpr wye_plugin_desc plugin_desc() {
    wye_plugin_desc desc{};
    desc.header.size = sizeof desc;
    desc.abi_major = WYE_ABI_MAJOR;
    desc.abi_minor = WYE_ABI_MINOR;
    desc.abi_draft = WYE_ABI_MINOR_DRAFT;
    desc.minor_frozen = WYE_ABI_MINOR_FROZEN;
    desc.host_minor_needed = 0;  // the oldest host minor that this plugin works with
    desc.pointer_bytes = sizeof(void*);
    desc.id = literal("acme");
    desc.version = literal(ACME_VERSION);
    desc.vendor = literal("acme");
    desc.table = &kPluginTable;
    return desc;
}

constexpr wye_plugin_desc kDesc = plugin_desc();

}  // namespace

// The only exported function. Pure: it starts no thread and asks no driver.
extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    if (hello->header.size < WYE_SIZE_TO(wye_hello, minor_frozen)) return WYE_ABI_MISMATCH;
    // This plugin knows no entry of the chain.
    for (auto entry = static_cast<const wye_header*>(hello->header.next); entry != nullptr;
         entry = static_cast<const wye_header*>(entry->next))
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0) return WYE_UNSUPPORTED_EXTENSION;
    *out = &kDesc;
    return WYE_OK;
}
