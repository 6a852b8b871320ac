// SPDX-License-Identifier: Apache-2.0
//
// contain(): calls a slot of a plugin as `call_slot` does, and informs the slot watcher. Internal
// to the registry.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "registry/open/host_services.hpp"
#include "registry/open/inside_plugin.hpp"
#include "registry/open/plugin_call.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// As `contain`, but does not inform the slot watcher: for slots that every dispatch calls.
template <typename Call>  // wye_status(wye_error**)
[[nodiscard]] Result<void> contain_quick(std::string_view plugin, std::string_view slot,
                                         Call&& call) {
    const PluginSlot at{plugin, slot};
    return call_slot(at, std::forward<Call>(call));
}

template <typename Call>  // wye_status(wye_error**)
[[nodiscard]] Result<void> contain(std::string_view plugin, std::string_view slot, Call&& call) {
    const InsidePlugin inside(plugin, slot);
    return contain_quick(plugin, slot, std::forward<Call>(call));
}

// Calls a slot that cannot report failure, such as a destroy slot. Logs exceptions.
template <typename Call>  // void()
void contain_end(const HostServices& host, std::string_view plugin, std::string_view slot,
                 Call&& call) noexcept {
    const auto ended = [&]() -> Result<void> {
        try {
            return contain(plugin, slot, [&](wye_error**) {
                call();
                return WYE_OK;
            });
        } catch (const std::exception&) {  // no memory for the message
            return {};
        }
    }();
    if (!ended.ok()) host.log(WYE_LOG_ERROR, "registry", ended.error().message);
}

}  // namespace wye::registry
