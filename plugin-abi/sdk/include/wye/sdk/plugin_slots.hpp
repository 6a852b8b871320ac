// SPDX-License-Identifier: Apache-2.0
//
// PluginSlots: implements the slots of a plugin for a C++ class `Plugin`:
//
//     constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
//
// `Plugin` derives from PluginState and has, in this order:
//
//     using Device = ...;                                    // see device_slots.hpp
//     static constexpr std::string_view kPlugin;             // its name in messages: "OpenCL"
//     static constexpr std::string_view kDomain;             // of native error codes: "opencl"
//     static Result<std::unique_ptr<Plugin>> create(host);   // at init
//     Result<std::vector<DeviceInfo>> probe();               // at the first probe_devices
//     std::span<const wye_string> formats(info) const;       // that the device accepts
//     wye_status fact(index, key, wye_fact& out);            // or WYE_UNKNOWN_KEY, WYE_UNSUPPORTED
//
// and optionally:
//
//     Result<std::vector<std::byte>> translate(const DeviceInfo* or null, artifact, format);
//     const void* extension(name, version);
//     Result<void> opened(Device& device);                   // records a new device, or refuses it
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "wye/sdk/device_slots.hpp"
#include "wye/sdk/facts.hpp"

namespace wye::sdk {

// Base of `Plugin`: the host's table, given at `init`, and the devices of the first probe.
template <typename Info>
struct PluginState {
    explicit PluginState(const wye_host_table& table) : host(table) {}

    const wye_host_table& host;
    std::uint32_t minor = 0;  // the effective minor: neither side uses additions of later minors
    std::vector<Info> devices;
    bool probed = false;
};

template <typename Plugin>
struct PluginSlots {
    using Device = typename Plugin::Device;

    [[nodiscard]] static Plugin& of(wye_plugin_object* object) {
        return *reinterpret_cast<Plugin*>(object);
    }

    static wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                           wye_error** error) {
        return guard(*host, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(host->header, 0, Plugin::kPlugin, "the host's table"));
            WYE_ASSIGN(auto plugin, Plugin::create(*host));
            plugin->minor = minor;
            *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
            return {};
        });
    }

    static wye_status probe_devices(wye_plugin_object* object, std::uint32_t* out_count,
                                    wye_error** error) {
        Plugin& plugin = of(object);
        return run_on(plugin, error, [&]() -> Result<void> {
            if (!plugin.probed) {
                WYE_ASSIGN(plugin.devices, plugin.probe());
            }
            plugin.probed = true;
            *out_count = static_cast<std::uint32_t>(plugin.devices.size());
            return {};
        });
    }

    static wye_status device_info(wye_plugin_object* object, std::uint32_t index,
                                  wye_device_info* out, wye_error** error) {
        Plugin& plugin = of(object);
        return run_on(plugin, error, [&]() -> Result<void> {
            WYE_TRY(exists(plugin, index));
            const auto& info = plugin.devices[index];
            list_device(info, plugin.formats(info), *out);
            out->native_code = info.native_code;
            return {};
        });
    }

    static wye_status device_fact(wye_plugin_object* object, std::uint32_t index, std::uint32_t key,
                                  wye_fact* out) {
        Plugin& plugin = of(object);
        if (index >= plugin.devices.size()) return WYE_UNSUPPORTED;
        wye_status status = WYE_UNSUPPORTED;
        wye_fact found = facts::empty();
        const wye_status ran = run_on(plugin, nullptr, [&]() -> Result<void> {
            status = plugin.fact(index, key, found);
            return {};
        });
        if (ran != WYE_OK) return WYE_UNSUPPORTED;
        if (status == WYE_OK) give(found, *out);
        return status;
    }

    static wye_status open_device(wye_plugin_object* object, const wye_open_desc* desc,
                                  wye_device_object** out, const wye_device_table** table,
                                  wye_error** error) {
        Plugin& plugin = of(object);
        return run_on(plugin, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(desc->header, desc->flags, Plugin::kPlugin, "an opening"));
            WYE_TRY(exists(plugin, desc->index));
            const auto& info = plugin.devices[desc->index];
            if (!info.usable()) return unusable(info, Plugin::kDomain);
            WYE_ASSIGN(auto device, Device::create(plugin, info));
            if constexpr (requires { plugin.opened(*device); }) WYE_TRY(plugin.opened(*device));
            *out = reinterpret_cast<wye_device_object*>(device.release());
            *table = &DeviceSlots<Device>::kTable;
            return {};
        });
    }

    static wye_status translate(wye_plugin_object* object, std::uint32_t index,
                                const wye_artifact* artifact, wye_string format, wye_bytes* out,
                                wye_error** error) {
        Plugin& plugin = of(object);
        return run_on(plugin, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(artifact->header, artifact->flags, Plugin::kPlugin, "an artifact"));
            const auto* info = index < plugin.devices.size() ? &plugin.devices[index] : nullptr;
            WYE_ASSIGN(const std::vector<std::byte> code,
                       plugin.translate(info, *artifact, from_abi(format)));
            auto* copy = new std::byte[code.size()];
            std::copy(code.begin(), code.end(), copy);
            *out = {copy, code.size()};
            return {};
        });
    }

    static void translate_release(wye_plugin_object*, wye_bytes bytes) {
        delete[] static_cast<const std::byte*>(bytes.data);
    }

    static const void* get_extension(wye_plugin_object* object, wye_string name,
                                     std::uint32_t version) {
        return of(object).extension(from_abi(name), version);
    }

    static void shutdown(wye_plugin_object* object) { delete &of(object); }

    [[nodiscard]] static constexpr wye_plugin_table table() {
        wye_plugin_table table{};
        table.header = header_of(sizeof table);
        table.init = init;
        table.probe_devices = probe_devices;
        table.device_info = device_info;
        table.device_fact = device_fact;
        table.open_device = open_device;
        if constexpr (requires { &Plugin::translate; }) {
            table.translate = translate;
            table.translate_release = translate_release;
        }
        if constexpr (requires { &Plugin::extension; }) table.get_extension = get_extension;
        table.shutdown = shutdown;
        return table;
    }

  private:
    static Result<void> exists(const Plugin& plugin, std::uint32_t index) {
        if (index < plugin.devices.size()) return {};
        return Error(Code::NO_DEVICE,
                     "the " + std::string(Plugin::kPlugin) + " plugin has no device " +
                         std::to_string(index),
                     "Fix: use a device that the probe lists");
    }
};

}  // namespace wye::sdk
