// SPDX-License-Identifier: Apache-2.0
//
// What the C API's shims share: the object behind wye_context, blobs, the guard that keeps
// exceptions inside, and the checks of structure headers. Internal to the api_*.cpp files and
// tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "exec/context.hpp"
#include "registry/error_object.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

struct wye_context {
    std::unique_ptr<wye::exec::Context> context;
};

struct wye_blob {
    std::string bytes;
};

namespace wye::exec {

// What a call says about the exception that is being handled.
[[nodiscard, gnu::cold]] wye_status caught(wye_error** sink) noexcept;

// Runs the body of an API call, which returns Result<void>; nothing leaves it but a status.
template <typename Body>
[[gnu::always_inline]] inline wye_status guarded(wye_error** sink, Body&& body) noexcept {
    try {
        Result<void> result = body();
        return result.ok() ? WYE_OK : registry::put_error(std::move(result).error(), sink);
    } catch (...) {
        return caught(sink);
    }
}

// INVALID_ARGUMENT that names the missing argument.
[[nodiscard]] Error missing(std::string_view what);
// A structure of the caller: exactly the size this version knows, no type, a harmless chain.
// refuse_header says what is wrong, or that nothing is after all.
[[nodiscard]] Result<void> refuse_header(const wye_header& header, std::size_t size,
                                         std::string_view name);
[[nodiscard]] inline Result<void> check_header(const wye_header& header, std::size_t size,
                                               std::string_view name) {
    if (header.size == size && header.type == 0 && header.next == nullptr) return {};
    return refuse_header(header, size, name);
}
// {pointer, size} with a null pointer and a size.
[[nodiscard]] Error refuse_string(wye_string text, std::string_view name);
[[nodiscard]] inline Result<void> check_string(wye_string text, std::string_view name) {
    if (text.data != nullptr || text.size == 0) return {};
    return refuse_string(text, name);
}
[[nodiscard]] inline Result<Context*> context_of(wye_context* context) {
    if (context == nullptr) return missing("context");
    return context->context.get();
}
[[nodiscard]] wye_blob* make_blob(std::string bytes);

// As wye_context_create, for options made by hand: the plugins built into a test.
[[nodiscard]] Result<wye_context*> make_context(registry::Options options,
                                                std::string default_selector);

// The plugins that are linked into the library.
[[nodiscard]] std::vector<registry::BuiltinPlugin> builtin_plugins();

}  // namespace wye::exec

// Returns an error from an API body when an out pointer or argument is null.
#define WYE_NEED(pointer)                                                \
    do {                                                                 \
        if ((pointer) == nullptr) return ::wye::exec::missing(#pointer); \
    } while (false)
