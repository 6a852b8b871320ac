// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name. Breaks one rule about commands or launches, which the
// configuration's "breaks_launches.how" names:
//   runs_once         a command runs only at its first execution (P-41)
//   keeps_parameters  all executions get the parameters of the command's first one (P-42)
//   ignores_edges     a command with edges runs its operations in reverse order (P-43)
//   updates_nothing   an update succeeds and changes nothing (P-44)
//   ignores_indirect  an indirect launch runs the workgroups in `logical_groups` (P-46)
//   claims_grid_sync  cooperative launches are claimed, but run like any other launch (P-47)
//   ignores_events    waits for native events are claimed, but no submit waits (P-52)
// To be used by one thread.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "over_cpu.hpp"
#include "wye/sdk/plugin.hpp"

namespace {

// The CPU plugin's own tables.
const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;
const wye_queue_table* queue_behind = nullptr;

std::string how;
bool is(std::string_view what) { return how == what; }

std::map<const wye_command_object*, std::uint32_t> params_sizes;
std::map<const wye_command_object*, std::vector<std::uint64_t>> first_params;
std::set<const wye_command_object*> executed;

// Changes an operation as `how` says. False: leave the operation out.
bool change(wye_operation& operation) {
    if (operation.kind == WYE_OPERATION_DISPATCH) {
        wye_dispatch_op& op = operation.u.dispatch;
        if (is("ignores_indirect") && (op.flags & WYE_LAUNCH_INDIRECT) != 0) {
            op.flags &= ~std::uint32_t{WYE_LAUNCH_INDIRECT};
            std::ranges::copy(op.logical_groups, op.groups);
        }
        if (is("claims_grid_sync")) op.flags &= ~std::uint32_t{WYE_LAUNCH_COOPERATIVE};
    }
    if (operation.kind != WYE_OPERATION_EXECUTE) return true;
    wye_execute_op& op = operation.u.execute;
    if (is("runs_once") && !executed.insert(op.command).second) return false;
    if (is("keeps_parameters")) {
        const std::uint32_t size = params_sizes[op.command];
        const auto [kept, fresh] = first_params.try_emplace(op.command, (size + 7) / 8);
        if (fresh && size != 0) std::memcpy(kept->second.data(), op.params, size);
        op.params = kept->second.data();
    }
    return true;
}

std::vector<wye_operation> changed(const wye_operation* operations, std::uint64_t count) {
    std::vector<wye_operation> out;
    for (wye_operation operation : std::span(operations, count))
        if (change(operation)) out.push_back(operation);
    return out;
}

wye_status submit(wye_queue_object* queue, const wye_submission* submission, wye_error** error) {
    const auto operations = changed(submission->operations, submission->operation_count);
    wye_submission other = *submission;
    other.operations = operations.data();
    other.operation_count = operations.size();
    if (is("ignores_events")) other.header.next = nullptr;
    return queue_behind->submit(queue, &other, error);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc* desc,
                        wye_queue_object** out, wye_timeline_object** timeline,
                        const wye_queue_table** table, wye_error** error) {
    const wye_status status =
        device_behind->queue_create(device, desc, out, timeline, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(queue_behind, table, [](wye_queue_table& t) { t.submit = submit; });
    return WYE_OK;
}

wye_status command_create(wye_device_object* device, const wye_command_desc* desc,
                          wye_command_object** out, wye_error** error) {
    auto operations = changed(desc->operations, desc->operation_count);
    wye_command_desc other = *desc;
    if (is("ignores_edges") && (desc->flags & WYE_COMMAND_EDGES) != 0) {
        std::ranges::reverse(operations);
        other.flags &= ~std::uint32_t{WYE_COMMAND_EDGES};
        other.edges = nullptr;
        other.edge_count = 0;
    }
    other.operations = operations.data();
    const wye_status status = device_behind->command_create(device, &other, out, error);
    if (status == WYE_OK) params_sizes[*out] = desc->params_size;
    return status;
}

void command_destroy(wye_device_object* device, wye_command_object* command) {
    executed.erase(command);
    first_params.erase(command);
    device_behind->command_destroy(device, command);
}

wye_status command_update(wye_device_object* device, wye_command_object* command,
                          std::uint64_t index, const wye_operation* operation, wye_error** error) {
    if (is("updates_nothing")) return WYE_OK;
    return device_behind->command_update(device, command, index, operation, error);
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_status status = plugin_behind->open_device(plugin, desc, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.queue_create = queue_create;
        t.command_create = command_create;
        t.command_destroy = command_destroy;
        t.command_update = command_update;
    });
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    const bool claimed = (key == WYE_FACT_KEY_GRID_SYNC && is("claims_grid_sync")) ||
                         (key == WYE_FACT_KEY_NATIVE_WAIT && is("ignores_events"));
    if (!claimed) return plugin_behind->device_fact(plugin, index, key, out);
    out->type = WYE_FACT_BOOL;
    out->u = 1;
    return WYE_OK;
}

wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                wye_error** error) {
    wye_string value{};
    const wye_string key = wye::sdk::to_abi("breaks_launches.how");
    if (host->config_get(host->self, key, &value) == WYE_OK) how = wye::sdk::from_abi(value);
    return plugin_behind->init(host, minor, out, error);
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return fake::query_over_cpu(hello, out, "breaks_launches", plugin_behind,
                                [](wye_plugin_table& table) {
                                    table.init = init;
                                    table.device_fact = device_fact;
                                    table.open_device = open_device;
                                });
}
