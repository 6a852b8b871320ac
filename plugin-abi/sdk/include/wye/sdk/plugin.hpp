// SPDX-License-Identifier: Apache-2.0
//
// Helpers for plugin authors: strings, configuration, conversion of Result<T> to host errors, a
// guard that keeps exceptions inside the plugin, and the plugin's description. Header-only;
// optional; free-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"
#include "wye/sdk/sizes.hpp"

namespace wye::sdk {

[[nodiscard]] constexpr wye_string to_abi(std::string_view text) noexcept {
    return {text.data(), text.size()};
}
[[nodiscard]] constexpr std::string_view from_abi(wye_string text) noexcept {
    return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}
[[nodiscard]] constexpr wye_header header_of(std::uint32_t size) noexcept {
    return {size, 0, nullptr};
}

// Returns an operation of this kind whose other members are zero.
[[nodiscard]] inline wye_operation new_operation(std::uint32_t kind) noexcept {
    wye_operation out{};
    out.kind = kind;
    return out;
}

// Returns a binding of a range of a buffer.
[[nodiscard]] inline wye_binding binding_of(wye_buffer_object* buffer, std::uint64_t offset,
                                            std::uint64_t size, std::uint64_t elements) noexcept {
    return {buffer, offset, size, elements, 0, 0, 0};
}

// Returns a submission that points to these operations and waits.
[[nodiscard]] inline wye_submission submission_of(std::uint64_t value,
                                                  std::span<const wye_operation> operations,
                                                  std::span<const wye_event> waits = {},
                                                  std::uint32_t flags = 0) noexcept {
    wye_submission out{};
    out.header = header_of(sizeof out);
    out.operations = operations.data();
    out.operation_count = operations.size();
    out.waits = waits.data();
    out.wait_count = waits.size();
    out.value = value;
    out.flags = flags;
    return out;
}

// Returns the first critical entry of a chain of extensions, or null if there is none.
[[nodiscard]] constexpr const wye_header* critical_entry(const void* next) noexcept {
    for (; next != nullptr; next = static_cast<const wye_header*>(next)->next)
        if ((static_cast<const wye_header*>(next)->type & WYE_CHAIN_CRITICAL) != 0) break;
    return static_cast<const wye_header*>(next);
}

// Returns the value of `key` in the host's configuration, if it is set.
[[nodiscard]] inline std::optional<std::string> config(const wye_host_table& host,
                                                       std::string_view key) {
    wye_string out{};
    if (host.config_get == nullptr || host.config_get(host.self, to_abi(key), &out) != WYE_OK)
        return std::nullopt;
    return std::string(from_abi(out));
}

// Passes `error` and its causes to the host through `sink`, which may be null. Returns the error's
// code. Of more than 63 causes, passes the first 62 and the last.
inline wye_status report(const wye_host_table& host, const Error& error,
                         wye_error** sink) noexcept {
    const auto code = static_cast<wye_status>(error.code);
    if (sink == nullptr) return code;
    constexpr std::size_t kMost = 64;
    const Error* chain[kMost];
    std::size_t count = 0;
    for (const Error* e = &error; e != nullptr; e = e->cause.get()) {
        if (count < kMost) ++count;
        chain[count - 1] = e;
    }
    wye_error* made = nullptr;
    while (count-- > 0) {  // from the last, since an error object takes ownership of its cause
        const Error& e = *chain[count];
        wye_error_desc desc{};
        desc.header = header_of(sizeof desc);
        desc.code = static_cast<wye_status>(e.code);
        desc.native_code = e.native_code;
        desc.native_domain = to_abi(e.native_domain);
        desc.subject = to_abi(e.subject);
        desc.message = to_abi(e.message);
        desc.fix = to_abi(e.fix);
        desc.cause = made;
        made = host.error_make(host.self, &desc);
    }
    *sink = made;
    return code;
}

// Runs a slot's body, a callable that returns Result<void>, and turns exceptions into errors.
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

// Fills in a wye_device_info from a device that has `name`, `usable()`, `reason` and `fix`.
template <typename Device>
void list_device(const Device& device, std::span<const wye_string> formats, wye_device_info& out) {
    out.name = to_abi(device.name);
    out.state = device.usable() ? WYE_DEVICE_USABLE : WYE_DEVICE_UNUSABLE;
    out.reason = to_abi(device.reason);
    out.fix = to_abi(device.fix);
    out.formats = formats.data();
    out.format_count = formats.size();
}

// Copies all members but the header to a structure of the host. The structure is shorter if the
// host was built with an older ABI header.
template <typename Structure>
void give(const Structure& from, Structure& to) noexcept {
    const std::size_t size = std::min<std::size_t>(to.header.size, sizeof from);
    if (size > sizeof(wye_header))
        std::memcpy(reinterpret_cast<char*>(&to) + sizeof(wye_header),
                    reinterpret_cast<const char*>(&from) + sizeof(wye_header),
                    size - sizeof(wye_header));
}

// Returns the WYE_BUILD_* bits of the including file.
[[nodiscard]] constexpr std::uint64_t build_flags() noexcept {
    std::uint64_t flags = 0;
#if defined(__SANITIZE_ADDRESS__)
    flags |= WYE_BUILD_ASAN;
#endif
#if defined(__SANITIZE_THREAD__)
    flags |= WYE_BUILD_TSAN;
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    flags |= WYE_BUILD_ASAN;
#endif
#if __has_feature(thread_sanitizer)
    flags |= WYE_BUILD_TSAN;
#endif
#if __has_feature(undefined_behavior_sanitizer)
    flags |= WYE_BUILD_UBSAN;
#endif
#endif
#if !defined(NDEBUG)
    flags |= WYE_BUILD_DEBUG;
#endif
    return flags;
}

// Returns the description of a plugin that works with every host of this header's major version. A
// plugin that uses additions of a later minor without checking the effective minor must set
// `host_minor_needed` to that minor. The strings and the table must be static.
[[nodiscard]] constexpr wye_plugin_desc describe(std::string_view id, std::string_view version,
                                                 std::string_view vendor,
                                                 const wye_plugin_table& table,
                                                 std::uint64_t more_flags = 0) noexcept {
    wye_plugin_desc desc{};
    desc.header = header_of(sizeof desc);
    desc.abi_major = WYE_ABI_MAJOR;
    desc.abi_minor = WYE_ABI_MINOR;
    desc.host_minor_needed = 0;
    desc.pointer_bytes = sizeof(void*);
    desc.build_flags = build_flags() | more_flags;
    desc.id = to_abi(id);
    desc.version = to_abi(version);
    desc.vendor = to_abi(vendor);
    desc.table = &table;
    desc.abi_draft = WYE_ABI_MINOR_DRAFT;
    desc.minor_frozen = WYE_ABI_MINOR_FROZEN;
    return desc;
}

// Returns the versions that a host built with this header passes to a plugin's query.
[[nodiscard]] constexpr wye_hello hello() noexcept {
    return {header_of(sizeof(wye_hello)), WYE_ABI_MINOR, WYE_ABI_MINOR_FLOOR, WYE_ABI_MINOR_DRAFT,
            WYE_ABI_MINOR_FROZEN};
}

// Implements `wye_plugin_query_1`.
[[nodiscard]] inline wye_status answer_query(const wye_hello* hello, const wye_plugin_desc& desc,
                                             const wye_plugin_desc** out) noexcept {
    if (hello == nullptr || out == nullptr || hello->header.size < kSizeOfMinor0<wye_hello>)
        return WYE_ABI_MISMATCH;
    if (critical_entry(hello->header.next) != nullptr) return WYE_UNSUPPORTED_EXTENSION;
    *out = &desc;
    return WYE_OK;
}

}  // namespace wye::sdk
