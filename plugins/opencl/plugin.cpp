// SPDX-License-Identifier: Apache-2.0
//
// The export and the plugin table.
#include "opencl/device.hpp"

namespace wye::opencl {
namespace {

Plugin& plugin_of(wye_plugin_object* object) { return *reinterpret_cast<Plugin*>(object); }

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                wye_error** error) {
    return sdk::guard(*host, error, [&]() -> Result<void> {
        auto plugin = std::make_unique<Plugin>();
        plugin->host = host;
        WYE_ASSIGN(plugin->driver,
                   Driver::open(sdk::config(*host, "opencl.library").value_or(kLibrary)));
        *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
        return {};
    });
}

wye_status probe_devices(wye_plugin_object* object, std::uint32_t* out_count, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        if (!plugin.probed) {
            const Surroundings surroundings{sdk::config(*plugin.host, "env.POCL_CACHE_DIR"),
                                            sdk::config(*plugin.host, "env.PATH")};
            WYE_ASSIGN(plugin.devices, discover(*plugin.driver, surroundings));
            plugin.probed = true;
        }
        *out_count = static_cast<std::uint32_t>(plugin.devices.size());
        return {};
    });
}

wye_status device_info(wye_plugin_object* object, std::uint32_t index, wye_device_info* out,
                       wye_error**) {
    static constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_OPENCL_C)};
    const Device& device = plugin_of(object).devices[index];
    sdk::list_device(device, kFormats, *out);
    out->native_code = device.native_code;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* object, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    return fact(plugin_of(object).devices[index], key, *out);
}

wye_status open_device(wye_plugin_object* object, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        WYE_ASSIGN(auto device, OpenDevice::open(plugin, index));
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
    sdk::describe("opencl", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace
}  // namespace wye::opencl

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::opencl::kDesc, out);
}
