/* SPDX-License-Identifier: Apache-2.0
 *
 * A small host of a later minor. It is compiled with the headers that future.py makes, and sends a
 * plugin each number, flag, entry and structure that these headers have added.
 *
 *   later_host PLUGIN.so SCALE.WIRE [LAYER.so]
 *
 * SCALE.WIRE is the wire form of scale.wye. With a layer, all calls go through the layer. For each
 * addition that it sends, the host prints a line that begins with "good" or "WRONG". At the end it
 * runs the program. A plugin must refuse additions that it must not ignore, with the right status
 * and an error with a remedy, and must make no object then. It must skip entries that are not
 * critical, longer structures, hints and facts. Exit status: 0; 1 if a line is WRONG; 2 if the
 * plugin does not start. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wye/abi.h"
#include "wye/abi_later.h"
#include "wye/abi_layer.h"

struct wye_error {
    wye_status code;
    char message[512];
    int has_fix;
};

static int wrong;

static void say(int good, const char* what, wye_status status, const char* message) {
    printf("%s: %s: status %" PRId32 "%s%s\n", good ? "good" : "WRONG", what, status,
           message[0] == 0 ? "" : ": ", message);
    wrong |= !good;
}

/* ---- The host table ------------------------------------------------------------------------ */

static wye_error* error_make(wye_host_object* self, const wye_error_desc* desc) {
    wye_error* error = calloc(1, sizeof *error);
    (void)self;
    if (error == NULL) abort();
    error->code = desc->code;
    snprintf(error->message, sizeof error->message, "%.*s", (int)desc->message.size,
             desc->message.data == NULL ? "" : desc->message.data);
    error->has_fix = desc->fix.size > 5 && memcmp(desc->fix.data, "Fix: ", 5) == 0;
    if (desc->cause != NULL) free(desc->cause);
    return error;
}
static void error_release(wye_host_object* self, wye_error* error) { (void)self, free(error); }
static void log_text(wye_host_object* self, uint32_t level, wye_string area, wye_string text) {
    (void)self, (void)level, (void)area, (void)text;
}
static wye_status config_get(wye_host_object* self, wye_string key, wye_string* out) {
    (void)self, (void)key, (void)out;
    return WYE_NOT_FOUND;
}
static const void* get_extension(wye_host_object* self, wye_string name, uint32_t version) {
    (void)self, (void)name, (void)version;
    return NULL;
}

/* ---- Outcomes ------------------------------------------------------------------------------ */

/* Checks that a call was refused with `wanted`, a helpful error and no object. */
static void refused(const char* what, wye_status status, wye_status wanted, wye_error* error,
                    const void* made) {
    const int helpful =
        error != NULL && error->code == status && error->message[0] != 0 && error->has_fix;
    say(status == wanted && helpful && made == NULL, what, status,
        error == NULL ? "(no error)" : error->message);
    free(error);
}

static void taken(const char* what, wye_status status, wye_error* error) {
    say(status == WYE_OK, what, status, error == NULL ? "" : error->message);
    free(error);
}

static const wye_later_entry critical = {
    {sizeof critical, WYE_CHAIN_LATER | WYE_CHAIN_CRITICAL, NULL}, 1};
static const wye_later_entry plain = {{sizeof plain, WYE_CHAIN_LATER, NULL}, 1};

/* Checks that a description is refused with a later flag, with a later type, and with a later
 * critical entry. `CALL` uses `desc` and `error`, and gives the status; `made` is the object that
 * it made. */
#define REFUSES(text, desc, flag, made, CALL)                                                  \
    do {                                                                                       \
        wye_error* error = NULL;                                                               \
        wye_status status;                                                                     \
        (desc).flags |= (flag);                                                                \
        status = (CALL);                                                                       \
        refused(text " with a later flag", status, WYE_UNSUPPORTED, error, made);              \
        (desc).flags &= ~(uint32_t)(flag);                                                     \
        (desc).header.type = WYE_CHAIN_LATER;                                                  \
        error = NULL, status = (CALL);                                                         \
        refused(text " of a later type", status, WYE_UNSUPPORTED, error, made);                \
        (desc).header.type = 0;                                                                \
        (desc).header.next = &critical;                                                        \
        error = NULL, status = (CALL);                                                         \
        refused(text " with a later critical entry", status, WYE_UNSUPPORTED_EXTENSION, error, \
                made);                                                                         \
        (desc).header.next = NULL;                                                             \
    } while (0)

/* Copies the part of a plugin's table that the plugin has. The rest of `to` is null. */
#define KNOWN(to, from)                                                         \
    do {                                                                        \
        const uint32_t size = (from)->header.size;                              \
        memset(&(to), 0, sizeof(to));                                           \
        memcpy(&(to), (from), size < sizeof(to) ? size : (uint32_t)sizeof(to)); \
    } while (0)

#define INIT(object) (memset(&(object), 0, sizeof(object)), (object).header.size = sizeof(object))

static const wye_string later_name = {WYE_EXTENSION_LATER, sizeof WYE_EXTENSION_LATER - 1};

/* ---- A device ------------------------------------------------------------------------------ */

static wye_device_table table;
static wye_queue_table queues;
static wye_device_object* device;
static wye_queue_object* queue;
static wye_timeline_object* timeline;
static uint64_t newest;

/* Submits one operation or none, and waits for the end. */
static wye_status submit(wye_submission* submission, const wye_operation* operation,
                         wye_error** error) {
    wye_event event;
    wye_status status;
    submission->operations = operation;
    submission->operation_count = operation != NULL;
    submission->value = ++newest;
    status = queues.submit(queue, submission, error);
    if (status != WYE_OK) return status;
    memset(&event, 0, sizeof event);
    event.timeline = timeline;
    event.value = newest;
    return table.wait(device, &event, 1, 0, UINT64_C(10000000000), NULL, error);
}

static void send_operation(const char* what, const wye_operation* operation, wye_status wanted) {
    wye_submission submission;
    wye_error* error = NULL;
    wye_status status;
    INIT(submission);
    status = submit(&submission, operation, &error);
    refused(what, status, wanted, error, NULL);
}

static void send_event(const char* what, wye_event event, int signal) {
    wye_submission submission;
    wye_error* error = NULL;
    wye_status status;
    INIT(submission);
    event.timeline = timeline;
    event.value = newest;
    if (signal) submission.signals = &event, submission.signal_count = 1;
    if (!signal) submission.waits = &event, submission.wait_count = 1;
    status = submit(&submission, NULL, &error);
    refused(what, status, WYE_UNSUPPORTED, error, NULL);
}

static void send_artifact(const char* what, const wye_artifact* artifact) {
    wye_program_object* made = NULL;
    wye_error* error = NULL;
    const wye_status status = table.program_create(device, artifact, &made, &error);
    refused(what, status, WYE_UNSUPPORTED, error, made);
    if (made != NULL) table.program_destroy(device, made);
}

static void send_artifacts(wye_artifact artifact) {
    wye_slot slot = {WYE_SLOT_BUFFER, 0, 0, 1, WYE_LATER_FLAG, 0, 0, {0}};
    wye_program_object* made = NULL;
    REFUSES("an artifact", artifact, WYE_LATER_FLAG, made,
            table.program_create(device, &artifact, &made, &error));
    artifact.slots = &slot;
    artifact.slot_count = 1;
    send_artifact("a slot with a later flag", &artifact);
    slot.flags = 0;
    slot.kind = WYE_LATER_SLOT_KIND;
    send_artifact("a slot of a later kind", &artifact);
    artifact.slots = NULL;
    artifact.slot_count = 0;
    artifact.format.data = WYE_FORMAT_LATER;
    artifact.format.size = sizeof WYE_FORMAT_LATER - 1;
    send_artifact("an artifact of a later format", &artifact);
}

static void send_descriptions(void) {
    wye_buffer_desc buffer;
    wye_queue_desc queue_desc;
    wye_timeline_desc timeline_desc;
    wye_command_desc command;
    wye_buffer_object* buffer_made = NULL;
    wye_queue_object* queue_made = NULL;
    wye_timeline_object* timeline_made = NULL;
    wye_command_object* command_made = NULL;
    const wye_queue_table* of = NULL;
    wye_error* error = NULL;
    wye_status status;
    INIT(buffer);
    buffer.size = 64;
    buffer.alignment = 16;
    REFUSES("a buffer", buffer, WYE_LATER_FLAG, buffer_made,
            table.buffer_create(device, &buffer, &buffer_made, &error));
    buffer.usage = WYE_LATER_BUFFER_USAGE;
    status = table.buffer_create(device, &buffer, &buffer_made, &error);
    refused("a buffer of a later usage", status, WYE_UNSUPPORTED, error, buffer_made);
    INIT(queue_desc);
    REFUSES("a queue", queue_desc, WYE_LATER_FLAG, queue_made,
            table.queue_create(device, &queue_desc, &queue_made, &timeline_made, &of, &error));
    if (table.timeline_create != NULL) {
        INIT(timeline_desc);
        REFUSES("a timeline", timeline_desc, WYE_LATER_FLAG, timeline_made,
                table.timeline_create(device, &timeline_desc, &timeline_made, &error));
    }
    if (table.command_create != NULL) {
        INIT(command);
        REFUSES("a command", command, WYE_LATER_COMMAND_FLAGS, command_made,
                table.command_create(device, &command, &command_made, &error));
    }
    if (table.get_extension != NULL)
        say(table.get_extension(device, later_name, 1) == NULL,
            "a later extension of the device is absent", 0, "");
}

/* Makes a command of one operation. */
static void send_command(const char* what, const wye_operation* operation, wye_status wanted) {
    wye_command_desc desc;
    wye_command_object* made = NULL;
    wye_error* error = NULL;
    wye_status status;
    if (table.command_create == NULL) return;
    INIT(desc);
    desc.operations = operation;
    desc.operation_count = 1;
    status = table.command_create(device, &desc, &made, &error);
    refused(what, status, wanted, error, made);
    if (made != NULL) table.command_destroy(device, made);
}

static void send_submissions(wye_dispatch_op dispatch, const wye_binding* bindings) {
    wye_submission submission;
    wye_operation operation;
    wye_binding changed[2];
    wye_event event;
    wye_error* error = NULL;
    wye_status status;
    INIT(submission);
    REFUSES("a submission", submission, WYE_LATER_SUBMISSION_FLAGS, NULL,
            submit(&submission, NULL, &error));
    submission.header.next = &plain;
    status = submit(&submission, NULL, &error);
    taken("a submission with a later entry that is not critical", status, error);

    memset(&operation, 0, sizeof operation);
    operation.kind = WYE_LATER_OP_KIND;
    send_operation("an operation of a later kind", &operation, WYE_UNSUPPORTED);
    send_command("a command with an operation of a later kind", &operation, WYE_UNSUPPORTED);
    operation.kind = WYE_OPERATION_DISPATCH;
    operation.u.dispatch = dispatch;
    operation.flags = WYE_LATER_FLAG;
    send_operation("an operation with a later flag", &operation, WYE_UNSUPPORTED);
    send_command("a command with a later flag of an operation", &operation, WYE_UNSUPPORTED);
    operation.flags = 0;
    operation.next = &critical;
    send_operation("an operation with a later critical entry", &operation,
                   WYE_UNSUPPORTED_EXTENSION);
    send_command("a command with a later critical entry of an operation", &operation,
                 WYE_UNSUPPORTED_EXTENSION);
    operation.next = NULL;
    operation.u.dispatch.flags = WYE_LATER_LAUNCH_FLAGS;
    send_operation("a dispatch with a later flag", &operation, WYE_UNSUPPORTED);
    send_command("a command with a later flag of a dispatch", &operation, WYE_UNSUPPORTED);
    memcpy(changed, bindings, sizeof changed);
    changed[1].flags = WYE_LATER_FLAG;
    operation.u.dispatch.flags = 0;
    operation.u.dispatch.bindings = changed;
    send_operation("a binding with a later flag", &operation, WYE_UNSUPPORTED);
    send_command("a command with a later flag of a binding", &operation, WYE_UNSUPPORTED);

    memset(&event, 0, sizeof event);
    event.flags = WYE_LATER_EVENT_FLAGS;
    send_event("a wait with a later flag", event, 0);
    event.later = 1;
    send_event("a wait whose spare word means something", event, 0);
    if (table.timeline_create != NULL) send_event("a signal with a later flag", event, 1);
    memset(&event, 0, sizeof event);
    event.timeline = timeline;
    error = NULL;
    status = table.wait(device, &event, 1, 2, 0, NULL, &error);
    refused("a wait for 2 of the events", status, WYE_UNSUPPORTED, error, NULL);
}

static wye_operation transfer(uint32_t kind, wye_buffer_object* buffer, void* bytes,
                              uint64_t size) {
    wye_operation out;
    memset(&out, 0, sizeof out);
    out.kind = kind;
    out.u.transfer.buffer = buffer;
    out.u.transfer.size = size;
    out.u.transfer.source = out.u.transfer.target = bytes;
    return out;
}

static void run(wye_operation operation, const char* what) {
    wye_submission submission;
    wye_error* error = NULL;
    wye_status status;
    INIT(submission);
    status = submit(&submission, &operation, &error);
    if (status != WYE_OK) taken(what, status, error);
}

static void use_device(wye_bytes code) {
    enum { kCount = 100, kBytes = kCount * 4 };
    static uint32_t words[kCount], got[kCount];
    const uint32_t factor = 5;
    wye_queue_desc queue_desc;
    wye_buffer_desc buffer_desc;
    wye_buffer_object* buffers[2] = {NULL, NULL};
    wye_artifact artifact;
    wye_program_object* program = NULL;
    wye_dispatch_op dispatch;
    wye_binding bindings[2];
    wye_operation operation;
    const wye_queue_table* of = NULL;
    wye_error* error = NULL;
    wye_status status;
    int same = 1;
    send_descriptions();
    INIT(queue_desc);
    queue_desc.header.next = &plain;
    queue_desc.kind = WYE_LATER_QUEUE_KIND;
    status = table.queue_create(device, &queue_desc, &queue, &timeline, &of, &error);
    taken("a queue of a later kind, which is a hint", status, error);
    if (status != WYE_OK) return;
    KNOWN(queues, of);
    INIT(buffer_desc);
    buffer_desc.size = kBytes;
    buffer_desc.alignment = 16;
    buffer_desc.header.next = &plain;
    memset(bindings, 0, sizeof bindings);
    for (int i = 0; i < 2; ++i) {
        error = NULL;
        status = table.buffer_create(device, &buffer_desc, &buffers[i], &error);
        taken("a buffer with a later entry that is not critical", status, error);
        if (status != WYE_OK) return;
        bindings[i].buffer = buffers[i];
        bindings[i].size = kBytes;
        bindings[i].elements = kCount;
    }
    INIT(artifact);
    artifact.format.data = WYE_FORMAT_PROGRAM;
    artifact.format.size = sizeof WYE_FORMAT_PROGRAM - 1;
    artifact.code = code;
    artifact.entry.data = "main";
    artifact.entry.size = 4;
    artifact.label.data = "scale";
    artifact.label.size = 5;
    artifact.binding_count = 2;
    artifact.workgroup_size[0] = 64;
    artifact.workgroup_size[1] = artifact.workgroup_size[2] = 1;
    artifact.params_size = 4;
    send_artifacts(artifact);
    artifact.header.next = &plain;
    error = NULL;
    status = table.program_create(device, &artifact, &program, &error);
    taken("an artifact with a later entry that is not critical", status, error);
    if (status != WYE_OK) return;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.program = program;
    dispatch.bindings = bindings;
    dispatch.params = &factor;
    dispatch.groups[0] = dispatch.logical_groups[0] = (kCount + 63) / 64;
    dispatch.groups[1] = dispatch.logical_groups[1] = 1;
    dispatch.groups[2] = dispatch.logical_groups[2] = 1;
    dispatch.binding_count = 2;
    dispatch.params_size = 4;
    send_submissions(dispatch, bindings);

    for (uint32_t i = 0; i < kCount; ++i) words[i] = i * 0x9e3779b1U;
    run(transfer(WYE_OPERATION_UPLOAD, buffers[0], words, kBytes), "an upload");
    memset(&operation, 0, sizeof operation);
    operation.kind = WYE_OPERATION_DISPATCH;
    operation.next = &plain;
    operation.u.dispatch = dispatch;
    run(operation, "a dispatch with a later entry that is not critical");
    run(transfer(WYE_OPERATION_DOWNLOAD, buffers[1], got, kBytes), "a download");
    for (uint32_t i = 0; i < kCount; ++i) same &= got[i] == words[i] * factor + 7;
    say(same, "the program runs after all that was refused", 0, "");

    queues.destroy(queue);
    table.program_destroy(device, program);
    table.buffer_destroy(device, buffers[0]);
    table.buffer_destroy(device, buffers[1]);
}

/* ---- A plugin ------------------------------------------------------------------------------ */

static const wye_plugin_desc* ask(wye_plugin_query_fn query) {
    wye_hello hello = {{sizeof hello, 0, &critical}, WYE_ABI_MINOR,        WYE_ABI_MINOR_FLOOR,
                       WYE_ABI_MINOR_DRAFT,          WYE_ABI_MINOR_FROZEN, {0}};
    const wye_plugin_desc* desc = NULL;
    wye_status status = query(&hello, &desc);
    say(status == WYE_UNSUPPORTED_EXTENSION && desc == NULL,
        "a hello with a later critical entry is refused", status, "");
    hello.header.next = &plain;
    status = query(&hello, &desc);
    say(status == WYE_OK && desc != NULL, "a longer hello, with a later entry, is answered", status,
        "");
    return desc;
}

static void use_plugin(const wye_plugin_table* plugins, wye_plugin_object* plugin, wye_bytes code) {
    uint32_t count = 0;
    wye_fact fact;
    wye_open_desc open;
    const wye_device_table* of = NULL;
    wye_error* error = NULL;
    wye_status status;
    if (plugins->get_extension != NULL)
        say(plugins->get_extension(plugin, later_name, 1) == NULL,
            "a later extension of the plugin is absent", 0, "");
    status = plugins->probe_devices(plugin, &count, &error);
    taken("the plugin counts its devices", status, error);
    if (status != WYE_OK || count == 0) return;
    INIT(fact);
    status = plugins->device_fact(plugin, 0, WYE_FACT_KEY_LATER, &fact);
    say(status == WYE_UNSUPPORTED || status == WYE_UNKNOWN_KEY, "a later fact is not reported",
        status, "");
    INIT(open);
    error = NULL;
    REFUSES("opening a device", open, WYE_LATER_FLAG, device,
            plugins->open_device(plugin, &open, &device, &of, &error));
    open.header.next = &plain;
    status = plugins->open_device(plugin, &open, &device, &of, &error);
    taken("a device opens, with a later entry that is not critical", status, error);
    if (status != WYE_OK) return;
    KNOWN(table, of);
    use_device(code);
    table.close(device);
}

static wye_bytes bytes_of(const char* path) {
    static char bytes[4096];
    wye_bytes out = {bytes, 0};
    FILE* file = fopen(path, "rb");
    if (file == NULL) return out;
    out.size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return out;
}

/* ---- Layers -------------------------------------------------------------------------------- */

static wye_status no_translate(wye_plugin_object* plugin, uint32_t index,
                               const wye_artifact* artifact, wye_string format, wye_bytes* out,
                               wye_error** error) {
    (void)plugin, (void)index, (void)artifact, (void)format, (void)out, (void)error;
    return WYE_UNIMPLEMENTED;
}
static void no_release(wye_plugin_object* plugin, wye_bytes bytes) { (void)plugin, (void)bytes; }
static const void* no_extension(wye_plugin_object* plugin, wye_string name, uint32_t version) {
    (void)plugin, (void)name, (void)version;
    return NULL;
}

/* Opens a file, and copies the plugin table. Null: the file cannot be used. */
static const wye_plugin_desc* open_file(const char* path, wye_plugin_table* out) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    wye_plugin_query_fn query = NULL;
    const wye_plugin_desc* desc;
    if (library != NULL) *(void**)&query = dlsym(library, WYE_PLUGIN_QUERY_SYMBOL);
    if (query == NULL) return fprintf(stderr, "later_host: %s\n", dlerror()), NULL;
    desc = ask(query);
    if (desc == NULL) return NULL;
    KNOWN(*out, desc->table);
    out->header.size = sizeof *out;
    if (out->translate == NULL) out->translate = no_translate;
    if (out->translate_release == NULL) out->translate_release = no_release;
    if (out->get_extension == NULL) out->get_extension = no_extension;
    return desc;
}

int main(int argc, char** argv) {
    wye_host_table host = {{sizeof host, 0, NULL}, NULL,     error_make,
                           error_release,          log_text, config_get,
                           get_extension,          NULL};
    const wye_host_table below = host;
    wye_plugin_table plugins, under;
    wye_layer_next next = {{sizeof next, WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL, NULL},
                           &under,
                           &below,
                           {"plugin", 6},
                           {"1.0.0", 5},
                           {0}};
    wye_later_entry more = critical;
    const wye_plugin_desc* desc;
    wye_plugin_object* plugin = NULL;
    wye_error* error = NULL;
    wye_status status;
    if (argc < 3 || (desc = open_file(argv[1], &plugins)) == NULL) return 2;
    if (argc == 4) {
        under = plugins;
        next.id = desc->id;
        more.header.next = &next;
        if ((desc = open_file(argv[3], &plugins)) == NULL) return 2;
    }
    host.header.next = &more;
    status = plugins.init(&host, 0, &plugin, &error);
    refused("a host table with a later critical entry", status, WYE_UNSUPPORTED_EXTENSION, error,
            plugin);
    more.header.type = WYE_CHAIN_LATER;
    error = NULL;
    status = plugins.init(&host, 0, &plugin, &error);
    taken("a longer host table, with a later entry", status, error);
    if (status != WYE_OK) return 2;
    use_plugin(&plugins, plugin, bytes_of(argv[2]));
    plugins.shutdown(plugin);
    return wrong;
}
