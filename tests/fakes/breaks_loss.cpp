// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, whose device can be lost by the extension wye.loss, and which
// then breaks one rule (P-50), named by the configuration's "breaks_loss.how":
//   nothing            it keeps the rule
//   denies             `device_lost` says that the device is not lost
//   accepts_work       a submit after the loss succeeds
//   makes_objects      a buffer can be made after the loss
//   hangs              a wait for a value that is never reached does not end
//   forgets_reached    values that were reached before the loss fail
//   no_remedy          errors of a lost device have no remedy
//   recovers_nothing   `try_recover` succeeds, and the device stays lost
//   refuses_silently   `try_recover` fails without an error object
// What the CPU still does after the loss goes on, so that its values are reached. Used by one
// thread.
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>

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

std::set<const wye_device_object*> lost_devices;
bool lost(const wye_device_object* device) { return lost_devices.contains(device); }
std::map<const wye_queue_object*, const wye_device_object*> owners;  // of queues

wye_status fail(wye_error** error) {
    const wye::Error loss(wye::Code::DEVICE_LOST, "the device was lost",
                          is("no_remedy") ? "" : "Fix: open the device again");
    return wye::sdk::report(*host, loss, error);
}

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    if (!lost(owners.at(queue))) return queue_behind->submit(queue, submission, error);
    return is("accepts_work") ? WYE_OK : fail(error);
}

void queue_destroy(wye_queue_object* queue) {
    owners.erase(queue);
    queue_behind->destroy(queue);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    if (lost(device)) return fail(error);
    const wye_status status =
        device_behind->queue_create(device, desc, out, timeline, table, error);
    if (status != WYE_OK) return status;
    owners[*out] = device;
    queue_behind = *table;
    static const wye_queue_table kTable = [] {
        wye_queue_table t = *queue_behind;
        t.submit = submit;
        t.destroy = queue_destroy;
        return t;
    }();
    *table = &kTable;
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
    if (!lost(device)) return device_behind->query(device, event, error);
    if (is("forgets_reached")) return fail(error);
    return device_behind->query(device, event, nullptr) == WYE_OK ? WYE_OK : fail(error);
}

wye_status wait(wye_device_object* device, const wye_event* events, std::uint64_t count,
                std::uint32_t any, std::uint64_t timeout_ns, std::uint64_t* index,
                wye_error** error) {
    if (!lost(device))
        return device_behind->wait(device, events, count, any, timeout_ns, index, error);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (query(device, &events[i], nullptr) == WYE_OK) continue;
        if (is("hangs")) std::this_thread::sleep_for(std::chrono::hours(1));
        return fail(error);
    }
    return WYE_OK;
}

std::uint32_t device_lost(wye_device_object* device) {
    return lost(device) && !is("denies") ? 1 : 0;
}

wye_status try_recover(wye_device_object* device, wye_error**) {
    if (is("refuses_silently")) return WYE_UNSUPPORTED;
    if (!is("recovers_nothing")) lost_devices.erase(device);
    return WYE_OK;
}

wye_status lose(wye_device_object* device, wye_error** error) {
    if (lost(device)) return fail(error);
    lost_devices.insert(device);
    return WYE_OK;
}

const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
    static constexpr wye_loss_table kLoss = {{sizeof(wye_loss_table), 0, nullptr}, lose};
    return wye::sdk::from_abi(name) == WYE_EXTENSION_LOSS && version == 1 ? &kLoss : nullptr;
}

void close(wye_device_object* device) {
    lost_devices.erase(device);
    device_behind->close(device);
}

wye_status open_device(wye_plugin_object* plugin, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    const wye_status status = plugin_behind->open_device(plugin, index, out, table, error);
    if (status != WYE_OK) return status;
    device_behind = *table;
    static const wye_device_table kTable = [] {
        wye_device_table t = *device_behind;
        t.buffer_create = buffer_create;
        t.program_create = program_create;
        t.command_create = command_create;
        t.queue_create = queue_create;
        t.query = query;
        t.wait = wait;
        t.device_lost = device_lost;
        t.try_recover = try_recover;
        t.get_extension = get_extension;
        t.close = close;
        return t;
    }();
    *table = &kTable;
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
