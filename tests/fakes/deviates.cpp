// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name. Breaks one rule of the contract, which the configuration's
// "deviates.how" names. DEVIATIONS in tests/cli/deviations_check.py lists the names by rule.
//   takes_flags         flags of operations are ignored (P-7)
//   throws              memory_info throws (P-8)
//   prints              submit prints (P-9)
//   changes_umask       open_device sets the file mode mask (P-10)
//   no_remedy           an unlisted format is refused without a remedy (P-11)
//   null_buffer         a buffer of 64 bytes is made, and is null (P-12)
//   reads_late          a submission is read only at a later query or wait (P-13)
//   one_thread          a buffer is refused while another thread makes one (P-15)
//   other_list          a second probe counts one device more (P-17)
//   no_reason           a second device is unusable without a reason (P-18)
//   short_grid          a launch runs at most 65535 workgroups on each axis (P-19)
//   other_fact          each call gives another value of a fact (P-21)
//   same_format         a format is listed twice (P-22)
//   other_parameter     the first parameter is increased by 1 (P-24)
//   early               each value is reached as soon as it is submitted (P-25)
//   reverses            operations of a submit run in reverse order (P-25)
//   keeps_submits       third and later submits of fills in a row begin at a query or wait (P-25)
//   poisons             after a failed submit all values of its queue fail (P-26)
//   no_limit            a wait has no time limit (P-27)
//   fills_more          a fill writes one pattern more, within the buffer (P-28)
//   keeps_plugin        shutdown does nothing (P-29)
//   crashes_at_exit     an exit handler aborts (P-30)
//   loads_nothing       saved programs are not loaded (P-33)
//   refuses_empty       a launch of no workgroups is refused (P-34)
//   cancels_all         a cancel affects all values (P-36)
//   signals_early       the signals of a submit are signalled before its work has ended (P-37)
//   loses_downloads     downloads are not run (P-55)
//   loses_uploads       uploads are not run (P-55)
//   loses_copies        copies are not run (P-55)
//   fills_less          a fill leaves out its last pattern (P-55)
//   takes_usage         a buffer of any usage is made (P-38)
//   maps_copy           a mapping is other memory than the buffer's (P-39)
//   small_program       a program claims to allow only one invocation in a workgroup (P-40)
//   boasts              a queue has a higher priority than was asked for (P-45)
//   registers_copy      a registered buffer has memory of its own (P-48)
//   same_handle         all buffers have one native handle (P-49)
//   own_memory          a buffer of native memory has memory of its own (P-51)
//   fails_waits         destroying a queue fails the submits that wait for its values (P-54)
//   one_plugin          a second init returns the object of the first (P-57)
//   waits_in_submit     a submit returns only when its value is reached (P-58)
//   other_tables        each call returns another table of an extension (P-59)
//   keeps_buffers       small buffers are not freed (P-60)
//   sleeps_in_query     a query takes 20 ms (P-61)
//   waits_in_query      a query returns only when the value has ended (P-61)
// "deviates.lacks" names capabilities that the device then lacks, as in "f64,ieee_f64". That breaks
// no rule. If it names "buffer_map", the device also refuses the usage STAGING.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "over_cpu.hpp"
#include "wye/abi_native.h"
#include "wye/sdk/plugin.hpp"

namespace {

// The CPU plugin's own tables.
const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;
const wye_host_table* host = nullptr;

std::string how, lacks;
bool is(std::string_view what) { return how == what; }
bool does_lack(std::string_view what) {
    return ("," + lacks + ",").find("," + std::string(what) + ",") != std::string::npos;
}

struct Queue {
    wye_device_object* device = nullptr;
    wye_timeline_object* timeline = nullptr;
    std::uint64_t newest = 0;  // the last value that was submitted
    bool failed = false;
};

// Guards the variables below.
std::mutex mutex;
std::map<const wye_queue_object*, Queue> queues;
std::map<const wye_buffer_object*, std::uint64_t> sizes;
std::map<const wye_buffer_object*, void*> copies;
struct Waiting {
    const wye_timeline_object* timeline;  // the timeline that a submit waits for
    wye_event end;                        // the value of that submit
};
std::vector<Waiting> waiting;
std::set<std::pair<const wye_timeline_object*, std::uint64_t>> orphans;
std::vector<std::pair<wye_queue_object*, const wye_submission*>> unread;
struct Kept {  // a submit with nothing but fills
    wye_queue_object* queue;
    std::uint64_t value;
    std::vector<wye_operation> operations;
};
std::vector<Kept> kept;
int in_a_row = 0;  // submits of fills since the last query, wait or other submit
wye_plugin_object* only = nullptr;
int starts = 0;

wye_status refuse(wye_error** error, wye_status code, const char* fix) {
    if (error == nullptr) return code;
    wye_error_desc desc{};
    desc.header.size = sizeof desc;
    desc.code = code;
    desc.message = wye::sdk::to_abi("the fake plugin refuses");
    desc.fix = wye::sdk::to_abi(fix);
    *error = host->error_make(host->self, &desc);
    return code;
}

// ---- Queue --------------------------------------------------------------------------------

bool empty_launch(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.groups[0] == 0 &&
           (operation.u.dispatch.flags & WYE_LAUNCH_INDIRECT) == 0;
}

// Changes an operation as `how` says. `params`: memory for changed parameters.
void change(wye_operation& operation, std::vector<std::byte>& params) {
    if (is("takes_flags")) operation.flags = 0;
    if (operation.kind == WYE_OPERATION_DISPATCH) {
        wye_dispatch_op& op = operation.u.dispatch;
        if (is("short_grid"))
            for (std::uint32_t& n : op.groups) n = std::min<std::uint32_t>(n, 65535);
        if (is("other_parameter") && op.params_size >= 4) {
            const auto* first = static_cast<const std::byte*>(op.params);
            params.assign(first, first + op.params_size);
            std::uint32_t word = 0;
            std::memcpy(&word, params.data(), sizeof word);
            ++word;
            std::memcpy(params.data(), &word, sizeof word);
            op.params = params.data();
        }
    }
    if (operation.kind == WYE_OPERATION_FILL && is("fills_more")) {
        wye_fill_op& op = operation.u.fill;
        const std::lock_guard lock(mutex);
        const auto size = sizes.find(op.target);
        if (size != sizes.end() && op.offset + op.size + op.pattern_size <= size->second)
            op.size += op.pattern_size;
    }
    if (operation.kind == WYE_OPERATION_FILL && is("fills_less") && operation.u.fill.size != 0)
        operation.u.fill.size -= operation.u.fill.pattern_size;
}

wye_status submit_now(wye_queue_object* queue, const wye_submission* submission,
                      wye_error** error) {
    std::vector<wye_operation> operations(submission->operations,
                                          submission->operations + submission->operation_count);
    std::vector<std::vector<std::byte>> params(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) change(operations[i], params[i]);
    if (is("reverses")) std::ranges::reverse(operations);
    const auto lose = [&operations](std::uint32_t kind) {
        std::erase_if(operations, [kind](const wye_operation& one) { return one.kind == kind; });
    };
    if (is("loses_downloads")) lose(WYE_OPERATION_DOWNLOAD);
    if (is("loses_uploads")) lose(WYE_OPERATION_UPLOAD);
    if (is("loses_copies")) lose(WYE_OPERATION_COPY);
    wye_submission other = *submission;
    other.operations = operations.data();
    other.operation_count = operations.size();
    const bool signals = is("signals_early");
    if (signals) other.signal_count = 0;
    const wye_status status = queue_behind->submit(queue, &other, error);
    if (status != WYE_OK) return status;
    wye_device_object* device = nullptr;
    wye_event event{};
    {
        const std::lock_guard lock(mutex);
        Queue& known = queues[queue];
        known.newest = submission->value;
        for (const wye_operation& operation : operations)
            known.failed = known.failed || operation.kind > WYE_OPERATION_EXECUTE;
        device = known.device;
        event = {known.timeline, submission->value, 0, 0};
        for (std::uint64_t i = 0; is("fails_waits") && i < submission->wait_count; ++i)
            waiting.push_back({submission->waits[i].timeline, event});
    }
    for (std::uint64_t i = 0; signals && i < submission->signal_count; ++i)
        (void)device_behind->timeline_signal(device, &submission->signals[i], nullptr);
    if (is("waits_in_submit"))
        (void)device_behind->wait(device, &event, 1, 0, UINT64_MAX, nullptr, nullptr);
    return WYE_OK;
}

void read_late() {
    std::vector<std::pair<wye_queue_object*, const wye_submission*>> now;
    std::vector<Kept> kept_now;
    {
        const std::lock_guard lock(mutex);
        now.swap(unread);
        kept_now.swap(kept);
        in_a_row = 0;
    }
    for (const auto& [queue, submission] : now) (void)submit_now(queue, submission, nullptr);
    for (const Kept& one : kept_now) {
        wye_submission submission{};
        submission.header.size = sizeof submission;
        submission.operations = one.operations.data();
        submission.operation_count = one.operations.size();
        submission.value = one.value;
        (void)submit_now(one.queue, &submission, nullptr);
    }
}

bool keep(wye_queue_object* queue, const wye_submission& submission) {
    const std::span operations(submission.operations, submission.operation_count);
    const bool fills =
        !operations.empty() && std::ranges::all_of(operations, [](const wye_operation& one) {
            return one.kind == WYE_OPERATION_FILL && one.next == nullptr;
        });
    if (!fills || submission.flags != 0 || submission.wait_count + submission.signal_count != 0) {
        read_late();
        return false;
    }
    const std::lock_guard lock(mutex);
    if (++in_a_row <= 2) return false;
    kept.push_back({queue, submission.value, {operations.begin(), operations.end()}});
    return true;
}

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    if (is("prints")) {
        std::puts("hello");
        std::fflush(stdout);
    }
    const std::span operations(submission->operations, submission->operation_count);
    if (is("refuses_empty") && std::ranges::any_of(operations, empty_launch))
        return refuse(error, WYE_UNSUPPORTED, "Fix: launch something");
    if (is("keeps_submits") && keep(queue, *submission)) return WYE_OK;
    if (!is("reads_late")) return submit_now(queue, submission, error);
    const std::lock_guard lock(mutex);
    unread.emplace_back(queue, submission);
    return WYE_OK;
}

void queue_destroy(wye_queue_object* queue) {
    read_late();
    {
        const std::lock_guard lock(mutex);
        const Queue known = queues[queue];
        queues.erase(queue);
        for (const Waiting& one : waiting)
            if (one.timeline == known.timeline &&
                device_behind->query(known.device, &one.end, nullptr) == WYE_NOT_READY)
                orphans.emplace(one.end.timeline, one.end.value);
        std::erase_if(waiting, [&](const Waiting& one) {
            return one.timeline == known.timeline || one.end.timeline == known.timeline;
        });
    }
    queue_behind->destroy(queue);
}

wye_status cancel(wye_queue_object* queue, std::uint64_t first, std::uint64_t last,
                  wye_error** error) {
    const bool all = is("cancels_all");
    return queue_behind->cancel(queue, all ? 0 : first, all ? UINT64_MAX : last, error);
}

wye_status queue_info(wye_queue_object* queue, wye_queue_info* out, wye_error** error) {
    const wye_status status = queue_behind->info(queue, out, error);
    if (is("boasts")) out->priority = 7;
    return status;
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    const wye_status status =
        device_behind->queue_create(device, desc, out, timeline, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(queue_behind, table, [](wye_queue_table& t) {
        t.submit = submit;
        t.destroy = queue_destroy;
        t.cancel = cancel;
        t.info = queue_info;
    });
    const std::lock_guard lock(mutex);
    queues[*out] = {device, *timeline, 0, false};
    return WYE_OK;
}

// ---- Values -------------------------------------------------------------------------------

// The queue to whose timeline the event belongs; null: no queue has this timeline.
const Queue* queue_of(const wye_event& event) {
    for (const auto& [queue, known] : queues)
        if (known.timeline == event.timeline) return &known;
    return nullptr;
}
bool submitted(const wye_event& event) {
    const std::lock_guard lock(mutex);
    const Queue* const queue = queue_of(event);
    return queue != nullptr && event.value <= queue->newest;
}
bool fails(const wye_event& event) {
    const std::lock_guard lock(mutex);
    const Queue* const queue = queue_of(event);
    return (is("poisons") && queue != nullptr && queue->failed && event.value != 0) ||
           orphans.contains({event.timeline, event.value});
}

wye_status query(wye_device_object* device, const wye_event* event, wye_error** error) {
    read_late();
    if (is("early") && submitted(*event)) return WYE_OK;
    if (fails(*event)) return refuse(error, WYE_UNSUPPORTED, "Fix: use another queue");
    if (is("sleeps_in_query")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const wye_status status = device_behind->query(device, event, error);
    if (status != WYE_NOT_READY || !is("waits_in_query")) return status;
    while (device_behind->query(device, event, nullptr) == WYE_NOT_READY)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    return device_behind->query(device, event, error);
}

wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                wye_error** error) {
    read_late();
    const std::span all(events, count);
    if (is("early") && any == 0 && std::ranges::all_of(all, submitted)) return WYE_OK;
    if (std::ranges::any_of(all, fails))
        return refuse(error, WYE_UNSUPPORTED, "Fix: use another queue");
    if (!is("no_limit"))
        return device_behind->wait(device, events, count, any, timeout_ns, index, error);
    for (;;) {
        const wye_status status =
            device_behind->wait(device, events, count, any, UINT64_MAX, index, error);
        if (status != WYE_TIMEOUT) return status;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// ---- Device -------------------------------------------------------------------------------

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    if (is("null_buffer") && desc->size == 64) return WYE_OK;
    if (does_lack("buffer_map") && desc->usage == WYE_BUFFER_USAGE_STAGING)
        return refuse(error, WYE_UNSUPPORTED, "Fix: use UPLOAD and DOWNLOAD");
    wye_buffer_desc other = *desc;
    if (is("takes_usage") && desc->usage > WYE_BUFFER_USAGE_REGISTERED)
        other.usage = WYE_BUFFER_USAGE_DEVICE;
    if (is("registers_copy") && desc->usage == WYE_BUFFER_USAGE_REGISTERED) {
        other.usage = WYE_BUFFER_USAGE_DEVICE;
        other.memory = nullptr;
    }
    if (is("own_memory")) other.header.next = nullptr;
    static std::atomic<int> making = 0;
    const bool alone = ++making == 1;
    if (is("one_thread")) std::this_thread::sleep_for(std::chrono::microseconds(200));
    const wye_status status = alone || !is("one_thread")
                                  ? device_behind->buffer_create(device, &other, out, error)
                                  : refuse(error, WYE_DEVICE_MEMORY, "Fix: use one thread");
    --making;
    const std::lock_guard lock(mutex);
    if (status == WYE_OK) sizes[*out] = desc->size;
    return status;
}

void buffer_destroy(wye_device_object* device, wye_buffer_object* buffer) {
    bool small = false;
    {
        const std::lock_guard lock(mutex);
        small = sizes[buffer] <= 65536;
        sizes.erase(buffer);
        std::free(std::exchange(copies[buffer], nullptr));
        copies.erase(buffer);
    }
    if (!is("keeps_buffers") || !small) device_behind->buffer_destroy(device, buffer);
}

wye_status buffer_map(wye_device_object* device, wye_buffer_object* buffer, wye_mapping* out,
                      wye_error** error) {
    const wye_status status = device_behind->buffer_map(device, buffer, out, error);
    if (status != WYE_OK || !is("maps_copy")) return status;
    constexpr std::size_t kAlignment = std::size_t{1} << 20U;
    const std::lock_guard lock(mutex);
    void*& copy = copies[buffer];
    if (copy == nullptr)
        copy = std::aligned_alloc(kAlignment, (sizes[buffer] / kAlignment + 1) * kAlignment);
    out->address = copy;
    return status;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    if (is("no_remedy") && wye::sdk::from_abi(artifact->format) != WYE_FORMAT_PROGRAM)
        return refuse(error, WYE_UNSUPPORTED, "");
    return device_behind->program_create(device, artifact, out, error);
}

wye_status program_info(wye_device_object* device, wye_program_object* program,
                        wye_program_info* out, wye_error** error) {
    if (!is("small_program")) return device_behind->program_info(device, program, out, error);
    out->max_invocations = 1;
    return WYE_OK;
}

wye_status program_save(wye_device_object*, wye_program_object*, wye_bytes* out, wye_error**) {
    *out = {"saved", 5};
    return WYE_OK;
}
wye_status program_load(wye_device_object*, const wye_artifact*, wye_bytes, wye_program_object**,
                        wye_error** error) {
    return refuse(error, WYE_INTERNAL, "Fix: none");
}

wye_status memory_info(wye_device_object* device, wye_memory_info* out, wye_error** error) {
    if (is("throws")) throw std::runtime_error("out of luck");
    return device_behind->memory_info(device, out, error);
}

wye_status one_handle(wye_device_object*, wye_buffer_object*, wye_native_handle* out, wye_error**) {
    out->count = 1;
    out->values[0].type = wye::sdk::to_abi("void*");
    out->values[0].value = 4096;
    return WYE_OK;
}

const void* device_extension(wye_device_object* device, wye_string name, std::uint32_t version) {
    const void* const table = device_behind->get_extension(device, name, version);
    if (table == nullptr || wye::sdk::from_abi(name) != WYE_EXTENSION_NATIVE_HANDLE) return table;
    static wye_native_table tables[2] = {};
    static std::atomic<unsigned> turn = 0;
    wye_native_table& out = tables[is("other_tables") ? turn++ % 2 : 0];
    std::memcpy(static_cast<void*>(&out), table,
                std::min<std::size_t>(sizeof out, static_cast<const wye_header*>(table)->size));
    if (is("same_handle")) out.buffer = one_handle;
    return is("other_tables") || is("same_handle") ? &out : table;
}

// ---- Plugin -------------------------------------------------------------------------------

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    if (is("changes_umask")) ::umask(0);
    const wye_status status = plugin_behind->open_device(plugin, desc, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.queue_create = queue_create;
        t.query = query;
        t.wait = wait;
        t.buffer_create = buffer_create;
        t.buffer_destroy = buffer_destroy;
        t.buffer_map = does_lack("buffer_map") ? nullptr : buffer_map;
        t.program_create = program_create;
        if (t.program_info != nullptr || is("small_program")) t.program_info = program_info;
        if (is("loads_nothing")) {
            t.program_save = program_save;
            t.program_load = program_load;
        }
        if (t.memory_info != nullptr || is("throws")) t.memory_info = memory_info;
        t.get_extension = device_extension;
    });
    return WYE_OK;
}

wye_status probe_devices(wye_plugin_object* plugin, std::uint32_t* count, wye_error** error) {
    const wye_status status = plugin_behind->probe_devices(plugin, count, error);
    static std::atomic<int> probes = 0;
    if (is("other_list") && probes++ % 2 == 1) ++*count;
    if (is("no_reason")) ++*count;
    return status;
}

wye_status device_info(wye_plugin_object* plugin, std::uint32_t index, wye_device_info* out,
                       wye_error** error) {
    const wye_status status = plugin_behind->device_info(plugin, 0, out, error);
    if (status != WYE_OK) return status;
    static constexpr wye_string kTwice[] = {{WYE_FORMAT_PROGRAM, 11}, {WYE_FORMAT_PROGRAM, 11}};
    if (is("same_format")) {
        out->formats = kTwice;
        out->format_count = 2;
    }
    if (is("no_reason") && index == 1) out->state = WYE_DEVICE_UNUSABLE;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t, std::uint32_t key, wye_fact* out) {
    const wye_status status = plugin_behind->device_fact(plugin, 0, key, out);
    static std::atomic<std::uint64_t> turn = 0;
    if (is("other_fact") && key == WYE_FACT_KEY_ONLINE_PROCESSORS) out->u = ++turn;
    static constexpr std::pair<std::uint32_t, std::string_view> kFacts[] = {
#define WYE_FAKE_FACT(name, key, json, type) {key, json},
        WYE_FACTS(WYE_FAKE_FACT)
#undef WYE_FAKE_FACT
    };
    if (lacks.empty()) return status;
    for (const auto& [known, name] : kFacts)
        if (known == key && does_lack(name)) return WYE_UNSUPPORTED;
    return status;
}

wye_status init(const wye_host_table* table, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    host = table;
    wye_string value{};
    const auto read = [&](std::string_view key, std::string& to) {
        if (table->config_get(table->self, wye::sdk::to_abi(key), &value) == WYE_OK)
            to = wye::sdk::from_abi(value);
    };
    read("deviates.how", how);
    read("deviates.lacks", lacks);
    if (is("crashes_at_exit") && starts == 0) std::atexit(std::abort);
    ++starts;
    if (is("one_plugin") && only != nullptr) {
        *out = only;
        return WYE_OK;
    }
    const wye_status status = plugin_behind->init(table, minor, out, error);
    if (status == WYE_OK) only = *out;
    return status;
}

void shutdown(wye_plugin_object* plugin) {
    if (is("keeps_plugin") || (--starts > 0 && is("one_plugin"))) return;
    only = nullptr;
    plugin_behind->shutdown(plugin);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return fake::query_over_cpu(hello, out, "deviates", plugin_behind, [](wye_plugin_table& table) {
        table.init = init;
        table.shutdown = shutdown;
        table.probe_devices = probe_devices;
        table.device_info = device_info;
        table.device_fact = device_fact;
        table.open_device = open_device;
    });
}
