// SPDX-License-Identifier: Apache-2.0
#include "vulkan/plugin.hpp"

#include <algorithm>

#include "vulkan/buffer.hpp"
#include "vulkan/command.hpp"
#include "vulkan/program.hpp"
#include "vulkan/queue.hpp"
#include "vulkan/quirks.hpp"
#include "vulkan/setup/mapped_drivers.hpp"
#include "wye/sdk/findings.hpp"
#include "wye/sdk/spin.hpp"

namespace wye::vulkan {
namespace {

constexpr std::uint32_t kKeepMicroseconds = 100;

}  // namespace

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    WYE_ASSIGN(plugin->loader,
               Loader::open(sdk::config(host, "vulkan.library").value_or(kLibrary)));
    WYE_ASSIGN(plugin->spin_ns, sdk::spin_ns(host, "vulkan.spin_us"));
    WYE_ASSIGN(plugin->keep_ns, sdk::nanoseconds_in(host, "vulkan.keep_us", kKeepMicroseconds));
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() {
    const bool validation = sdk::config(host, "vulkan.validation").value_or("0") == "1";
    WYE_ASSIGN(instance, Instance::create(*loader, validation));
    WYE_ASSIGN(std::vector<DeviceInfo> found, discover(instance->table(), instance->get()));
    // quirk nvidia-vk-unloaded
    if (std::any_of(found.begin(), found.end(), nvidia_vk_unloaded)) keep_drivers_mapped();
    if (const auto kind = sdk::config(host, "vulkan.kind"))
        for (DeviceInfo& info : found) info.kind = *kind;
    if (sdk::config(host, "vulkan.transfers").value_or("") == "compute")
        for (DeviceInfo& info : found) info.transfers = info.family;
    for (std::uint32_t i = 0; i < found.size(); ++i)
        found[i].unadvertised_denorm =
            sdk::found_by_probe(host, i, "f32_denorm_mode").value_or(true);
    verdicts =
        std::make_unique<Verdicts>(found.size(), sdk::config(host, "cache_folder").value_or(""));
    return found;
}

std::span<const wye_string> Plugin::formats(const DeviceInfo&) const {
    static constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_SPIRV)};
    return kFormats;
}

wye_status Plugin::fact(std::uint32_t index, std::uint32_t key, wye_fact& out) {
    const DeviceInfo& info = devices[index];
    const bool tested = needs_self_test(key) && info.usable();
    return vulkan::fact(info, tested ? verdicts->of(*this, index) : Verdict{}, key, out);
}

void Plugin::deliver_messages() const {
    if (!instance || !instance->validates()) return;
    for (const std::string& message : instance->take_messages())
        host.log(host.self, WYE_LOG_ERROR, sdk::to_abi("vulkan.validation"), sdk::to_abi(message));
}

namespace {

constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("vulkan", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace
}  // namespace wye::vulkan

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::vulkan::kDesc, out);
}
