// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <span>
#include <thread>

#include "exec/api/api.hpp"
#include "wye/sdk/plugin.hpp"

struct wye_plugin_object {
    const wye_host_table* host;
};
struct wye_device_object {
    const wye_host_table* host;
    std::uint32_t index;
    std::atomic<bool> lost;
};
struct wye_buffer_object {
    std::vector<std::byte> bytes;
    bool staging = false;             // its usage is STAGING or REGISTERED
    std::byte* registered = nullptr;  // memory of the application
    bool mappable = staging;

    [[nodiscard]] std::byte* data() { return registered != nullptr ? registered : bytes.data(); }
};
struct wye_program_object {
    std::uint32_t binding_count;
    std::string saved;
};
struct wye_command_object {
    std::vector<wye_operation> operations;
};
struct wye_queue_object {
    const wye_host_table* host;
    const wye_device_object* device;
    std::uint64_t value;
    std::atomic<std::uint64_t> first_cancelled, last_cancelled;
};

namespace wye::exec::test {
namespace {

FakeDriver& fake() { return *FakeDriver::now; }

wye_status fail(const wye_host_table* host, Code code, const char* what, wye_error** error) {
    return sdk::report(*host, Error(code, what, "Fix: switch the fault off"), error);
}

// Returns WYE_OK, or the error if the device was lost.
wye_status there(const wye_device_object* device, wye_error** error) {
    if (!device->lost) return WYE_OK;
    return fail(device->host, Code::DEVICE_LOST, "the fake fell off the bus", error);
}

// ---- Queue ----

void copy(const wye_copy_op& op) {
    std::memcpy(op.target->data() + op.target_offset, op.source->data() + op.source_offset,
                op.size);
}

// Copies of staging memory that were submitted but are not made yet.
std::mutex late_mutex;
std::vector<wye_copy_op> late_copies;

void make_late_copies() {
    const std::lock_guard lock(late_mutex);
    for (const wye_copy_op& op : late_copies) copy(op);
    late_copies.clear();
}

void run(const wye_operation& operation) {
    if (operation.kind == WYE_OPERATION_COPY) {
        const wye_copy_op& op = operation.u.copy;
        if (op.source->staging || op.target->staging) {
            const std::lock_guard lock(late_mutex);
            late_copies.push_back(op);
            return;
        }
    }
    make_late_copies();
    switch (operation.kind) {
        case WYE_OPERATION_DISPATCH:
            fake().kernel(operation.u.dispatch);
            break;
        case WYE_OPERATION_COPY:
            copy(operation.u.copy);
            break;
        case WYE_OPERATION_FILL: {
            const wye_fill_op& op = operation.u.fill;
            for (std::uint64_t i = 0; i < op.size; i += op.pattern_size)
                std::memcpy(op.target->data() + op.offset + i, &op.pattern, op.pattern_size);
            break;
        }
        case WYE_OPERATION_UPLOAD: {
            const wye_transfer_op& op = operation.u.transfer;
            std::memcpy(op.buffer->data() + op.offset, op.source, op.size);
            break;
        }
        case WYE_OPERATION_DOWNLOAD: {
            const wye_transfer_op& op = operation.u.transfer;
            std::memcpy(op.target, op.buffer->data() + op.offset, op.size);
            break;
        }
        case WYE_OPERATION_EXECUTE:
            for (wye_operation one : operation.u.execute.command->operations) {
                wye_dispatch_op& op = one.u.dispatch;
                if (one.kind == WYE_OPERATION_DISPATCH && op.late_size != 0)
                    op.params =
                        static_cast<const std::byte*>(operation.u.execute.params) + op.late_offset;
                run(one);
            }
            break;
        default:
            break;
    }
}

// Whether the operation is zero in all bytes that its kind does not use.
bool room_is_zero(const wye_operation& op) {
    std::size_t used = sizeof op.u.transfer;
    if (op.kind == WYE_OPERATION_DISPATCH) used = sizeof op.u.dispatch;
    if (op.kind == WYE_OPERATION_COPY) used = sizeof op.u.copy;
    if (op.kind == WYE_OPERATION_FILL) used = sizeof op.u.fill;
    if (op.kind == WYE_OPERATION_EXECUTE) used = sizeof op.u.execute;
    const std::span room = std::as_bytes(std::span(op.u.room)).subspan(used);
    return op.flags == 0 && std::ranges::count(room, std::byte{0}) == std::ssize(room);
}

void check_hint(wye_operation op, const wye_operation* before) {
    if (op.kind != WYE_OPERATION_DISPATCH || op.u.dispatch.again == 0) return;
    ++fake().hints;
    wye_operation first = before != nullptr ? *before : wye_operation{};
    first.u.dispatch.again = op.u.dispatch.again = 0;
    fake().wrong_hints += std::memcmp(&first, &op, sizeof op) == 0 ? 0 : 1;
}

wye_status query(wye_device_object*, const wye_event* event, wye_error** error) {
    const auto* queue = reinterpret_cast<const wye_queue_object*>(event->timeline);
    if (queue->device->lost) return there(queue->device, error);
    if (fake().hang || fake().holds) return WYE_NOT_READY;
    make_late_copies();  // work that fails has ended, too
    fake().unseen = 0;
    if (fake().fail_wait) return fail(queue->host, Code::DRIVER, "the fake fails", error);
    if (queue->first_cancelled <= event->value && event->value <= queue->last_cancelled)
        return fail(queue->host, Code::CANCELLED, "the fake was told to stop", error);
    return WYE_OK;
}

// Held while a call other than a submit adds to a list of the driver: threads may make queues and
// programs at once.
std::mutex lists_mutex;

// Held while a submit runs its operations: threads may submit to two queues at once, and all share
// the members of fake().
std::mutex submit_mutex;

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    const int inside = ++fake().in_submit;
    if (inside > fake().most_in_submit) fake().most_in_submit = inside;
    ++fake().submits;
    if (fake().on_submit) fake().on_submit();
    fake().timed_submits += (submission->flags & WYE_SUBMISSION_TIMED) != 0 ? 1 : 0;
    wye_status status = there(queue->device, error);
    std::uint64_t native_event = 0;
    if (const wye_header* entry = sdk::critical_entry(submission->header.next); status != WYE_OK) {
        // The loss takes precedence.
    } else if (entry != nullptr && (!fake().waits_native ||
                                    entry->type != (WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL))) {
        status = fail(queue->host, Code::UNSUPPORTED_EXTENSION, "no such extension", error);
    } else if (entry != nullptr) {
        native_event = reinterpret_cast<const wye_native_wait*>(entry)->event->values[0].value;
    }
    // A submit that waits for failed work fails, unless the wait only orders.
    const std::span<const wye_event> waits(submission->waits, submission->wait_count);
    for (const wye_event& event : waits)
        if (status == WYE_OK && (event.flags & WYE_EVENT_ORDER_ONLY) == 0)
            if (const wye_status of = query(nullptr, &event, error); of != WYE_NOT_READY)
                status = of;
    if (status != WYE_OK) {
        // Nothing is queued.
    } else if (fake().fail_submit || fake().submits_left-- == 0) {
        status = fail(queue->host, Code::DRIVER, "the fake refuses to submit", error);
    } else if (fake().unseen >= fake().room) {
        status = fail(queue->host, Code::DEVICE_BUSY, "the fake has no room", error);
    } else {
        const std::lock_guard lock(submit_mutex);
        ++fake().unseen;
        const wye_operation* before = nullptr;
        for (const wye_operation& operation :
             std::span(submission->operations, submission->operation_count)) {
            fake().operations.push_back(operation);
            fake().used_rooms += room_is_zero(operation) ? 0 : 1;
            check_hint(operation, before);
            before = &operation;
            run(operation);
        }
        queue->value = submission->value;
        fake().submitted.push_back(
            {queue, submission->value, {waits.begin(), waits.end()}, native_event});
    }
    --fake().in_submit;
    return status;
}

wye_status wait(wye_device_object* device, const wye_event* event, std::uint64_t, std::uint32_t,
                std::uint64_t timeout_ns, std::uint64_t*, wye_error** error) {
    const auto* queue = reinterpret_cast<const wye_queue_object*>(event->timeline);
    ++fake().waits;
    for (std::uint64_t spent = 0; fake().holds; spent += 100'000) {
        if (spent >= timeout_ns) return fail(queue->host, Code::TIMEOUT, "the fake holds", error);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (queue->device->lost) return there(queue->device, error);
    if (fake().hang) return fail(queue->host, Code::TIMEOUT, "the fake hangs", error);
    make_late_copies();
    if (fake().fail_wait) return fail(queue->host, Code::DRIVER, "the fake fails", error);
    return query(device, event, error);
}

wye_status timing(wye_queue_object*, std::uint64_t, wye_timing* out, wye_error**) {
    if (!fake().has_timing) return WYE_UNSUPPORTED;
    out->device_ns = 1234;
    out->begin_ns = fake().begin_ns;
    out->end_ns = fake().end_ns;
    return WYE_OK;
}

wye_status cancel(wye_queue_object* queue, std::uint64_t first, std::uint64_t last,
                  wye_error** error) {
    ++fake().cancels;
    if (fake().can_cancel && !fake().cancels_late) {
        queue->first_cancelled = first;
        queue->last_cancelled = last;
    }
    if (fake().on_cancel) fake().on_cancel();
    if (!fake().can_cancel)
        return fake().fail_cancel
                   ? fail(queue->host, Code::DRIVER, "the fake fails", error)
                   : fail(queue->host, Code::UNSUPPORTED, "the fake cannot cancel", error);
    if (!fake().cancels_late) fake().hang = false;
    return WYE_OK;
}

void queue_destroy(wye_queue_object* queue) {
    --fake().live_queues;
    delete queue;
}

wye_status queue_info(wye_queue_object* queue, wye_queue_info* out, wye_error** error) {
    if (const wye_status status = there(queue->device, error); status != WYE_OK) return status;
    if (fake().fail_queue_info)
        return fail(queue->host, Code::DRIVER, "the fake does not know its queue", error);
    const wye_header header = out->header;
    *out = fake().granted;
    out->header = header;
    return WYE_OK;
}

const wye_queue_table kQueueTable = {
    {sizeof(wye_queue_table), 0, nullptr}, submit, timing, cancel, queue_destroy, queue_info};

// ---- Device ----

// Whether this call must fail. If so, counts `left` down.
bool is_refused(std::atomic<int>& left) {
    int now = left;
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    return now > 0;
}

void count_bytes(std::atomic<std::uint64_t>& bytes, std::atomic<std::uint64_t>& most,
                 std::uint64_t size) {
    const std::uint64_t now = bytes += size;
    std::uint64_t before = most;
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
}

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    ++fake().asked_buffers;
    if (is_refused(fake().refused_buffers))
        return fail(device->host, fake().refusal, "the fake has no memory now", error);
    if (const wye_header* entry = sdk::critical_entry(desc->header.next)) {
        if (!fake().adopts || entry->type != (WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL))
            return fail(device->host, Code::UNSUPPORTED_EXTENSION, "no such extension", error);
        const wye_native_value& memory =
            reinterpret_cast<const wye_native_memory*>(entry)->handle->values[0];
        ++fake().registered;
        *out = new wye_buffer_object{{}, false, reinterpret_cast<std::byte*>(memory.value)};
        return WYE_OK;
    }
    if (desc->usage == WYE_BUFFER_USAGE_REGISTERED) {
        if (fake().refuses_registered)
            return fail(device->host, Code::DRIVER, "the fake cannot lock it", error);
        ++fake().registered;
        *out = new wye_buffer_object{{}, true, static_cast<std::byte*>(desc->memory)};
        return WYE_OK;
    }
    const bool staging = desc->usage == WYE_BUFFER_USAGE_STAGING;
    if (staging && !fake().stages)
        return fail(device->host, Code::UNSUPPORTED, "the fake has no such memory", error);
    if (desc->alignment > fake().most_alignment)
        return fail(device->host, Code::UNSUPPORTED, "the fake aligns to less", error);
    if (desc->usage == WYE_BUFFER_USAGE_DEVICE) fake().last_alignment = desc->alignment;
    if (desc->size > fake().memory_left)
        return fail(device->host, Code::DEVICE_MEMORY, "the fake's memory is full", error);
    fake().memory_left -= fake().memory_left == UINT64_MAX ? 0 : desc->size;
    ++fake().buffers;
    ++fake().live_buffers;
    // Not zero: contents of a new buffer are unspecified.
    *out = new wye_buffer_object{std::vector<std::byte>(desc->size, std::byte{0xa5}), staging,
                                 nullptr};
    (*out)->mappable = staging || (desc->usage != WYE_BUFFER_USAGE_DEVICE && !fake().maps_none);
    if (staging)
        count_bytes(fake().staging_bytes, fake().most_staging_bytes, desc->size);
    else
        count_bytes(fake().device_bytes, fake().most_device_bytes, desc->size);
    return WYE_OK;
}

wye_status buffer_map(wye_device_object* device, wye_buffer_object* buffer, wye_mapping* out,
                      wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    if (!buffer->mappable)
        return fail(device->host, Code::UNSUPPORTED, "the fake cannot map it", error);
    out->address = buffer->data();
    out->flags = WYE_MAPPING_CACHED;
    return WYE_OK;
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) {
    if (fake().recovers) ++fake().meanwhile;
    if (buffer->registered != nullptr) {
        --fake().registered;
        delete buffer;
        return;
    }
    --fake().live_buffers;
    if (fake().memory_left != UINT64_MAX) fake().memory_left += buffer->bytes.size();
    (buffer->staging ? fake().staging_bytes : fake().device_bytes) -= buffer->bytes.size();
    delete buffer;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    if (fake().on_compile) fake().on_compile();
    if (is_refused(fake().refused_programs))
        return fail(device->host, fake().refusal, "the fake has no memory for code now", error);
    if (fake().fail_compile && fake().compile_log) {
        Error refused(Code::COMPILE_FAILED, "the fake does not compile", "Fix: correct it");
        const std::string log = fake().compile_log(
            {static_cast<const char*>(artifact->code.data), artifact->code.size});
        refused.cause = std::make_shared<const Error>(Error(Code::COMPILE_FAILED, log, ""));
        return sdk::report(*device->host, refused, error);
    }
    if (fake().fail_compile)
        return fail(device->host, Code::COMPILE_FAILED, "the fake does not compile", error);
    ++fake().programs;
    ++fake().live_programs;
    const std::string code(static_cast<const char*>(artifact->code.data), artifact->code.size);
    {
        const std::lock_guard lock(lists_mutex);
        fake().artifact_formats.emplace_back(sdk::from_abi(artifact->format));
        fake().codes.push_back(code);
    }
    *out = new wye_program_object{artifact->binding_count, "saved:" + code};
    return WYE_OK;
}

wye_status program_save(wye_device_object* device, wye_program_object* program, wye_bytes* out,
                        wye_error** error) {
    if (fake().saves_late && fake().submits == 0)
        return fail(device->host, Code::NOT_READY, "the fake has not run it yet", error);
    ++fake().saved;
    *out = {program->saved.data(), program->saved.size()};
    return WYE_OK;
}

wye_status program_load(wye_device_object* device, const wye_artifact* artifact, wye_bytes saved,
                        wye_program_object** out, wye_error** error) {
    const std::string bytes(static_cast<const char*>(saved.data), saved.size);
    if (fake().refuses_saved || !bytes.starts_with("saved:"))
        return fail(device->host, Code::UNSUPPORTED, "the fake refuses what it saved", error);
    ++fake().loaded;
    ++fake().live_programs;
    {
        const std::lock_guard lock(lists_mutex);
        fake().codes.push_back(bytes.substr(6));
    }
    *out = new wye_program_object{artifact->binding_count, bytes};
    return WYE_OK;
}

wye_status program_info(wye_device_object* device, wye_program_object*, wye_program_info* out,
                        wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    ++fake().asked;
    if (fake().fail_program_info)
        return fail(device->host, Code::DRIVER, "the fake says nothing", error);
    out->resident_groups = fake().resident_groups;
    return WYE_OK;
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    --fake().live_programs;
    delete program;
}

wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                          wye_command_object** out, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    for (const wye_operation& operation : std::span(desc->operations, desc->operation_count))
        if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.again != 0)
            ++fake().wrong_hints;
    ++fake().commands_made;
    ++fake().live_commands;
    *out = new wye_command_object{{desc->operations, desc->operations + desc->operation_count}};
    return WYE_OK;
}

void command_destroy(wye_device_object*, wye_command_object* command) {
    --fake().live_commands;
    delete command;
}

wye_status command_info(wye_device_object*, wye_command_object*, wye_command_info* out,
                        wye_error**) {
    out->native = 1;
    out->most_pending = 1;
    return WYE_OK;
}

// The queue is its own timeline.
wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    if (fake().fail_queue)
        return fail(device->host, Code::DRIVER, "the fake makes no queue", error);
    {
        const std::lock_guard lock(lists_mutex);
        fake().queue_wishes.push_back(*desc);
    }
    ++fake().live_queues;
    ++fake().queues;
    *out = new wye_queue_object{device->host, device, 0, 1, 0};
    *timeline = reinterpret_cast<wye_timeline_object*>(*out);
    *table = &kQueueTable;
    return WYE_OK;
}

std::uint32_t device_lost(wye_device_object* device) { return device->lost ? 1 : 0; }

wye_status try_recover(wye_device_object* device, wye_error** error) {
    if (!fake().can_recover)
        return fail(device->host, Code::UNSUPPORTED, "the fake cannot be taken back", error);
    ++fake().recovered;
    fake().recovers = true;
    if (fake().on_recover) fake().on_recover();
    fake().recovers = false;
    device->lost = false;
    return WYE_OK;
}

// ---- Native handles ----

wye_status native(const void* object, const char* type, wye_native_handle* out) {
    out->count = fake().native_values;
    out->values[0].type = sdk::to_abi(type);
    out->values[0].value = reinterpret_cast<std::uintptr_t>(object);
    return WYE_OK;
}

wye_status native_device(wye_device_object* device, wye_native_handle* out, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    return native(device, "fake_device", out);
}

wye_status native_queue(wye_device_object* device, wye_queue_object* queue, wye_native_handle* out,
                        wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    return native(queue, "fake_queue", out);
}

wye_status native_buffer(wye_device_object* device, wye_buffer_object* buffer,
                         wye_native_handle* out, wye_error** error) {
    if (const wye_status status = there(device, error); status != WYE_OK) return status;
    return native(buffer->data(), "void*", out);
}

const wye_native_table kNativeTable = {
    {sizeof kNativeTable, 0, nullptr}, native_device, native_queue, native_buffer};

const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
    const bool asked = sdk::from_abi(name) == WYE_EXTENSION_NATIVE_HANDLE && version == 1;
    return asked && fake().native_values != 0 ? &kNativeTable : nullptr;
}

void close(wye_device_object* device) {
    wye_device_object* newest = device;
    (void)fake().newest[device->index].compare_exchange_strong(newest, nullptr);
    delete device;
}

const wye_device_table& device_table(bool saves, bool commands) {
    const auto make = [](bool with, bool records) {
        wye_device_table out{};
        if (records) {
            out.command_create = command_create;
            out.command_destroy = command_destroy;
            out.command_info = command_info;
        }
        if (with) {
            out.program_save = program_save;
            out.program_load = program_load;
        }
        out.header.size = sizeof out;
        out.buffer_create = buffer_create;
        out.buffer_destroy = buffer_destroy;
        out.buffer_map = buffer_map;
        out.program_create = program_create;
        out.program_destroy = program_destroy;
        out.program_info = program_info;
        out.queue_create = queue_create;
        out.query = query;
        out.wait = wait;
        out.device_lost = device_lost;
        out.try_recover = try_recover;
        out.get_extension = get_extension;
        out.close = close;
        return out;
    };
    static const wye_device_table tables[] = {make(false, false), make(true, false),
                                              make(false, true), make(true, true)};
    return tables[(saves ? 1 : 0) + (commands ? 2 : 0)];
}

// ---- Plugin ----

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out, wye_error**) {
    *out = new wye_plugin_object{host};
    return WYE_OK;
}

wye_status probe_devices(wye_plugin_object*, std::uint32_t* count, wye_error**) {
    *count = 2;
    return WYE_OK;
}

wye_status device_info(wye_plugin_object*, std::uint32_t, wye_device_info* out, wye_error**) {
    static wye_string formats[] = {{"com.fake.native", 15}, {}};
    formats[1] =
        sdk::to_abi(fake().format.empty() ? "wye-program" : std::string_view(fake().format));
    out->name = sdk::to_abi("fake device");
    out->state = WYE_DEVICE_USABLE;
    out->formats = formats;
    out->format_count = 2;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object*, std::uint32_t index, std::uint32_t key, wye_fact* out) {
    if (key == WYE_FACT_KEY_MAX_WORKGROUPS || key == WYE_FACT_KEY_MAX_WORKGROUP_SIZE) {
        out->type = WYE_FACT_U32X3;
        for (int i = 0; i < 3; ++i)
            out->xyz[i] = key == WYE_FACT_KEY_MAX_WORKGROUPS ? fake().max_groups[i] : 1024;
        return WYE_OK;
    }
    const auto& facts = index == 1 && fake().second.contains(key) ? fake().second : fake().facts;
    const auto found = facts.find(key);
    if (found == facts.end()) return WYE_UNSUPPORTED;
    out->type = key < 0x100 || key >= 0x400 ? WYE_FACT_BOOL : WYE_FACT_U64;
    out->u = found->second;
    return WYE_OK;
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    if (fake().fail_open) return fail(plugin->host, Code::DRIVER, "the fake does not open", error);
    ++fake().opened;
    *out = new wye_device_object{plugin->host, desc->index, false};
    fake().newest[desc->index] = *out;
    *table = &device_table(fake().saves, fake().commands);
    return WYE_OK;
}

void shutdown(wye_plugin_object* plugin) {
    delete plugin;
    ++fake().shutdowns;
}

wye_status query(const wye_hello*, const wye_plugin_desc** out) {
    static const wye_plugin_table table = [] {
        wye_plugin_table t{};
        t.header.size = sizeof t;
        t.init = init;
        t.probe_devices = probe_devices;
        t.device_info = device_info;
        t.device_fact = device_fact;
        t.open_device = open_device;
        t.shutdown = shutdown;
        return t;
    }();
    static wye_plugin_desc desc = [] {
        wye_plugin_desc d{};
        d.header.size = sizeof d;
        d.abi_major = WYE_ABI_MAJOR;
        d.abi_minor = WYE_ABI_MINOR;
        d.pointer_bytes = sizeof(void*);
        d.id = sdk::to_abi("fake");
        d.vendor = sdk::to_abi("tests");
        d.table = &table;
        d.abi_draft = WYE_ABI_MINOR_DRAFT;
        d.minor_frozen = WYE_ABI_MINOR_FROZEN;
        return d;
    }();
    desc.version = sdk::to_abi(fake().version);
    *out = &desc;
    return WYE_OK;
}

}  // namespace

FakeDriver* FakeDriver::now = nullptr;

FakeDriver::FakeDriver() {
    now = this;
    for (const std::uint32_t capability :
         {WYE_FACT_KEY_INT64, WYE_FACT_KEY_F64, WYE_FACT_KEY_IEEE_F32, WYE_FACT_KEY_IEEE_F64,
          WYE_FACT_KEY_STORAGE8, WYE_FACT_KEY_ATOMIC_INT32, WYE_FACT_KEY_BARRIER})
        facts[capability] = 1;
    facts[WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS] = 1024;
    facts[WYE_FACT_KEY_MAX_SHARED_BYTES] = 32768;
    facts[WYE_FACT_KEY_MAX_BUFFERS] = 64;
    facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 20;
    facts[WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT] = 4096;
}

FakeDriver::~FakeDriver() {
    now = nullptr;
    late_copies.clear();
}

wye_context* FakeDriver::context() const {
    registry::Options options;
    options.builtins.push_back({"fake", &query});
    options.search_files = false;
    options.config = config;
    if (log) options.log = log;
    auto made = make_context(std::move(options), selector);
    return made.ok() ? *made : nullptr;
}

void FakeDriver::lose(std::uint32_t index) { newest[index].load()->lost = true; }

std::byte* FakeDriver::memory(const wye_binding& binding) {
    return binding.buffer->data() + binding.offset;
}

std::vector<std::uint32_t> FakeDriver::kinds() const {
    std::vector<std::uint32_t> out;
    for (const wye_operation& operation : operations) out.push_back(operation.kind);
    return out;
}

}  // namespace wye::exec::test
