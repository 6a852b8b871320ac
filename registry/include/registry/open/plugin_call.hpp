// SPDX-License-Identifier: Apache-2.0
//
// call_slot(): calls a slot of a plugin and makes a Result of its status, its error object, or an
// exception, which plugins must not throw. Inline, since every submit calls a slot.
//
// PluginMark: marks the thread as being inside a plugin's slot. If the plugin calls `exit` or
// `quick_exit` there, a handler names the plugin on stderr, and the process ends with a failure
// status. The host installs no signal handlers, so it does not report a crash, `abort`, `_exit` or
// a hang, nor an `exit` on a thread that the plugin made. A mark is made and destroyed on one
// thread; nested marks are destroyed innermost first.
#pragma once

#include <cxxabi.h>

#include <string_view>
#include <utility>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// A plugin and one of its slots, for messages.
struct PluginSlot {
    std::string_view plugin, slot;
};

// Making and destroying a mark takes a few instructions. Marks need the exit handlers that the
// first InsidePlugin registers when a plugin is opened, which is before any dispatch.
class PluginMark {
  public:
    // `at` and its texts must outlive this object.
    explicit PluginMark(const PluginSlot& at) noexcept : at_(at), outer_(innermost) {
        innermost = this;
    }
    ~PluginMark() { innermost = outer_; }
    PluginMark(const PluginMark&) = delete;
    PluginMark& operator=(const PluginMark&) = delete;

  private:
    friend class InsidePlugin;
    friend struct ExitReport;
    // With this TLS model, a read of the variable needs no call of the loader. The loader reserves
    // some memory for such variables, even of libraries that are loaded late.
#ifdef __GLIBC__
    [[gnu::tls_model("initial-exec")]]
#endif
    static constinit thread_local const PluginMark* innermost;
    const PluginSlot& at_;
    const PluginMark* outer_;
};

namespace detail {

// Writes to stderr that the plugin ended the thread.
[[gnu::cold]] void slot_unwound(const PluginSlot& at) noexcept;
// Called while an exception of the slot is handled: frees the slot's error, and returns
// PLUGIN_FAULT.
[[nodiscard, gnu::cold]] Result<void> slot_threw(const PluginSlot& at, wye_error* error);
// Returns the result of a slot that failed, or that left an error object although it succeeded.
[[nodiscard, gnu::cold]] Result<void> slot_ended(const PluginSlot& at, wye_status status,
                                                 wye_error* error);

}  // namespace detail

// Like `call_slot` below; returns whether the slot succeeded, and writes `failed` if not.
template <typename Call>  // wye_status(wye_error**)
[[nodiscard, gnu::always_inline]] inline bool try_slot(const PluginSlot& at, Call&& call,
                                                       Result<void>& failed) {
    const PluginMark mark(at);
    wye_error* error = nullptr;
    wye_status status = WYE_OK;
    try {
        status = call(&error);
    } catch (abi::__forced_unwind&) {  // rethrown as C++ requires; ends the process in the C API
        detail::slot_unwound(at);
        throw;
    } catch (...) {
        failed = detail::slot_threw(at, error);
        return false;
    }
    if (status == WYE_OK && error == nullptr) [[likely]]
        return true;
    failed = detail::slot_ended(at, status, error);
    return failed.ok();
}

template <typename Call>
[[nodiscard, gnu::always_inline]] inline Result<void> call_slot(const PluginSlot& at, Call&& call) {
    Result<void> failed;
    (void)try_slot(at, std::forward<Call>(call), failed);
    return failed;
}

}  // namespace wye::registry
