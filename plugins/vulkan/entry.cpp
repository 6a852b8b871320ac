// SPDX-License-Identifier: Apache-2.0
//
// The export and the plugin table.
#include <optional>

#include "vulkan/device.hpp"
#include "vulkan/facts.hpp"
#include "vulkan/self_test.hpp"
#include "vulkan/verdict_file.hpp"

namespace wye::vulkan {
namespace {

void log(const wye_host_table& host, std::uint32_t level, const std::string& text) {
    host.log(host.self, level, sdk::to_abi("vulkan"), sdk::to_abi(text));
}

Plugin& plugin_of(wye_plugin_object* object) { return *reinterpret_cast<Plugin*>(object); }

std::optional<std::string> config(const wye_host_table& host, std::string_view key) {
    wye_string out{};
    if (host.config_get(host.self, sdk::to_abi(key), &out) != WYE_OK) return std::nullopt;
    return std::string(sdk::from_abi(out));
}

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                wye_error** error) {
    return sdk::guard(*host, error, [&]() -> Result<void> {
        auto plugin = std::make_unique<Plugin>();
        plugin->host = host;
        WYE_ASSIGN(plugin->loader,
                   Loader::open(config(*host, "vulkan.library").value_or(kLibrary)));
        *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
        return {};
    });
}

wye_status probe_devices(wye_plugin_object* object, std::uint32_t* out_count, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        if (!plugin.instance) {
            const bool validation = config(*plugin.host, "vulkan.validation").value_or("0") == "1";
            WYE_ASSIGN(auto instance, Instance::create(*plugin.loader, validation));
            WYE_ASSIGN(plugin.devices, discover(instance->table(), instance->get()));
            plugin.tested.resize(plugin.devices.size());
            plugin.cache_folder = config(*plugin.host, "cache_folder").value_or("");
            plugin.instance = std::move(instance);
        }
        *out_count = static_cast<std::uint32_t>(plugin.devices.size());
        return {};
    });
}

wye_status device_info(wye_plugin_object* object, std::uint32_t index, wye_device_info* out,
                       wye_error**) {
    static constexpr wye_string kFormats[] = {{WYE_FORMAT_SPIRV, sizeof WYE_FORMAT_SPIRV - 1}};
    const Device& device = plugin_of(object).devices[index];
    out->name = sdk::to_abi(device.name);
    out->state = device.usable() ? WYE_DEVICE_USABLE : WYE_DEVICE_UNUSABLE;
    out->native_code = 0;
    out->reason = sdk::to_abi(device.reason);
    out->fix = sdk::to_abi(device.fix);
    out->formats = kFormats;
    out->format_count = std::size(kFormats);
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
        if (verdict->loop_rounds != 0)
            log(*host, WYE_LOG_WARNING,
                "the driver of " + device.name + " ends the loops of an invocation after " +
                    std::to_string(verdict->loop_rounds) +
                    " rounds, all loops together, and says nothing: programs that loop longer give "
                    "wrong results there. Fix: run those on another device");
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
    table.header = {sizeof table, 0, nullptr};
    table.init = init;
    table.probe_devices = probe_devices;
    table.device_info = device_info;
    table.device_fact = device_fact;
    table.open_device = open_device;
    table.shutdown = shutdown;
    return table;
}

constexpr std::uint64_t build_flags() {
    std::uint64_t flags = 0;
#if defined(__SANITIZE_ADDRESS__)
    flags |= WYE_BUILD_ASAN;
#endif
#if defined(__SANITIZE_THREAD__)
    flags |= WYE_BUILD_TSAN;
#endif
#if !defined(NDEBUG)
    flags |= WYE_BUILD_DEBUG;
#endif
    return flags;
}

constinit const wye_plugin_table kTable = make_table();

constexpr wye_string text(std::string_view value) { return {value.data(), value.size()}; }

constinit const wye_plugin_desc kDesc = {
    {sizeof(wye_plugin_desc), 0, nullptr},
    WYE_ABI_MAJOR,
    WYE_ABI_MINOR,
    WYE_ABI_MINOR_FLOOR,
    sizeof(void*),
    build_flags(),
    text("vulkan"),
    text(WYE_PLUGIN_VERSION),
    text("the Wye project"),
    &kTable,
};

}  // namespace
}  // namespace wye::vulkan

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    if (hello->minor_floor > WYE_ABI_MINOR) return WYE_ABI_MISMATCH;
    *out = &wye::vulkan::kDesc;
    return WYE_OK;
}
