// SPDX-License-Identifier: Apache-2.0
//
// A small plugin that keeps the contract. Device 0 is usable, and its buffers are host memory;
// device 1 is listed as unusable. Programs are refused. Queues run copies and fills during
// `submit`. Most fakes are this plugin with one thing broken. Header-only; each fake includes this
// file once. To be used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "wye/abi.h"

// The host knows none of these types.
struct wye_plugin_object {
    const wye_host_table* host;
};
struct wye_device_object {
    wye_plugin_object* plugin;
};
struct wye_buffer_object {
    unsigned char* bytes;
};
struct wye_queue_object {
    wye_device_object* device;
    std::uint64_t submitted;
};

namespace fake {

template <std::size_t N>
constexpr wye_string text(const char (&literal)[N]) {
    return {literal, N - 1};
}

inline wye_status fail(const wye_host_table* host, wye_error** sink, wye_status code,
                       wye_string message, wye_string fix) {
    if (sink != nullptr) {
        wye_error_desc desc{};
        desc.header.size = sizeof desc;
        desc.code = code;
        desc.message = message;
        desc.fix = fix;
        *sink = host->error_make(host->self, &desc);
    }
    return code;
}

inline bool has_critical_entry(const wye_header& header) {
    for (auto* entry = static_cast<const wye_header*>(header.next); entry != nullptr;
         entry = static_cast<const wye_header*>(entry->next))
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0) return true;
    return false;
}

// ---- Queue --------------------------------------------------------------------------------

// Refuses critical entries of a submission, since the fake knows none.
inline wye_status submit(wye_queue_object* queue, const wye_submission* submission,
                         wye_error** error) {
    if (has_critical_entry(submission->header))
        return fail(queue->device->plugin->host, error, WYE_UNSUPPORTED_EXTENSION,
                    text("the submission has an entry that the fake plugin does not know"),
                    text("Fix: leave it out"));
    for (std::uint64_t i = 0; i < submission->operation_count; ++i) {
        const wye_operation& op = submission->operations[i];
        const auto& copy = op.u.copy;
        const auto& fill = op.u.fill;
        const auto& transfer = op.u.transfer;
        switch (op.kind) {
            case WYE_OPERATION_COPY:
                std::memcpy(copy.target->bytes + copy.target_offset,
                            copy.source->bytes + copy.source_offset, copy.size);
                break;
            case WYE_OPERATION_FILL:
                for (std::uint64_t at = 0; at < fill.size; ++at)
                    fill.target->bytes[fill.offset + at] =
                        static_cast<unsigned char>(fill.pattern >> (8 * (at % fill.pattern_size)));
                break;
            case WYE_OPERATION_UPLOAD:
                std::memcpy(transfer.buffer->bytes + transfer.offset, transfer.source,
                            transfer.size);
                break;
            case WYE_OPERATION_DOWNLOAD:
                std::memcpy(transfer.target, transfer.buffer->bytes + transfer.offset,
                            transfer.size);
                break;
            default:
                return fail(queue->device->plugin->host, error, WYE_UNSUPPORTED,
                            text("the fake plugin runs no programs"), text("Fix: use another"));
        }
    }
    queue->submitted = submission->value;
    return WYE_OK;
}

inline void queue_destroy(wye_queue_object* queue) { std::free(queue); }

constexpr wye_queue_table make_queue_table() {
    wye_queue_table t{};
    t.header.size = sizeof t;
    t.submit = submit;
    t.destroy = queue_destroy;
    return t;
}
inline constexpr wye_queue_table kQueueTable = make_queue_table();

// ---- Device -------------------------------------------------------------------------------

inline wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                                wye_buffer_object** out, wye_error** error) {
    if (desc->usage >= WYE_BUFFER_USAGE_REGISTERED)
        return fail(device->plugin->host, error, WYE_UNSUPPORTED,
                    text("the fake plugin has no buffers of this usage"),
                    text("Fix: use another usage"));
    auto* buffer = static_cast<wye_buffer_object*>(std::malloc(sizeof(wye_buffer_object)));
    buffer->bytes = static_cast<unsigned char*>(std::calloc(desc->size + 16, 1));
    *out = buffer;
    return WYE_OK;
}
inline void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) {
    std::free(buffer->bytes);
    std::free(buffer);
}
inline wye_status program_create(wye_device_object* device, const wye_artifact*,
                                 wye_program_object**, wye_error** error) {
    return fail(device->plugin->host, error, WYE_COMPILE_FAILED,
                text("the fake plugin compiles nothing"), text("Fix: use another device"));
}
inline void program_destroy(wye_device_object*, wye_program_object*) {}
// The queue is its own timeline.
inline wye_status queue_create(wye_device_object* device, const wye_queue_desc*,
                               wye_queue_object** out, wye_timeline_object** timeline,
                               const wye_queue_table** table, wye_error**) {
    auto* queue = static_cast<wye_queue_object*>(std::malloc(sizeof(wye_queue_object)));
    *queue = {device, 0};
    *out = queue;
    *timeline = reinterpret_cast<wye_timeline_object*>(queue);
    *table = &kQueueTable;
    return WYE_OK;
}
inline wye_status query(wye_device_object*, const wye_event* event, wye_error**) {
    const auto* queue = reinterpret_cast<const wye_queue_object*>(event->timeline);
    return event->value <= queue->submitted ? WYE_OK : WYE_NOT_READY;
}
inline wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                       std::uint32_t, std::uint64_t, std::uint64_t*, wye_error** error) {
    for (std::uint64_t i = 0; i < count; ++i)
        if (query(device, &events[i], error) != WYE_OK) return WYE_TIMEOUT;
    return WYE_OK;
}
inline void device_close(wye_device_object* device) { std::free(device); }

constexpr wye_device_table make_device_table() {
    wye_device_table t{};
    t.header.size = sizeof t;
    t.buffer_create = buffer_create;
    t.buffer_destroy = buffer_destroy;
    t.program_create = program_create;
    t.program_destroy = program_destroy;
    t.queue_create = queue_create;
    t.query = query;
    t.wait = wait;
    t.close = device_close;
    return t;
}
inline constexpr wye_device_table kDeviceTable = make_device_table();

// A `queue_create` that gives queues the table `kTable`.
template <const wye_queue_table& kTable>
wye_status queue_create_with(wye_device_object* device, const wye_queue_desc* desc,
                             wye_queue_object** out, wye_timeline_object** timeline,
                             const wye_queue_table** table, wye_error** error) {
    const wye_status status = queue_create(device, desc, out, timeline, table, error);
    *table = &kTable;
    return status;
}
// ---- Plugin -------------------------------------------------------------------------------

inline wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                       wye_error** error) {
    if (host->header.type != 0 || has_critical_entry(host->header))
        return fail(host, error,
                    host->header.type != 0 ? WYE_UNSUPPORTED : WYE_UNSUPPORTED_EXTENSION,
                    text("the host's table has a part that the fake plugin does not know"),
                    text("Fix: leave it out"));
    auto* plugin = static_cast<wye_plugin_object*>(std::malloc(sizeof(wye_plugin_object)));
    plugin->host = host;
    *out = plugin;
    return WYE_OK;
}
inline wye_status probe_devices(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 2;
    return WYE_OK;
}

inline constexpr wye_string kFormats[] = {text("wye-program")};

inline wye_status device_info(wye_plugin_object*, std::uint32_t index, wye_device_info* out,
                              wye_error**) {
    out->name = index == 0 ? text("Fake device") : text("Broken device");
    out->formats = kFormats;
    out->format_count = 1;
    if (index == 0) return WYE_OK;
    out->state = WYE_DEVICE_UNUSABLE;
    out->native_code = -6;
    out->reason = text("the fake says so");
    out->fix = text("Fix: use fake device 0");
    return WYE_OK;
}

inline wye_status device_fact(wye_plugin_object*, std::uint32_t, std::uint32_t key, wye_fact* out) {
    static constexpr std::uint64_t kWidths[] = {1, 4};
    switch (key) {
        case WYE_FACT_KEY_INT64:
            out->type = WYE_FACT_BOOL;
            out->u = 1;
            return WYE_OK;
        case WYE_FACT_KEY_F64:
            out->type = WYE_FACT_BOOL;
            out->u = 0;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            out->type = WYE_FACT_U32X3;
            out->xyz[0] = 256;
            out->xyz[1] = 16;
            out->xyz[2] = 4;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            out->type = WYE_FACT_U64;
            out->u = 256;
            return WYE_OK;
        case WYE_FACT_KEY_L1_CACHE_BYTES:
            out->type = WYE_FACT_U64;
            out->u = 32768;
            out->source = text("invented");
            return WYE_OK;
        case WYE_FACT_KEY_SUBGROUP_SIZES:
            out->type = WYE_FACT_U64_LIST;
            out->list = kWidths;
            out->list_size = 2;
            return WYE_OK;
        case WYE_FACT_KEY_DEVICE_KIND:
            out->type = WYE_FACT_TEXT;
            out->text = text("other");
            return WYE_OK;
        default:
            return key < 0x7000 ? WYE_UNSUPPORTED : WYE_UNKNOWN_KEY;
    }
}

inline wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                              wye_device_object** out, const wye_device_table** table,
                              wye_error** error) {
    if (desc->flags != 0)
        return fail(plugin->host, error, WYE_UNSUPPORTED,
                    text("the fake plugin knows no flags of an opening"),
                    text("Fix: leave them out"));
    auto* device = static_cast<wye_device_object*>(std::malloc(sizeof(wye_device_object)));
    device->plugin = plugin;
    *out = device;
    *table = &kDeviceTable;
    return WYE_OK;
}
template <const wye_device_table& kTable>
wye_status open_device_with(wye_plugin_object* plugin, const wye_open_desc* desc,
                            wye_device_object** out, const wye_device_table** table,
                            wye_error** error) {
    const wye_status status = open_device(plugin, desc, out, table, error);
    *table = &kTable;
    return status;
}
inline void shutdown(wye_plugin_object* plugin) { std::free(plugin); }

constexpr wye_plugin_table make_plugin_table() {
    wye_plugin_table t{};
    t.header.size = sizeof t;
    t.init = init;
    t.probe_devices = probe_devices;
    t.device_info = device_info;
    t.device_fact = device_fact;
    t.open_device = open_device;
    t.shutdown = shutdown;
    return t;
}
inline constexpr wye_plugin_table kPluginTable = make_plugin_table();

constexpr wye_plugin_desc make_desc(wye_string id, const wye_plugin_table* table) {
    wye_plugin_desc d{};
    d.header.size = sizeof d;
    d.abi_major = WYE_ABI_MAJOR;
    d.abi_minor = WYE_ABI_MINOR;
    d.pointer_bytes = sizeof(void*);
    d.id = id;
    d.version = text("0.1.0");
    d.vendor = text("Wye tests");
    d.table = table;
    d.abi_draft = WYE_ABI_MINOR_DRAFT;
    d.minor_frozen = WYE_ABI_MINOR_FROZEN;
    return d;
}

// The answer of a query: `description`, unless the hello has a critical entry.
inline wye_status answer(const wye_hello* hello, const wye_plugin_desc* description,
                         const wye_plugin_desc** out) {
    if (has_critical_entry(hello->header)) return WYE_UNSUPPORTED_EXTENSION;
    *out = description;
    return WYE_OK;
}

}  // namespace fake

#define FAKE_EXPORT extern "C" WYE_PLUGIN_EXPORT
// Defines the query of a fake, which returns `description`.
#define FAKE_QUERY(description)                                              \
    FAKE_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,        \
                                              const wye_plugin_desc** out) { \
        return fake::answer(hello, &(description), out);                     \
    }
// Defines a fake whose description is the healthy one, changed by the statements `change` on `d`.
#define FAKE_DESC(name, change)                                          \
    static constexpr wye_plugin_desc kDesc = [] {                        \
        auto d = fake::make_desc(fake::text(name), &fake::kPluginTable); \
        change;                                                          \
        return d;                                                        \
    }();                                                                 \
    FAKE_QUERY(kDesc)
// Defines a fake whose plugin table is the healthy one, changed by the statements `change` on `t`.
#define FAKE_TABLE(name, change)                                                         \
    static constexpr wye_plugin_table kTable = [] {                                      \
        auto t = fake::kPluginTable;                                                     \
        change;                                                                          \
        return t;                                                                        \
    }();                                                                                 \
    static constexpr wye_plugin_desc kDesc = fake::make_desc(fake::text(name), &kTable); \
    FAKE_QUERY(kDesc)
// Defines a fake whose tables of devices and queues are the healthy ones, changed by the statements
// `change` on `t` (device) and `q` (queue). The second macro also changes the plugin table, by the
// statements `plugin_change` on `t`.
#define FAKE_DEVICE(name, change) FAKE_DEVICE_AND_PLUGIN(name, change, )
#define FAKE_DEVICE_AND_PLUGIN(name, change, plugin_change)         \
    static constexpr auto kTables = [] {                            \
        struct {                                                    \
            wye_device_table device;                                \
            wye_queue_table queue;                                  \
        } out{fake::make_device_table(), fake::make_queue_table()}; \
        [[maybe_unused]] auto& t = out.device;                      \
        [[maybe_unused]] auto& q = out.queue;                       \
        change;                                                     \
        return out;                                                 \
    }();                                                            \
    static constexpr wye_queue_table kQueue = kTables.queue;        \
    static constexpr wye_device_table kDevice = [] {                \
        auto t = kTables.device;                                    \
        t.queue_create = fake::queue_create_with<kQueue>;           \
        return t;                                                   \
    }();                                                            \
    FAKE_TABLE(name, t.open_device = fake::open_device_with<kDevice>; plugin_change)
