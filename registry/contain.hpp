// SPDX-License-Identifier: Apache-2.0
//
// contain(): calls a slot of a plugin and makes a Result of its status, its error object, or an
// exception, which plugins must not throw. Internal to the registry.
#pragma once

#include <fmt/format.h>

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "inside_plugin.hpp"
#include "registry/error_object.hpp"
#include "registry/host_services.hpp"
#include "registry/plugin_text.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

inline constexpr const char* kPluginAuthor = "Fix: report this to the plugin's author";

// As `contain`, but does not inform the slot watcher: for slots that every dispatch calls.
template <typename Call>  // wye_status(wye_error**)
[[nodiscard]] Result<void> contain_quick(std::string_view plugin, std::string_view slot,
                                         Call&& call) {
    const PluginMark mark(plugin, slot);
    wye_error* error = nullptr;
    wye_status status = WYE_OK;
    try {
        status = call(&error);
    } catch (abi::__forced_unwind&) {  // rethrown as C++ requires; ends the process in the C API
        name_plugin(plugin, slot, "the thread was ended (pthread_exit or pthread_cancel)");
        throw;
    } catch (const std::exception& e) {
        release_error_object(error);
        return Error(Code::PLUGIN_FAULT,
                     fmt::format("the slot `{}` threw: {}", slot, one_line(e.what())),
                     kPluginAuthor);
    } catch (...) {
        release_error_object(error);
        return Error(Code::PLUGIN_FAULT, fmt::format("the slot `{}` threw", slot), kPluginAuthor);
    }
    if (status == WYE_OK) {
        if (error != nullptr) release_error_object(error);  // ignored on success
        return {};
    }
    std::unique_ptr<wye_error, void (*)(wye_error*)> owned(error, release_error_object);
    const std::string what = fmt::format("the slot `{}`", slot);  // may throw
    return take_error(status, owned.release(), what);
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
