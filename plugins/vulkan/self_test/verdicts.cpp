// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/verdicts.hpp"

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

bool Verdicts::recall(Plugin& plugin, std::uint32_t index, Verdict& out) const {
    const DeviceInfo& info = plugin.devices[index];
    const std::string key = verdict_key(info);
    if (cache_folder_.empty()) return false;
    const std::optional<Verdict> remembered = load_verdict(cache_folder_, key);
    if (!remembered) return false;
    const std::string doubt = spot_check(plugin, info, *remembered);
    plugin.deliver_messages();
    if (doubt.empty()) {
        out = *remembered;
        return true;
    }
    drop_verdict(cache_folder_, key);
    log(plugin.host, WYE_LOG_WARNING,
        "the remembered verdict of the self-test of " + info.name + " does not hold (" + doubt +
            "), so it is removed and the test runs again");
    return false;
}

const Verdict& Verdicts::of(Plugin& plugin, std::uint32_t index) {
    Tested& here = tested_[index];
    std::call_once(here.once, [&] {
        const DeviceInfo& info = plugin.devices[index];
        if (recall(plugin, index, here.verdict)) return;
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
