// SPDX-License-Identifier: Apache-2.0
//
// The export and the plugin table.
#include <optional>

#include "vulkan/device.hpp"
#include "vulkan/facts.hpp"
#include "vulkan/self_test/self_test.hpp"
#include "vulkan/self_test/spot_check.hpp"
#include "vulkan/self_test/verdict_file.hpp"

namespace wye::vulkan {
namespace {

void log(const wye_host_table& host, std::uint32_t level, const std::string& text) {
    host.log(host.self, level, sdk::to_abi("vulkan"), sdk::to_abi(text));
}

Plugin& plugin_of(wye_plugin_object* object) { return *reinterpret_cast<Plugin*>(object); }

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                wye_error** error) {
    return sdk::guard(*host, error, [&]() -> Result<void> {
        auto plugin = std::make_unique<Plugin>();
        plugin->host = host;
        WYE_ASSIGN(plugin->loader,
                   Loader::open(sdk::config(*host, "vulkan.library").value_or(kLibrary)));
        *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
        return {};
    });
}

wye_status probe_devices(wye_plugin_object* object, std::uint32_t* out_count, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        if (!plugin.instance) {
            const bool validation =
                sdk::config(*plugin.host, "vulkan.validation").value_or("0") == "1";
            WYE_ASSIGN(auto instance, Instance::create(*plugin.loader, validation));
            WYE_ASSIGN(plugin.devices, discover(instance->table(), instance->get()));
            if (const auto kind = sdk::config(*plugin.host, "vulkan.kind"))
                for (Device& device : plugin.devices) device.kind = *kind;
            plugin.tested.resize(plugin.devices.size());
            plugin.cache_folder = sdk::config(*plugin.host, "cache_folder").value_or("");
            plugin.instance = std::move(instance);
        }
        *out_count = static_cast<std::uint32_t>(plugin.devices.size());
        return {};
    });
}

wye_status device_info(wye_plugin_object* object, std::uint32_t index, wye_device_info* out,
                       wye_error**) {
    static constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_SPIRV)};
    const Device& device = plugin_of(object).devices[index];
    sdk::list_device(device, kFormats, *out);
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* object, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    Plugin& plugin = plugin_of(object);
    const Device& device = plugin.devices[index];
    if (!needs_self_test(key) || !device.usable()) return fact(device, Verdict{}, key, *out);
    try {
        return fact(device, plugin.verdict(index), key, *out);
    } catch (...) {
        return WYE_UNSUPPORTED;
    }
}

}  // namespace

const Verdict& Plugin::verdict(std::uint32_t index) {
    Tested& here = tested[index];
    std::call_once(here.once, [&] {
        const Device& device = devices[index];
        const std::string key = verdict_key(device);
        std::optional<Verdict> verdict;
        if (!cache_folder.empty()) verdict = load_verdict(cache_folder, key);
        if (verdict) {
            const std::string doubt = spot_check(*this, device, *verdict);
            deliver_messages();
            if (!doubt.empty()) {
                drop_verdict(cache_folder, key);
                log(*host, WYE_LOG_WARNING,
                    "the remembered verdict of the self-test of " + device.name +
                        " does not hold (" + doubt + "), so it is removed and the test runs again");
                verdict.reset();
            }
        }
        if (!verdict) {
            auto found = self_test(*this, device);
            deliver_messages();
            if (!found.ok()) {
                log(*host, WYE_LOG_WARNING,
                    "the self-test of " + device.name +
                        " did not run, so its floats count as inexact: " + found.error().text());
                return;
            }
            verdict = *found;
            const auto saved =
                cache_folder.empty() ? Result<void>() : save_verdict(cache_folder, key, *verdict);
            if (!saved.ok()) log(*host, WYE_LOG_INFO, saved.error().text());
        }
        here.verdict = *verdict;
    });
    return here.verdict;
}

namespace {

wye_status open_device(wye_plugin_object* object, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return guard(plugin, error, [&]() -> Result<void> {
        WYE_ASSIGN(auto device, OpenDevice::open(plugin, plugin.devices[index]));
        *out = reinterpret_cast<wye_device_object*>(device.release());
        *table = &kDeviceTable;
        return {};
    });
}

void shutdown(wye_plugin_object* object) { delete &plugin_of(object); }

constexpr wye_plugin_table make_table() {
    wye_plugin_table table{};
    table.header = sdk::header_of(sizeof table);
    table.init = init;
    table.probe_devices = probe_devices;
    table.device_info = device_info;
    table.device_fact = device_fact;
    table.open_device = open_device;
    table.shutdown = shutdown;
    return table;
}

constinit const wye_plugin_table kTable = make_table();

constinit const wye_plugin_desc kDesc =
    sdk::describe("vulkan", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace
}  // namespace wye::vulkan

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::vulkan::kDesc, out);
}
