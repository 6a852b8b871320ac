/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin out of tree, as a vendor of a device with one fixed function would write it. It is C11
 * and uses only wye/abi.h of Wye. The device runs programs named `scale`, which compute
 * `r[i] = x[i] * k + 7`, on the host during the submit. It refuses all other programs. */
#include <stdlib.h>
#include <string.h>

#include "wye/abi.h"

#define TEXT(literal) \
    { (literal), sizeof(literal) - 1 }

struct wye_plugin_object {
    const wye_host_table* host;
};
struct wye_device_object {
    struct wye_plugin_object* plugin;
};
struct wye_buffer_object {
    unsigned char* bytes;
};
struct wye_program_object {
    int unused;
};
struct wye_queue_object {
    const wye_host_table* host;
    uint64_t newest; /* value of the queue's timeline, which is the queue itself */
};

static const wye_device_table device_table;
static const wye_queue_table queue_table;

static wye_status fail(const wye_host_table* host, wye_error** sink, wye_status code,
                       wye_string message, wye_string fix) {
    wye_error_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.header.size = (uint32_t)sizeof desc;
    desc.code = code;
    desc.message = message;
    desc.fix = fix;
    if (sink != NULL) *sink = host->error_make(host->self, &desc);
    return code;
}

/* Refuses what a later minor may add: flags, types and critical entries of a chain. */
static wye_status known(const wye_host_table* host, const wye_header* header, uint32_t flags,
                        wye_error** sink) {
    static const wye_string message = TEXT("a part of the call is not known here");
    static const wye_string fix = TEXT("Fix: leave it out");
    const wye_header* entry;
    if ((flags | header->type) != 0) return fail(host, sink, WYE_UNSUPPORTED, message, fix);
    for (entry = header->next; entry != NULL; entry = entry->next)
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0)
            return fail(host, sink, WYE_UNSUPPORTED_EXTENSION, message, fix);
    return WYE_OK;
}

/* ---- Plugin -------------------------------------------------------------------------------- */

static wye_status plugin_init(const wye_host_table* host, uint32_t minor, wye_plugin_object** out,
                              wye_error** error) {
    const wye_status status = known(host, &host->header, 0, error);
    wye_plugin_object* plugin;
    (void)minor;
    if (status != WYE_OK) return status;
    plugin = calloc(1, sizeof *plugin);
    if (plugin == NULL) return WYE_OUT_OF_MEMORY;
    plugin->host = host;
    *out = plugin;
    return WYE_OK;
}

static wye_status plugin_probe_devices(wye_plugin_object* plugin, uint32_t* count,
                                       wye_error** error) {
    (void)plugin, (void)error;
    *count = 1;
    return WYE_OK;
}

static wye_status plugin_device_info(wye_plugin_object* plugin, uint32_t index,
                                     wye_device_info* out, wye_error** error) {
    static const wye_string formats[] = {TEXT(WYE_FORMAT_PROGRAM)};
    static const wye_string name = TEXT("Fixed function");
    (void)plugin, (void)index, (void)error;
    out->name = name;
    out->state = WYE_DEVICE_USABLE;
    out->formats = formats;
    out->format_count = 1;
    return WYE_OK;
}

static wye_status plugin_device_fact(wye_plugin_object* plugin, uint32_t index, uint32_t key,
                                     wye_fact* out) {
    static const wye_string kind = TEXT("accelerator");
    (void)plugin, (void)index;
    switch (key) {
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            out->type = WYE_FACT_U32X3;
            out->xyz[0] = out->xyz[1] = out->xyz[2] = 1024;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            out->type = WYE_FACT_U64;
            out->u = 1024;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_BUFFERS:
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            out->type = WYE_FACT_U64;
            out->u = 64;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
        case WYE_FACT_KEY_MEMORY_BYTES:
            out->type = WYE_FACT_U64;
            out->u = UINT64_C(1) << 30;
            return WYE_OK;
        case WYE_FACT_KEY_DEVICE_KIND:
            out->type = WYE_FACT_TEXT;
            out->text = kind;
            return WYE_OK;
        default:
            return WYE_UNSUPPORTED;
    }
}

static wye_status plugin_open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                                     wye_device_object** out, const wye_device_table** table,
                                     wye_error** error) {
    const wye_status status = known(plugin->host, &desc->header, desc->flags, error);
    wye_device_object* device;
    if (status != WYE_OK) return status;
    device = calloc(1, sizeof *device);
    if (device == NULL) return WYE_OUT_OF_MEMORY;
    device->plugin = plugin;
    *out = device;
    *table = &device_table;
    return WYE_OK;
}

static void plugin_shutdown(wye_plugin_object* plugin) { free(plugin); }

/* ---- Device -------------------------------------------------------------------------------- */

static wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                                wye_buffer_object** out, wye_error** error) {
    static const wye_string message = TEXT("this device has no memory of that kind or alignment");
    static const wye_string fix = TEXT("Fix: ask for a buffer of the usage DEVICE");
    const uint64_t most_aligned = 64;
    const wye_status status = known(device->plugin->host, &desc->header, desc->flags, error);
    wye_buffer_object* buffer;
    if (status != WYE_OK) return status;
    if (desc->usage > WYE_BUFFER_USAGE_SHARED || desc->alignment > most_aligned)
        return fail(device->plugin->host, error, WYE_UNSUPPORTED, message, fix);
    buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL) return WYE_OUT_OF_MEMORY;
    buffer->bytes = aligned_alloc(64, (size_t)(desc->size / 64 + 1) * 64);
    if (buffer->bytes == NULL) {
        free(buffer);
        return WYE_OUT_OF_MEMORY;
    }
    *out = buffer;
    return WYE_OK;
}

static void buffer_destroy(wye_device_object* device, wye_buffer_object* buffer) {
    (void)device;
    free(buffer->bytes);
    free(buffer);
}

static wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                                 wye_program_object** out, wye_error** error) {
    static const wye_string message = TEXT("this device runs programs named `scale` only");
    static const wye_string fix = TEXT("Fix: choose another device");
    static const char name[] = "scale";
    const wye_status status =
        known(device->plugin->host, &artifact->header, artifact->flags, error);
    if (status != WYE_OK) return status;
    if (artifact->label.size != sizeof name - 1 ||
        memcmp(artifact->label.data, name, sizeof name - 1) != 0)
        return fail(device->plugin->host, error, WYE_UNSUPPORTED, message, fix);
    *out = calloc(1, sizeof **out);
    return *out == NULL ? WYE_OUT_OF_MEMORY : WYE_OK;
}

static void program_destroy(wye_device_object* device, wye_program_object* program) {
    (void)device;
    free(program);
}

static wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                               wye_queue_object** out, wye_timeline_object** timeline,
                               const wye_queue_table** table, wye_error** error) {
    const wye_status status = known(device->plugin->host, &desc->header, desc->flags, error);
    wye_queue_object* queue;
    if (status != WYE_OK) return status;
    queue = calloc(1, sizeof *queue);
    if (queue == NULL) return WYE_OUT_OF_MEMORY;
    queue->host = device->plugin->host;
    *out = queue;
    *timeline = (wye_timeline_object*)(void*)queue;
    *table = &queue_table;
    return WYE_OK;
}

static wye_status device_query(wye_device_object* device, const wye_event* event,
                               wye_error** error) {
    const wye_queue_object* queue = (const wye_queue_object*)(const void*)event->timeline;
    (void)device, (void)error;
    return event->value <= queue->newest ? WYE_OK : WYE_NOT_READY;
}

/* Work ends during its submit, so this never needs to sleep. */
static wye_status device_wait(wye_device_object* device, const wye_event* events, uint64_t count,
                              uint32_t any, uint64_t timeout_ns, uint64_t* index,
                              wye_error** error) {
    const wye_header none = {sizeof none, 0, NULL};
    uint64_t i, reached = 0;
    (void)timeout_ns;
    if (any > 1) return known(device->plugin->host, &none, any, error);
    for (i = 0; i < count; ++i) {
        if (device_query(device, &events[i], error) != WYE_OK) continue;
        if (index != NULL && any != 0) *index = i;
        ++reached;
    }
    return reached == count || (any != 0 && reached != 0) ? WYE_OK : WYE_TIMEOUT;
}

static void device_close(wye_device_object* device) { free(device); }

/* ---- Queue --------------------------------------------------------------------------------- */

static void scale(const wye_dispatch_op* op) {
    const wye_binding *x = &op->bindings[0], *r = &op->bindings[1];
    uint32_t k, word;
    uint64_t i;
    memcpy(&k, op->params, sizeof k);
    for (i = 0; i < x->elements && i < r->elements; ++i) {
        memcpy(&word, x->buffer->bytes + x->offset + i * 4, 4);
        word = word * k + 7;
        memcpy(r->buffer->bytes + r->offset + i * 4, &word, 4);
    }
}

static void run(const wye_operation* operation) {
    const wye_copy_op* copy = &operation->u.copy;
    const wye_fill_op* fill = &operation->u.fill;
    const wye_transfer_op* transfer = &operation->u.transfer;
    uint64_t i;
    switch (operation->kind) {
        case WYE_OPERATION_DISPATCH:
            if (operation->u.dispatch.groups[0] != 0) scale(&operation->u.dispatch);
            break;
        case WYE_OPERATION_COPY:
            memcpy(copy->target->bytes + copy->target_offset,
                   copy->source->bytes + copy->source_offset, copy->size);
            break;
        case WYE_OPERATION_FILL:
            for (i = 0; i < fill->size; i += fill->pattern_size)
                memcpy(fill->target->bytes + fill->offset + i, &fill->pattern, fill->pattern_size);
            break;
        case WYE_OPERATION_UPLOAD:
            memcpy(transfer->buffer->bytes + transfer->offset, transfer->source, transfer->size);
            break;
        default:
            memcpy(transfer->target, transfer->buffer->bytes + transfer->offset, transfer->size);
            break;
    }
}

static wye_status queue_submit(wye_queue_object* queue, const wye_submission* submission,
                               wye_error** error) {
    wye_status status = known(queue->host, &submission->header, submission->flags, error);
    uint64_t i;
    for (i = 0; i < submission->operation_count && status == WYE_OK; ++i) {
        const wye_operation* operation = &submission->operations[i];
        const wye_header header = {sizeof header, operation->kind > WYE_OPERATION_DOWNLOAD,
                                   operation->next};
        status = known(queue->host, &header, operation->flags, error);
    }
    for (i = 0; i < submission->wait_count && status == WYE_OK; ++i) {
        /* Work ends during its submit, so only what was submitted can be waited for. */
        const wye_event* event = &submission->waits[i];
        const wye_header header = {sizeof header, device_query(NULL, event, NULL) != WYE_OK, NULL};
        status = known(queue->host, &header, event->flags & ~WYE_EVENT_ORDER_ONLY, error);
    }
    if (status != WYE_OK) return status;
    for (i = 0; i < submission->operation_count; ++i) run(&submission->operations[i]);
    queue->newest = submission->value;
    return WYE_OK;
}

static void queue_destroy(wye_queue_object* queue) { free(queue); }

/* ---- Tables -------------------------------------------------------------------------------- */

static const wye_queue_table queue_table = {
    .header = {sizeof(wye_queue_table), 0, NULL},
    .submit = queue_submit,
    .destroy = queue_destroy,
};

static const wye_device_table device_table = {
    .header = {sizeof(wye_device_table), 0, NULL},
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .queue_create = queue_create,
    .query = device_query,
    .wait = device_wait,
    .close = device_close,
};

static const wye_plugin_table plugin_table = {
    .header = {sizeof(wye_plugin_table), 0, NULL},
    .init = plugin_init,
    .probe_devices = plugin_probe_devices,
    .device_info = plugin_device_info,
    .device_fact = plugin_device_fact,
    .open_device = plugin_open_device,
    .shutdown = plugin_shutdown,
};

static const wye_plugin_desc plugin_desc = {
    .header = {sizeof(wye_plugin_desc), 0, NULL},
    .abi_major = WYE_ABI_MAJOR,
    .abi_minor = WYE_ABI_MINOR,
    .host_minor_needed = 0,
    .pointer_bytes = sizeof(void*),
    .id = TEXT("vendor"),
    .version = TEXT("1.0.0"),
    .vendor = TEXT("Vendor"),
    .table = &plugin_table,
    .abi_draft = WYE_ABI_MINOR_DRAFT,
    .minor_frozen = WYE_ABI_MINOR_FROZEN,
};

WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                const wye_plugin_desc** out);
WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                const wye_plugin_desc** out) {
    if (hello->header.size < WYE_SIZE_TO(wye_hello, minor_frozen)) return WYE_ABI_MISMATCH;
    for (const wye_header* entry = hello->header.next; entry != NULL; entry = entry->next)
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0) return WYE_UNSUPPORTED_EXTENSION;
    *out = &plugin_desc;
    return WYE_OK;
}
