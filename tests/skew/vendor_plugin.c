/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin outside the tree, as a vendor would write it for a device with one fixed function. It is
 * C11, and the only file of Wye that it uses is wye/abi.h. The device runs programs named `scale`,
 * which compute `r[i] = x[i] * k + 7`, and the kit's program `sample`, which computes `r[i] = x[i]
 * + k`. Both run on the host during the submit. All other programs are refused.
 *
 * With REPORTS_LATER and the headers that future.py makes, the plugin reports to every host what
 * these headers have added: a format, a state of a device, a type of a fact, a status, a level of
 * the log, an extension. No real plugin may do so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wye/abi.h"
#ifdef REPORTS_LATER
#include "wye/abi_later.h"
static const wye_later_entry later_entry = {{sizeof later_entry, WYE_CHAIN_LATER, NULL}, 1};
#endif

#define TEXT(literal) \
    { (literal), sizeof(literal) - 1 }

#define MOST_BYTES (UINT64_C(1) << 30) /* maximum of a buffer */
#define MOST_ALIGNED 64

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
    uint32_t factor, sum; /* 0: the parameter k */
};
struct wye_queue_object {
    const wye_host_table* host;
    uint64_t newest; /* newest value; the queue is its own timeline */
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
#ifdef REPORTS_LATER
    desc.header.next = &later_entry;
    desc.flags = WYE_LATER_FLAG;
#endif
    if (sink != NULL) *sink = host->error_make(host->self, &desc);
    return code;
}

/* Fails with a sentence that ends with a number. */
static wye_status fail_by(const wye_host_table* host, wye_error** sink, wye_status code,
                          const char* sentence, uint64_t number) {
    static const wye_string fix = TEXT("Fix: leave it out, or choose another device");
    wye_string message;
    char said[128];
    message.data = said;
    message.size = (uint64_t)snprintf(said, sizeof said, "%s %" PRIu64, sentence, number);
    return fail(host, sink, code, message, fix);
}

/* Refuses all that a later minor may add: flags, types, kinds and critical chain entries. */
static wye_status known(const wye_host_table* host, const wye_header* header, uint32_t flags,
                        wye_error** sink) {
    const wye_header* entry;
    if (flags != 0) return fail_by(host, sink, WYE_UNSUPPORTED, "no flag is known here of", flags);
    if (header->type != 0)
        return fail_by(host, sink, WYE_UNSUPPORTED, "nothing is known here of type", header->type);
    for (entry = header->next; entry != NULL; entry = entry->next)
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0)
            return fail_by(host, sink, WYE_UNSUPPORTED_EXTENSION, "no entry is known here of type",
                           entry->type & ~WYE_CHAIN_CRITICAL);
    return WYE_OK;
}

/* ---- Plugin -------------------------------------------------------------------------------- */

static wye_status plugin_init(const wye_host_table* host, uint32_t minor, wye_plugin_object** out,
                              wye_error** error) {
    static const wye_string area = TEXT("vendor");
    const wye_status status = known(host, &host->header, 0, error);
    wye_plugin_object* plugin;
    wye_string text;
    char said[64];
    if (status != WYE_OK) return status;
    plugin = calloc(1, sizeof *plugin);
    if (plugin == NULL) return WYE_OUT_OF_MEMORY;
    plugin->host = host;
    *out = plugin;
    text.data = said;
    text.size = (uint64_t)snprintf(said, sizeof said, "the effective minor is %" PRIu32, minor);
    host->log(host->self, WYE_LOG_INFO, area, text);
#ifdef REPORTS_LATER
    host->log(host->self, WYE_LATER_LOG_LEVEL, area, text);
#endif
    return WYE_OK;
}

static wye_status plugin_probe_devices(wye_plugin_object* plugin, uint32_t* count,
                                       wye_error** error) {
    (void)plugin, (void)error;
    *count = 1;
#ifdef REPORTS_LATER
    *count = 2;
#endif
    return WYE_OK;
}

static wye_status plugin_device_info(wye_plugin_object* plugin, uint32_t index,
                                     wye_device_info* out, wye_error** error) {
    static const wye_string formats[] = {
#ifdef REPORTS_LATER
        TEXT(WYE_FORMAT_LATER),
#endif
        TEXT(WYE_FORMAT_PROGRAM)};
    static const wye_string name = TEXT("Fixed function");
    (void)plugin, (void)index, (void)error;
    out->name = name;
    out->state = WYE_DEVICE_USABLE;
#ifdef REPORTS_LATER
    if (index == 1) out->state = WYE_LATER_DEVICE_STATE;
#endif
    out->formats = formats;
    out->format_count = sizeof formats / sizeof *formats;
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
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            out->type = WYE_FACT_U64;
            out->u = MOST_ALIGNED;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            out->type = WYE_FACT_U64;
            out->u = 16384;
            return WYE_OK;
        case WYE_FACT_KEY_BARRIER:
            out->type = WYE_FACT_BOOL;
            out->u = 1;
            return WYE_OK;
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
        case WYE_FACT_KEY_MEMORY_BYTES:
            out->type = WYE_FACT_U64;
            out->u = MOST_BYTES;
            return WYE_OK;
        case WYE_FACT_KEY_DEVICE_KIND:
            out->type = WYE_FACT_TEXT;
            out->text = kind;
            return WYE_OK;
#ifdef REPORTS_LATER
        case WYE_FACT_KEY_L1_CACHE_BYTES:
        case WYE_FACT_KEY_LATER:
            out->type = WYE_LATER_FACT_TYPE;
            out->later[0] = 1;
            return WYE_OK;
        case WYE_FACT_KEY_L2_CACHE_BYTES:
            return WYE_LATER_STATUSES;
#endif
        default:
            break;
    }
    switch (key) {
#define KNOWN(name, number, json, type) case number:
        WYE_FACTS(KNOWN)
#undef KNOWN
        return WYE_UNSUPPORTED;
        default:
            return WYE_UNKNOWN_KEY;
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
    const wye_host_table* host = device->plugin->host;
    const wye_status status = known(host, &desc->header, desc->flags, error);
    wye_buffer_object* buffer;
    if (status != WYE_OK) return status;
    if (desc->usage > WYE_BUFFER_USAGE_STAGING)
        return fail_by(host, error, WYE_UNSUPPORTED, "there is no memory here of usage",
                       desc->usage);
    if (desc->alignment > MOST_ALIGNED)
        return fail_by(host, error, WYE_UNSUPPORTED, "no memory is aligned here to",
                       desc->alignment);
    if (desc->size > MOST_BYTES)
        return fail_by(host, error, WYE_DEVICE_MEMORY,
                       "a buffer has 1 GiB at most, not bytes:", desc->size);
    buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL) return WYE_OUT_OF_MEMORY;
    buffer->bytes =
        aligned_alloc(MOST_ALIGNED, (size_t)(desc->size / MOST_ALIGNED + 1) * MOST_ALIGNED);
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
    static const struct {
        wye_string name;
        wye_program_object program;
    } known_programs[] = {{TEXT("scale"), {0, 7}}, {TEXT("sample"), {1, 0}}};
    static const char format[] = WYE_FORMAT_PROGRAM;
#ifdef REPORTS_LATER
    const wye_status refusal = WYE_LATER_STATUSES;
#else
    const wye_status refusal = WYE_UNSUPPORTED;
#endif
    static const wye_string other_format = TEXT("this device takes the wire form of programs only");
    static const wye_string no_code = TEXT("the code is no wire form of a program");
    uint64_t size = 0;
    uint32_t i, flags = artifact->flags;
    wye_status status;
    for (i = 0; i < artifact->slot_count; ++i) {
        if (artifact->slots[i].kind == 0 || artifact->slots[i].kind > WYE_SLOT_GRID_BARRIER)
            return fail_by(device->plugin->host, error, WYE_UNSUPPORTED,
                           "there is no slot here of kind", artifact->slots[i].kind);
        flags |= artifact->slots[i].flags;
    }
    status = known(device->plugin->host, &artifact->header, flags, error);
    if (status != WYE_OK) return status;
    if (artifact->format.size != sizeof format - 1 ||
        memcmp(artifact->format.data, format, sizeof format - 1) != 0)
        return fail(device->plugin->host, error, WYE_UNSUPPORTED, other_format, fix);
    if (artifact->code.size >= 24) memcpy(&size, (const char*)artifact->code.data + 16, 8);
    if (size == 0 || size != artifact->code.size || memcmp(artifact->code.data, "WYEP", 4) != 0)
        return fail(device->plugin->host, error, WYE_INVALID_WIRE, no_code, fix);
    for (i = 0; i < sizeof known_programs / sizeof *known_programs; ++i)
        if (artifact->label.size == known_programs[i].name.size &&
            memcmp(artifact->label.data, known_programs[i].name.data, artifact->label.size) == 0)
            break;
    if (i == sizeof known_programs / sizeof *known_programs)
        return fail(device->plugin->host, error, refusal, message, fix);
    *out = calloc(1, sizeof **out);
    if (*out == NULL) return WYE_OUT_OF_MEMORY;
    **out = known_programs[i].program;
    return WYE_OK;
}

static void program_destroy(wye_device_object* device, wye_program_object* program) {
    (void)device;
    free(program);
}

/* The device's function is fixed, so the saved form is only a word. */
static const char saved_form[] = "fixed function 1";

static wye_status program_save(wye_device_object* device, wye_program_object* program,
                               wye_bytes* out, wye_error** error) {
    (void)device, (void)program, (void)error;
    out->data = saved_form;
    out->size = sizeof saved_form;
    return WYE_OK;
}

static wye_status program_load(wye_device_object* device, const wye_artifact* artifact,
                               wye_bytes saved, wye_program_object** out, wye_error** error) {
    static const wye_string message = TEXT("the saved program is another device's");
    static const wye_string fix = TEXT("Fix: none needed, it is compiled again");
    if (saved.size != sizeof saved_form || memcmp(saved.data, saved_form, sizeof saved_form) != 0)
        return fail(device->plugin->host, error, WYE_UNSUPPORTED, message, fix);
    return program_create(device, artifact, out, error);
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

/* All work ends during its submit, so this function never needs to sleep. */
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

static void dispatch(const wye_dispatch_op* op) {
    const wye_binding *x = &op->bindings[0], *r = &op->bindings[1];
    uint32_t k, word;
    uint64_t i;
    memcpy(&k, op->params, sizeof k);
    for (i = 0; i < x->elements && i < r->elements; ++i) {
        memcpy(&word, x->buffer->bytes + x->offset + i * 4, 4);
        word = word * (op->program->factor == 0 ? k : op->program->factor) +
               (op->program->sum == 0 ? k : op->program->sum);
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
            if (operation->u.dispatch.groups[0] != 0) dispatch(&operation->u.dispatch);
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
    wye_status status = known(queue->host, &submission->header,
                              submission->flags & ~(uint32_t)WYE_SUBMISSION_TIMED, error);
    uint64_t i;
    for (i = 0; i < submission->operation_count && status == WYE_OK; ++i) {
        const wye_operation* operation = &submission->operations[i];
        const wye_header header = {sizeof header, 0, operation->next};
        uint32_t flags = operation->flags;
        if (operation->kind == WYE_OPERATION_DISPATCH)
            flags |= operation->u.dispatch.flags | operation->u.dispatch.bindings[0].flags |
                     operation->u.dispatch.bindings[1].flags | operation->u.dispatch.trap.flags |
                     operation->u.dispatch.indirect.flags;
        status = operation->kind == 0 || operation->kind > WYE_OPERATION_DOWNLOAD
                     ? fail_by(queue->host, error, WYE_UNSUPPORTED,
                               "there is no operation here of kind", operation->kind)
                     : known(queue->host, &header, flags, error);
    }
    for (i = 0; i < submission->wait_count && status == WYE_OK; ++i) {
        /* All work ends during its submit, so a submit can only wait for values that were
         * submitted. */
        const wye_event* event = &submission->waits[i];
        const wye_header header = {sizeof header, device_query(NULL, event, NULL) != WYE_OK, NULL};
        status = known(queue->host, &header,
                       (event->flags & ~(uint32_t)WYE_EVENT_ORDER_ONLY) | event->reserved, error);
    }
    if (status != WYE_OK) return status;
    for (i = 0; i < submission->operation_count; ++i) run(&submission->operations[i]);
    queue->newest = submission->value;
    return WYE_OK;
}

static void queue_destroy(wye_queue_object* queue) { free(queue); }

/* ---- What a later minor added -------------------------------------------------------------- */

#ifdef REPORTS_LATER
static wye_status device_later(wye_device_object* device, uint64_t argument, wye_error** error) {
    (void)device, (void)argument, (void)error;
    return WYE_LATER_STATUSES;
}

static const void* device_extension(wye_device_object* device, wye_string name, uint32_t version) {
    static const wye_later_table later = {{sizeof later, 0, NULL}, device_later};
    static const char known_name[] = WYE_EXTENSION_LATER;
    const int same = name.size == sizeof known_name - 1 && version == 1 &&
                     memcmp(name.data, known_name, sizeof known_name - 1) == 0;
    (void)device;
    return same ? &later : NULL;
}

static wye_status table_later(void* object, uint64_t argument, wye_error** error) {
    (void)object, (void)argument, (void)error;
    return WYE_LATER_STATUSES;
}
#endif

/* ---- Tables -------------------------------------------------------------------------------- */

static const wye_queue_table queue_table = {
    .header = {sizeof(wye_queue_table), 0, NULL},
    .submit = queue_submit,
    .destroy = queue_destroy,
#ifdef REPORTS_LATER
    .later = table_later,
#endif
};

static const wye_device_table device_table = {
    .header = {sizeof(wye_device_table), 0, NULL},
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .program_save = program_save,
    .program_load = program_load,
    .queue_create = queue_create,
    .query = device_query,
    .wait = device_wait,
    .close = device_close,
#ifdef REPORTS_LATER
    .get_extension = device_extension,
    .later = table_later,
#endif
};

static const wye_plugin_table plugin_table = {
    .header = {sizeof(wye_plugin_table), 0, NULL},
    .init = plugin_init,
    .probe_devices = plugin_probe_devices,
    .device_info = plugin_device_info,
    .device_fact = plugin_device_fact,
    .open_device = plugin_open_device,
    .shutdown = plugin_shutdown,
#ifdef REPORTS_LATER
    .later = table_later,
#endif
};

static const wye_plugin_desc plugin_desc = {
#ifdef REPORTS_LATER
    .header = {sizeof(wye_plugin_desc), 0, &later_entry},
    .build_flags = WYE_BUILD_LATER,
#else
    .header = {sizeof(wye_plugin_desc), 0, NULL},
#endif
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
