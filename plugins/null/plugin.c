/* SPDX-License-Identifier: Apache-2.0
 *
 * The null plugin: every slot of the contract in C11, without implementation. It finds no
 * devices, so the host never opens one. Copy this file to start a plugin; README.md says how.
 *
 * The sections have the order of the other plugins: plugin, device, buffer, program, queue,
 * timeline, command. Every slot may be called from any thread, since nothing here changes after
 * `init`.
 */
#include <stdlib.h>
#include <string.h>

#include "wye/abi.h"

#define TEXT(literal) \
    { (literal), sizeof(literal) - 1 }

/* ---- Objects of the plugin; opaque to the host --------------------------------------------- */

/* The state between init and shutdown. A real plugin also holds its driver's functions and its list
 * of devices. */
struct wye_plugin_object {
    const wye_host_table* host; /* valid until shutdown */
    uint32_t minor;             /* the negotiated minor version: use nothing that was added later */
};
struct wye_device_object {
    struct wye_plugin_object* plugin;
};
struct wye_buffer_object {
    uint64_t size;
};
struct wye_program_object {
    uint32_t binding_count;
};
struct wye_queue_object {
    struct wye_device_object* device;
    uint64_t newest; /* timeline: the value of the latest submit */
};

/* A real plugin counts its devices in probe_devices. */
static const uint32_t device_count = 0;

static const wye_device_table device_table;
static const wye_queue_table queue_table;

/* Reports a failure through the host; `sink` may be null. Returns `code`. */
static wye_status fail(const wye_host_table* host, wye_error** sink, wye_status code,
                       wye_string message, wye_string fix) {
    if (sink != NULL) {
        wye_error_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.header.size = (uint32_t)sizeof desc;
        desc.code = code;
        desc.message = message;
        desc.fix = fix;
        *sink = host->error_make(host->self, &desc);
    }
    return code;
}

static wye_status unsupported(const wye_host_table* host, wye_error** sink) {
    const wye_string message = TEXT("the null plugin has no devices");
    const wye_string fix = TEXT("Fix: choose a device of another plugin");
    return fail(host, sink, WYE_UNSUPPORTED, message, fix);
}

/* Refuse additions of later minor versions to a structure: flags, a type, and critical chain
 * entries. Skip other chain entries. */
static wye_status refuse_unknown(const wye_host_table* host, const wye_header* header,
                                 uint32_t flags, wye_error** sink) {
    const wye_string message = TEXT("the null plugin does not know a part of a description");
    const wye_string fix = TEXT("Fix: leave it out, or use a newer plugin");
    const wye_header* entry;
    if ((flags | header->type) != 0) return fail(host, sink, WYE_UNSUPPORTED, message, fix);
    for (entry = header->next; entry != NULL; entry = entry->next)
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0)
            return fail(host, sink, WYE_UNSUPPORTED_EXTENSION, message, fix);
    return WYE_OK;
}

/* ---- Plugin -------------------------------------------------------------------------------- */

/* Open vendor libraries here, by versioned soname. Return WYE_MISSING_DEPENDENCY if one is absent.
 */
static wye_status plugin_init(const wye_host_table* host, uint32_t minor, wye_plugin_object** out,
                              wye_error** error) {
    const wye_status known = refuse_unknown(host, &host->header, 0, error);
    wye_plugin_object* plugin;
    if (known != WYE_OK) return known;
    plugin = calloc(1, sizeof *plugin);
    if (plugin == NULL)
        return WYE_OUT_OF_MEMORY; /* the only failure that may come without an error */
    plugin->host = host;
    plugin->minor = minor;
    *out = plugin;
    return WYE_OK;
}

/* Must be cheap: list devices, but create no context. Count unusable devices too; device_info gives
 * the reason. */
static wye_status plugin_probe_devices(wye_plugin_object* plugin, uint32_t* out_count,
                                       wye_error** error) {
    (void)plugin, (void)error;
    *out_count = device_count;
    return WYE_OK;
}

static wye_status plugin_device_info(wye_plugin_object* plugin, uint32_t index,
                                     wye_device_info* out, wye_error** error) {
    (void)index, (void)out;
    return unsupported(plugin->host, error);
}

/* Return WYE_UNSUPPORTED for a fact that the device does not report, and WYE_UNKNOWN_KEY for an
 * unknown key. Never claim too much: an absent fact counts as "no". */
static wye_status plugin_device_fact(wye_plugin_object* plugin, uint32_t index, uint32_t key,
                                     wye_fact* out) {
    (void)plugin, (void)index, (void)key, (void)out;
    return WYE_UNSUPPORTED;
}

static wye_status plugin_translate(wye_plugin_object* plugin, uint32_t index,
                                   const wye_artifact* artifact, wye_string format, wye_bytes* out,
                                   wye_error** error) {
    (void)index, (void)artifact, (void)format, (void)out;
    return unsupported(plugin->host, error);
}

static void plugin_translate_release(wye_plugin_object* plugin, wye_bytes bytes) {
    (void)plugin, (void)bytes; /* translate never returns bytes */
}

static const void* plugin_get_extension(wye_plugin_object* plugin, wye_string name,
                                        uint32_t version) {
    (void)plugin, (void)name, (void)version;
    return NULL;
}

/* Join all threads of the plugin here. A later init starts anew. */
static void plugin_shutdown(wye_plugin_object* plugin) { free(plugin); }

/* ---- Device -------------------------------------------------------------------------------- */

/* Refuse flags and critical chain entries that are unknown here, as in every description. */
static wye_status device_open(wye_plugin_object* plugin, const wye_open_desc* desc,
                              wye_device_object** out, const wye_device_table** table,
                              wye_error** error) {
    wye_device_object* device;
    const wye_status known = refuse_unknown(plugin->host, &desc->header, desc->flags, error);
    if (known != WYE_OK) return known;
    if (desc->index >= device_count) return unsupported(plugin->host, error);
    device = calloc(1, sizeof *device);
    if (device == NULL) return WYE_OUT_OF_MEMORY;
    device->plugin = plugin;
    *out = device;
    *table = &device_table;
    return WYE_OK;
}

static wye_status device_memory_info(wye_device_object* device, wye_memory_info* out,
                                     wye_error** error) {
    (void)device, (void)error;
    out->total_bytes = 0;
    out->free_bytes = UINT64_MAX; /* unknown */
    return WYE_OK;
}

static wye_status device_prepare(wye_device_object* device, wye_error** error) {
    (void)device, (void)error;
    return WYE_OK;
}

static wye_status device_flush(wye_device_object* device, wye_error** error) {
    (void)device, (void)error;
    return WYE_OK;
}

static uint32_t device_lost(wye_device_object* device) {
    (void)device;
    return 0;
}

static wye_status device_try_recover(wye_device_object* device, wye_error** error) {
    return unsupported(device->plugin->host, error);
}

static const void* device_get_extension(wye_device_object* device, wye_string name,
                                        uint32_t version) {
    (void)device, (void)name, (void)version;
    return NULL;
}

static void device_close(wye_device_object* device) { free(device); }

/* ---- Buffer -------------------------------------------------------------------------------- */

/* Even a buffer of 0 bytes must have one readable element. Refuse an alignment that the device
 * cannot provide. */
static wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                                wye_buffer_object** out, wye_error** error) {
    (void)desc, (void)out;
    return unsupported(device->plugin->host, error);
}

static void buffer_destroy(wye_device_object* device, wye_buffer_object* buffer) {
    (void)device;
    free(buffer);
}

/* Leave this slot null if no buffer can be mapped, and buffer_sync null if mappings are coherent.
 */
static wye_status buffer_map(wye_device_object* device, wye_buffer_object* buffer, wye_mapping* out,
                             wye_error** error) {
    (void)buffer, (void)out;
    return unsupported(device->plugin->host, error);
}

static wye_status buffer_sync(wye_device_object* device, wye_buffer_object* buffer, uint64_t offset,
                              uint64_t size, uint32_t direction, wye_error** error) {
    (void)buffer, (void)offset, (void)size, (void)direction;
    return unsupported(device->plugin->host, error);
}

/* ---- Program ------------------------------------------------------------------------------- */

/* Compile here. The message of WYE_COMPILE_FAILED must have the compiler's log. */
static wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                                 wye_program_object** out, wye_error** error) {
    (void)artifact, (void)out;
    return unsupported(device->plugin->host, error);
}

static void program_destroy(wye_device_object* device, wye_program_object* program) {
    (void)device;
    free(program);
}

/* Set the members that the driver reports; 0 means unknown. */
static wye_status program_info(wye_device_object* device, wye_program_object* program,
                               wye_program_info* out, wye_error** error) {
    (void)device, (void)program, (void)out, (void)error;
    return WYE_OK;
}

/* Leave save and load null if programs cannot be saved. The host then keeps no programs on disk. */
static wye_status program_save(wye_device_object* device, wye_program_object* program,
                               wye_bytes* out, wye_error** error) {
    (void)program, (void)out;
    return unsupported(device->plugin->host, error);
}

static wye_status program_load(wye_device_object* device, const wye_artifact* artifact,
                               wye_bytes saved, wye_program_object** out, wye_error** error) {
    (void)artifact, (void)saved, (void)out;
    return unsupported(device->plugin->host, error);
}

/* ---- Queue --------------------------------------------------------------------------------- */

/* In this plugin the queue object is also its timeline object. */
static wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                               wye_queue_object** out, wye_timeline_object** timeline,
                               const wye_queue_table** table, wye_error** error) {
    const wye_host_table* host = device->plugin->host;
    const wye_status known = refuse_unknown(host, &desc->header, desc->flags, error);
    wye_queue_object* queue;
    if (known != WYE_OK) return known;
    queue = calloc(1, sizeof *queue);
    if (queue == NULL) return WYE_OUT_OF_MEMORY;
    queue->device = device;
    *out = queue;
    *timeline = (wye_timeline_object*)(void*)queue;
    *table = &queue_table;
    return WYE_OK;
}

/* Queue all operations, or fail and queue none. If the driver refuses an operation after others
 * were queued, accept the submission, and let its value fail. Store the value of an accepted
 * submission. Never wait for the device here. A wait with WYE_EVENT_ORDER_ONLY ends when its value
 * is reached or has failed; refuse other flags of waits. */
static wye_status queue_submit(wye_queue_object* queue, const wye_submission* submission,
                               wye_error** error) {
    (void)submission;
    return unsupported(queue->device->plugin->host, error);
}

/* Must block until all submitted work has ended. */
static void queue_destroy(wye_queue_object* queue) { free(queue); }

/* ---- Timeline ------------------------------------------------------------------------------ */

/* Returns WYE_OK, WYE_NOT_READY, or the status with which this value failed. The failure of a value
 * does not affect other values. */
static wye_status timeline_query(wye_device_object* device, const wye_event* event,
                                 wye_error** error) {
    const wye_queue_object* queue = (const wye_queue_object*)(const void*)event->timeline;
    (void)device, (void)error;
    return event->value <= queue->newest ? WYE_OK : WYE_NOT_READY;
}

/* A real plugin sleeps here instead of polling. */
static wye_status timeline_wait(wye_device_object* device, const wye_event* events, uint64_t count,
                                uint32_t any, uint64_t timeout_ns, uint64_t* index,
                                wye_error** error) {
    uint64_t i, reached = 0;
    (void)timeout_ns;
    if (any > 1) return unsupported(device->plugin->host, error);
    for (i = 0; i < count; ++i) {
        if (timeline_query(device, &events[i], error) != WYE_OK) continue;
        if (index != NULL) *index = i;
        ++reached;
    }
    return reached == count || (any != 0 && reached != 0) ? WYE_OK : WYE_TIMEOUT;
}

/* Free the error of the event's value, if it failed. */
static wye_status timeline_retire(wye_device_object* device, const wye_event* event,
                                  wye_error** error) {
    (void)device, (void)event, (void)error;
    return WYE_OK;
}

/* Creates a timeline that both submits and the host can signal. Leave these slots null if the
 * device has no such timelines. */
static wye_status timeline_create(wye_device_object* device, const wye_timeline_desc* desc,
                                  wye_timeline_object** out, wye_error** error) {
    (void)desc, (void)out;
    return unsupported(device->plugin->host, error);
}

static void timeline_destroy(wye_device_object* device, wye_timeline_object* timeline) {
    (void)device, (void)timeline; /* timeline_create never makes one */
}

static wye_status timeline_signal(wye_device_object* device, const wye_event* event,
                                  wye_error** error) {
    (void)event;
    return unsupported(device->plugin->host, error);
}

static wye_status timeline_fail(wye_device_object* device, const wye_event* event,
                                const wye_error_desc* failure, wye_error** error) {
    (void)event, (void)failure;
    return unsupported(device->plugin->host, error);
}

/* Report the driver's timestamps only. Leave the slot null if the driver has no timestamps. */
static wye_status timeline_timing(wye_queue_object* queue, uint64_t value, wye_timing* out,
                                  wye_error** error) {
    (void)value, (void)out;
    return unsupported(queue->device->plugin->host, error);
}

/* Must end the values from `first` to `last` with WYE_CANCELLED, and no other values. */
static wye_status timeline_cancel(wye_queue_object* queue, uint64_t first, uint64_t last,
                                  wye_error** error) {
    (void)first, (void)last;
    return unsupported(queue->device->plugin->host, error);
}

/* ---- Command: operations that are executed many times --------------------------------------- */

/* Copy the operations of the description into the driver's own form: a graph, a recorded command
 * buffer, or a list. Without these slots the host submits the operations each time. */
static wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                                 wye_command_object** out, wye_error** error) {
    (void)desc, (void)out;
    return unsupported(device->plugin->host, error);
}

static void command_destroy(wye_device_object* device, wye_command_object* command) {
    (void)device, (void)command; /* command_create never makes one */
}

static wye_status command_info(wye_device_object* device, wye_command_object* command,
                               wye_command_info* out, wye_error** error) {
    (void)command, (void)out;
    return unsupported(device->plugin->host, error);
}

static wye_status command_update(wye_device_object* device, wye_command_object* command,
                                 uint64_t index, const wye_operation* operation,
                                 wye_error** error) {
    (void)command, (void)index, (void)operation;
    return unsupported(device->plugin->host, error);
}

/* ---- Tables -------------------------------------------------------------------------------- */

/* Report the kind and the priority that the driver gave. They may differ from the requested ones.
 */
static wye_status queue_info(wye_queue_object* queue, wye_queue_info* out, wye_error** error) {
    (void)queue, (void)error;
    out->kind = WYE_QUEUE_ANY;
    out->priority = 0;
    out->native_index = 0;
    return WYE_OK;
}

static const wye_queue_table queue_table = {
    .header = {sizeof(wye_queue_table), 0, NULL},
    .submit = queue_submit,
    .timing = timeline_timing,
    .cancel = timeline_cancel,
    .destroy = queue_destroy,
    .info = queue_info,
};

static const wye_device_table device_table = {
    .header = {sizeof(wye_device_table), 0, NULL},
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_map = buffer_map,
    .buffer_sync = buffer_sync,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .program_info = program_info,
    .queue_create = queue_create,
    .query = timeline_query,
    .wait = timeline_wait,
    .retire = timeline_retire,
    .timeline_create = timeline_create,
    .timeline_destroy = timeline_destroy,
    .timeline_signal = timeline_signal,
    .timeline_fail = timeline_fail,
    .memory_info = device_memory_info,
    .prepare = device_prepare,
    .flush = device_flush,
    .device_lost = device_lost,
    .try_recover = device_try_recover,
    .program_save = program_save,
    .program_load = program_load,
    .command_create = command_create,
    .command_destroy = command_destroy,
    .command_info = command_info,
    .command_update = command_update,
    .get_extension = device_get_extension,
    .close = device_close,
};

static const wye_plugin_table plugin_table = {
    .header = {sizeof(wye_plugin_table), 0, NULL},
    .init = plugin_init,
    .probe_devices = plugin_probe_devices,
    .device_info = plugin_device_info,
    .device_fact = plugin_device_fact,
    .open_device = device_open,
    .translate = plugin_translate,
    .translate_release = plugin_translate_release,
    .get_extension = plugin_get_extension,
    .shutdown = plugin_shutdown,
};

static const wye_plugin_desc plugin_desc = {
    .header = {sizeof(wye_plugin_desc), 0, NULL},
    .abi_major = WYE_ABI_MAJOR,
    .abi_minor = WYE_ABI_MINOR,
    .host_minor_needed = 0,
    .pointer_bytes = sizeof(void*),
    .build_flags = 0,
    .id = TEXT("null"),
    .version = TEXT("0.1.0"),
    .vendor = TEXT("Wye"),
    .table = &plugin_table,
    .abi_draft = WYE_ABI_MINOR_DRAFT,
    .minor_frozen = WYE_ABI_MINOR_FROZEN,
};

/* The only exported function. It must use no thread, lock, driver, environment variable or
 * allocation. */
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
