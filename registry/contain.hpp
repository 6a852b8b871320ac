// SPDX-License-Identifier: Apache-2.0
//
// contain(): one call of a plugin's slot as a Result: its status, its error object, and whatever it
// throws against the rules. Internal to the registry.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "registry/error_object.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

template <typename Call>  // wye_status(wye_error**)
[[nodiscard]] Result<void> contain(std::string_view slot, Call&& call) {
    constexpr const char* kAuthor = "Fix: report this to the plugin's author";
    wye_error* error = nullptr;
    wye_status status = WYE_OK;
    try {
        status = call(&error);
    } catch (const std::exception& e) {
        release_error_object(error);
        return Error(Code::PLUGIN_FAULT, "the slot '" + std::string(slot) + "' threw: " + e.what(),
                     kAuthor);
    } catch (...) {
        release_error_object(error);
        return Error(Code::PLUGIN_FAULT, "the slot '" + std::string(slot) + "' threw", kAuthor);
    }
    if (status == WYE_OK) {
        if (error != nullptr) release_error_object(error);  // beside success it is dropped
        return {};
    }
    return take_error(status, error, "the slot '" + std::string(slot) + "'");
}

}  // namespace wye::registry
