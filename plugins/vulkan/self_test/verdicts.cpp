// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/verdicts.hpp"

#include "vulkan/device.hpp"
#include "vulkan/plugin.hpp"
#include "vulkan/self_test/self_test.hpp"
#include "vulkan/self_test/spot_check.hpp"
#include "vulkan/self_test/verdict_file.hpp"

namespace wye::vulkan {
namespace {

void log(const wye_host_table& host, std::uint32_t level, const std::string& text) {
    host.log(host.self, level, sdk::to_abi("vulkan"), sdk::to_abi(text));
}

}  // namespace

bool Verdicts::load(const DeviceInfo& info, Tested& out) const {
    if (cache_folder_.empty()) return false;
    const std::optional<Verdict> saved = load_verdict(cache_folder_, verdict_key(info));
    if (!saved || !possible(info, *saved)) return false;
    out.verdict = *saved;
    out.loaded = true;
    return true;
}

Result<void> Verdicts::confirm(Device& opened) {
    Plugin& plugin = opened.plugin;
    const DeviceInfo& info = opened.info;
    Tested& here = tested_[static_cast<std::size_t>(&info - plugin.devices.data())];
    here.opened = true;
    if (!here.loaded) return {};
    std::call_once(here.confirmed, [&] {
        here.doubt = spot_check(opened, here.verdict);
        plugin.deliver_messages();
        if (!here.doubt.empty()) drop_verdict(cache_folder_, verdict_key(info));
    });
    if (here.doubt.empty()) return {};
    return Error(Code::DRIVER,
                 "the driver of " + info.name + " does not do what its saved self-test found (" +
                     here.doubt + "); the saved result is removed",
                 "Fix: start the program again, which tests the device anew", info.name);
}

const Verdict& Verdicts::of(Plugin& plugin, std::uint32_t index) {
    Tested& here = tested_[index];
    std::call_once(here.once, [&] {
        const DeviceInfo& info = plugin.devices[index];
        if (!here.opened && load(info, here)) return;
        auto found = self_test(plugin, info);
        plugin.deliver_messages();
        if (!found.ok()) {
            log(plugin.host, WYE_LOG_WARNING,
                "the self-test of " + info.name +
                    " did not run, so its floats count as inexact: " + found.error().text());
            return;
        }
        here.verdict = *found;
        if (cache_folder_.empty()) return;
        const auto saved = save_verdict(cache_folder_, verdict_key(info), here.verdict);
        if (!saved.ok()) log(plugin.host, WYE_LOG_INFO, saved.error().text());
    });
    return here.verdict;
}

}  // namespace wye::vulkan
