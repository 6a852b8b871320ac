// SPDX-License-Identifier: Apache-2.0
//
// Helpers for plugin authors: strings, host errors from Result<T>, and a guard that keeps
// exceptions inside the plugin. Header-only; optional; threads as the host table (free).
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::sdk {

[[nodiscard]] inline wye_string to_abi(std::string_view text) noexcept {
    return {text.data(), text.size()};
}
[[nodiscard]] inline std::string_view from_abi(wye_string text) noexcept {
    return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}
[[nodiscard]] inline wye_header header_of(std::uint32_t size) noexcept {
    return {size, 0, nullptr};
}

// Hands `error` (with its causes) to the host through `sink`, which may be null. Returns its code.
inline wye_status report(const wye_host_table& host, const Error& error,
                         wye_error** sink) noexcept {
    const auto code = static_cast<wye_status>(error.code);
    if (sink == nullptr) return code;
    wye_error* cause = nullptr;
    if (error.cause) report(host, *error.cause, &cause);
    wye_error_desc desc{};
    desc.header = header_of(sizeof desc);
    desc.code = code;
    desc.native_code = error.native_code;
    desc.native_domain = to_abi(error.native_domain);
    desc.subject = to_abi(error.subject);
    desc.message = to_abi(error.message);
    desc.fix = to_abi(error.fix);
    desc.cause = cause;
    *sink = host.error_make(host.self, &desc);
    return code;
}

// Runs a slot's body, a callable that returns Result<void>; nothing leaves it but a status.
template <typename Body>
wye_status guard(const wye_host_table& host, wye_error** sink, Body&& body) noexcept {
    try {
        Result<void> result = body();
        return result.ok() ? WYE_OK : report(host, result.error(), sink);
    } catch (const std::bad_alloc&) {
        return WYE_OUT_OF_MEMORY;
    } catch (const std::exception& e) {
        try {
            return report(host,
                          Error(Code::INTERNAL, std::string("the plugin threw: ") + e.what(),
                                "Fix: report this to the plugin's author"),
                          sink);
        } catch (...) {
            return WYE_INTERNAL;
        }
    } catch (...) {
        return WYE_INTERNAL;
    }
}

}  // namespace wye::sdk
