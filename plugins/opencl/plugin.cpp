// SPDX-License-Identifier: Apache-2.0
#include "opencl/plugin.hpp"

#include "opencl/buffer.hpp"
#include "opencl/command.hpp"
#include "opencl/program.hpp"
#include "opencl/queue.hpp"
#include "opencl/self_test/f64_rate.hpp"

namespace wye::opencl {

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    WYE_ASSIGN(plugin->driver,
               Driver::open(sdk::config(host, "opencl.library").value_or(kLibrary)));
    if (const auto events = sdk::config(host, "opencl.events")) {
        if (*events != "each" && *events != "few")
            return Error(Code::INVALID_ARGUMENT,
                         "`opencl.events` is `" + *events + "`, which is neither `each` nor `few`",
                         "Fix: leave it out, so that the driver decides", "opencl.events");
        plugin->few_events = *events == "few";
    }
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() {
    const Surroundings surroundings{
        sdk::config(host, "env.POCL_CACHE_DIR"), sdk::config(host, "env.PATH"),
        sdk::config(host, "env.XDG_CACHE_HOME"), sdk::config(host, "env.HOME")};
    WYE_ASSIGN(std::vector<DeviceInfo> found, discover(*driver, surroundings));
    if (const auto kind = sdk::config(host, "opencl.kind"))
        for (DeviceInfo& info : found) info.kind = *kind;
    for (DeviceInfo& info : found) info.f64_rate = std::make_shared<F64Rate>(*this);
    return found;
}

std::span<const wye_string> Plugin::formats(const DeviceInfo&) const {
    static constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_OPENCL_C)};
    return kFormats;
}

wye_status Plugin::fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const {
    return opencl::fact(devices[index], key, out);
}

namespace {

constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("opencl", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace
}  // namespace wye::opencl

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::opencl::kDesc, out);
}
