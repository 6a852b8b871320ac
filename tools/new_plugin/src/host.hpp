// SPDX-License-Identifier: Apache-2.0
//
// Functions by which the plugin reports to the host and asks it for settings. Code throws a
// Failure, and `guard` around each slot reports it, so no exception leaves a slot.
#pragma once

#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "wye/abi.h"

namespace driver {

struct Failure {
    wye_status code;
    std::string message;  // one sentence with the offending value
    std::string fix;      // the remedy: "Fix: ..."
    std::string log;      // the whole output of a compiler; else empty
};

inline wye_string to_abi(std::string_view text) { return {text.data(), text.size()}; }
inline std::string from_abi(wye_string text) {
    return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

// Returns the host's configuration for `key`, or `otherwise` if there is none.
inline std::string setting(const wye_host_table& host, std::string_view key,
                           std::string_view otherwise) {
    wye_string value{};
    const bool set = host.config_get(host.self, to_abi(key), &value) == WYE_OK && value.size != 0;
    return set ? from_abi(value) : std::string(otherwise);
}

// Makes the host's error object, if the host asks for one. Returns the failure's code.
inline wye_status report(const wye_host_table& host, const Failure& failure, wye_error** sink) {
    if (sink == nullptr) return failure.code;
    wye_error_desc desc{};
    desc.header.size = sizeof desc;
    desc.code = failure.code;
    if (!failure.log.empty()) {
        desc.message = to_abi(failure.log);
        desc.cause = host.error_make(host.self, &desc);
    }
    desc.message = to_abi(failure.message);
    desc.fix = to_abi(failure.fix);
    *sink = host.error_make(host.self, &desc);
    return failure.code;
}

// Runs `body`, the body of a slot, which returns the slot's status or throws. The body's locks are
// released before the host is called.
template <typename Body>
wye_status guard(const wye_host_table& host, wye_error** sink, Body&& body) noexcept {
    try {
        return body();
    } catch (const Failure& failure) {
        return report(host, failure, sink);
    } catch (const std::bad_alloc&) {
        return WYE_OUT_OF_MEMORY;  // the one failure that may come without an error object
    } catch (const std::exception& exception) {
        try {
            return report(host,
                          {WYE_INTERNAL,
                           std::string("the plugin threw: ") + exception.what(),
                           "Fix: report this to the plugin's author",
                           {}},
                          sink);
        } catch (...) {
            return WYE_INTERNAL;
        }
    } catch (...) {
        return WYE_INTERNAL;
    }
}

[[noreturn]] inline void refuse(const std::string& what) {
    throw Failure{WYE_UNSUPPORTED,
                  "the acme plugin does not know " + what,
                  "Fix: use a newer plugin, or do without it",
                  {}};
}

// Refuses each critical entry of a chain, since this plugin knows no critical entries.
inline void refuse_critical(const void* next) {
    for (auto entry = static_cast<const wye_header*>(next); entry != nullptr;
         entry = static_cast<const wye_header*>(entry->next))
        if ((entry->type & WYE_CHAIN_CRITICAL) != 0)
            throw Failure{WYE_UNSUPPORTED_EXTENSION,
                          "the acme plugin does not know chain entry " +
                              std::to_string(entry->type & ~WYE_CHAIN_CRITICAL),
                          "Fix: make the call without it, or use a newer plugin",
                          {}};
}
// Refuses what a later minor version may add to a structure: flags outside the mask `known`,
// another type, and critical entries in the chain of the structure.
inline void refuse_unknown(const wye_header& header, std::uint32_t flags, const std::string& what,
                           std::uint32_t known = 0) {
    if ((flags & ~known) != 0) refuse("flags " + std::to_string(flags) + " of " + what);
    if (header.type != 0) refuse("type " + std::to_string(header.type) + " of " + what);
    refuse_critical(header.next);
}

// Refuses kinds of slots that this plugin does not know. Called when a program is made.
inline void check_slots(std::span<const wye_slot> slots) {
    for (const wye_slot& slot : slots) {
        if (slot.flags != 0) refuse("flags of a slot");
        if (slot.kind < WYE_SLOT_BUFFER || slot.kind > WYE_SLOT_TRAP)
            refuse("slots of kind " + std::to_string(slot.kind));
    }
}

// Refuses a program of another format than `format`.
inline void check_format(const wye_artifact& artifact, std::string_view format) {
    if (from_abi(artifact.format) != format)
        throw Failure{WYE_UNSUPPORTED,
                      "the acme plugin takes programs of the format `" + std::string(format) +
                          "`, not `" + from_abi(artifact.format) + "`",
                      "Fix: give it a program of that format",
                      {}};
}

}  // namespace driver
