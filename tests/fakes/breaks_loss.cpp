// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, with a device that the extension wye.loss can lose. After a
// loss it breaks one rule (P-50), which the configuration's "breaks_loss.how" names:
//   nothing            no rule is broken
//   denies             `device_lost` says that the device is not lost
//   accepts_work       a submit after the loss succeeds
//   makes_objects      a buffer can be made after the loss
//   hangs              a wait for a value that is not reached never returns
//   forgets_reached    values fail even if they were reached before the loss
//   no_remedy          errors of a lost device have no remedy
//   recovers_nothing   `try_recover` succeeds, and the device stays lost
//   refuses_silently   `try_recover` fails without an error object
//   reaches_pending    a wait for a value that failed by the loss returns success
//   writes_late        a download that was pending at the loss is written when its queue ends
// At a loss, the CPU ends or drops its work. After it, a value fails unless a call before the loss
// has found it reached.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "over_cpu.hpp"
#include "wye/abi_loss.h"
#include "wye/sdk/plugin.hpp"

namespace {

// The CPU plugin's own tables.
const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;
const wye_host_table* host = nullptr;

std::string how;
bool is(std::string_view what) { return how == what; }

struct Queue {
    wye_device_object* device = nullptr;
    wye_timeline_object* timeline = nullptr;
    std::uint64_t newest = 0;       // the last value that was submitted
    wye_transfer_op download = {};  // the last download, whose value is below
    std::uint64_t download_value = 0;
};

// Guards the members below. The mutex is not held during calls of the CPU plugin.
std::mutex mutex;
std::set<const wye_device_object*> lost_devices;
std::map<wye_queue_object*, Queue> queues;
std::map<const wye_timeline_object*, std::uint64_t> seen;  // the newest value found reached
std::vector<std::vector<wye_event>> submits;  // the value and the signals of each submit

bool lost(const wye_device_object* device) {
    const std::lock_guard lock(mutex);
    return lost_devices.contains(device);
}
wye_device_object* owner_of(wye_queue_object* queue) {
    const std::lock_guard lock(mutex);
    return queues.at(queue).device;
}
bool is_seen(const wye_event& event) {
    const auto newest = seen.find(event.timeline);
    return event.value == 0 || (newest != seen.end() && event.value <= newest->second);
}
bool was_seen(const wye_event& event) {
    const std::lock_guard lock(mutex);
    return is_seen(event);
}
void see(const wye_event& event) {
    const std::lock_guard lock(mutex);
    seen[event.timeline] = std::max(seen[event.timeline], event.value);
    const auto begun = [](const auto& reached) {
        return std::any_of(reached.begin(), reached.end(), is_seen);
    };
    auto at = submits.begin();
    while ((at = std::find_if(submits.begin(), submits.end(), begun)) != submits.end()) {
        for (const wye_event& one : *at)
            seen[one.timeline] = std::max(seen[one.timeline], one.value);
        submits.erase(at);
    }
}
// Forgets the values of `timeline`, which is destroyed.
void forget(const wye_timeline_object* timeline) {
    const std::lock_guard lock(mutex);
    seen.erase(timeline);
    for (auto& reached : submits)
        std::erase_if(reached, [&](const wye_event& one) { return one.timeline == timeline; });
    std::erase_if(submits, [](const auto& reached) { return reached.empty(); });
}
bool was_submitted(const wye_event& event) {
    const std::lock_guard lock(mutex);
    return std::any_of(queues.begin(), queues.end(), [&](const auto& entry) {
        return entry.second.timeline == event.timeline && event.value <= entry.second.newest;
    });
}

wye_status fail(wye_error** error) {
    const wye::Error loss(wye::Code::DEVICE_LOST, "the device was lost",
                          is("no_remedy") ? "" : "Fix: open the device again");
    return wye::sdk::report(*host, loss, error);
}

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    if (lost(owner_of(queue))) return is("accepts_work") ? WYE_OK : fail(error);
    const wye_status status = queue_behind->submit(queue, submission, error);
    if (status != WYE_OK) return status;
    const std::lock_guard lock(mutex);
    Queue& known = queues.at(queue);
    known.newest = submission->value;
    submits.push_back({{known.timeline, submission->value, 0, 0}});
    submits.back().insert(submits.back().end(), submission->signals,
                          submission->signals + submission->signal_count);
    for (std::uint64_t i = 0; i < submission->operation_count; ++i) {
        if (submission->operations[i].kind != WYE_OPERATION_DOWNLOAD) continue;
        known.download = submission->operations[i].u.transfer;
        known.download_value = submission->value;
    }
    return WYE_OK;
}

void queue_destroy(wye_queue_object* queue) {
    queue_behind->destroy(queue);
    std::unique_lock lock(mutex);
    const Queue known = queues.at(queue);
    if (is("writes_late") && lost_devices.contains(known.device) && known.download_value != 0 &&
        known.download_value > seen[known.timeline])
        std::memset(known.download.target, 0, known.download.size);
    queues.erase(queue);
    lock.unlock();
    forget(known.timeline);
}

void timeline_destroy(wye_device_object* device, wye_timeline_object* timeline) {
    device_behind->timeline_destroy(device, timeline);
    forget(timeline);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    if (lost(device)) return fail(error);
    const wye_status status =
        device_behind->queue_create(device, desc, out, timeline, table, error);
    if (status != WYE_OK) return status;
    {
        const std::lock_guard lock(mutex);
        queues[*out] = {device, *timeline, 0, {}, 0};
    }
    fake::replace_slots(queue_behind, table, [](wye_queue_table& t) {
        t.submit = submit;
        t.destroy = queue_destroy;
    });
    return WYE_OK;
}

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    if (lost(device) && !is("makes_objects")) return fail(error);
    return device_behind->buffer_create(device, desc, out, error);
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    if (lost(device)) return fail(error);
    return device_behind->program_create(device, artifact, out, error);
}

wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                          wye_command_object** out, wye_error** error) {
    if (lost(device)) return fail(error);
    return device_behind->command_create(device, desc, out, error);
}

wye_status query(wye_device_object* device, const wye_event* event, wye_error** error) {
    if (!lost(device)) {
        const wye_status status = device_behind->query(device, event, error);
        if (status == WYE_OK) see(*event);
        return status;
    }
    if (is("forgets_reached")) return fail(error);
    return was_seen(*event) ? WYE_OK : fail(error);
}

wye_status wait_of_lost(wye_device_object* device, const wye_event* events, std::uint64_t count,
                        wye_error** error) {
    for (std::uint64_t i = 0; i < count; ++i) {
        if (query(device, &events[i], nullptr) == WYE_OK) continue;
        if (is("reaches_pending") && was_submitted(events[i])) continue;
        if (is("hangs")) std::this_thread::sleep_for(std::chrono::hours(1));
        return fail(error);
    }
    return WYE_OK;
}

wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                wye_error** error) {
    // Waits in short slices, since a loss must end the wait.
    constexpr std::uint64_t kSlice = 10'000'000;
    for (std::uint64_t left = timeout_ns; !lost(device);) {
        const std::uint64_t slice = std::min(left, kSlice);
        if (timeout_ns != UINT64_MAX) left -= slice;
        const wye_status status = device_behind->wait(device, events, count, any, slice, index,
                                                      left == 0 ? error : nullptr);
        if (status == WYE_TIMEOUT && left != 0) continue;
        if (lost(device)) break;
        if (status == WYE_OK && any == 0)
            for (std::uint64_t i = 0; i < count; ++i) see(events[i]);
        if (status == WYE_OK || status == WYE_TIMEOUT || left == 0) return status;
        return device_behind->wait(device, events, count, any, 0, index, error);
    }
    return wait_of_lost(device, events, count, error);
}

std::uint32_t device_lost(wye_device_object* device) {
    return lost(device) && !is("denies") ? 1 : 0;
}

wye_status try_recover(wye_device_object* device, wye_error**) {
    if (is("refuses_silently")) return WYE_UNSUPPORTED;
    const std::lock_guard lock(mutex);
    if (!is("recovers_nothing")) lost_devices.erase(device);
    return WYE_OK;
}

wye_status lose(wye_device_object* device, wye_error** error) {
    if (lost(device)) return fail(error);
    std::map<wye_queue_object*, Queue> pending;
    {
        const std::lock_guard lock(mutex);
        lost_devices.insert(device);
        pending = queues;
    }
    for (const auto& [queue, known] : pending) {
        if (known.device != device) continue;
        (void)queue_behind->cancel(queue, 1, known.newest, nullptr);
        const wye_event last = {known.timeline, known.newest, 0, 0};
        (void)device_behind->wait(device, &last, 1, 0, UINT64_MAX, nullptr, nullptr);
    }
    return WYE_OK;
}

const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
    static constexpr wye_loss_table kLoss = {{sizeof(wye_loss_table), 0, nullptr}, lose};
    return wye::sdk::from_abi(name) == WYE_EXTENSION_LOSS && version == 1 ? &kLoss : nullptr;
}

void close(wye_device_object* device) {
    {
        const std::lock_guard lock(mutex);
        lost_devices.erase(device);
    }
    device_behind->close(device);
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_status status = plugin_behind->open_device(plugin, desc, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.buffer_create = buffer_create;
        t.program_create = program_create;
        t.command_create = command_create;
        t.queue_create = queue_create;
        t.timeline_destroy = timeline_destroy;
        t.query = query;
        t.wait = wait;
        t.device_lost = device_lost;
        t.try_recover = try_recover;
        t.get_extension = get_extension;
        t.close = close;
    });
    return WYE_OK;
}

wye_status init(const wye_host_table* given, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    host = given;
    how = wye::sdk::config(*given, "breaks_loss.how").value_or("nothing");
    return plugin_behind->init(given, minor, out, error);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return fake::query_over_cpu(hello, out, "breaks_loss", plugin_behind,
                                [](wye_plugin_table& table) {
                                    table.init = init;
                                    table.open_device = open_device;
                                });
}
