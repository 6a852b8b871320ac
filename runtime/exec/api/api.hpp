// SPDX-License-Identifier: Apache-2.0
//
// Shared code of the functions of wye.h: the objects behind wye_context and wye_blob, the
// conversion of exceptions to errors, and checks of structure headers. Internal to exec/api/ and
// tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "exec/context.hpp"
#include "exec/gate.hpp"
#include "registry/forks.hpp"
#include "registry/open/error_object.hpp"
#include "registry/open/slot_watch.hpp"
#include "wye/sdk/float_state.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Calls the application's log callback, but not after the context is destroyed. The context and
// the log sink of its drivers share ownership: drivers of an abandoned context may still log.
class LogDoor {
  public:
    LogDoor(registry::LogSink sink, const wye_context* context)
        : sink_(std::move(sink)), context_(context) {}
    void log(std::uint32_t level, std::string_view area, std::string_view text);
    // Waits for running callbacks; afterwards no callback starts.
    void close() noexcept { door_.close(); }

  private:
    Door door_;
    registry::LogSink sink_;
    const wye_context* context_;
};

}  // namespace wye::exec

struct wye_context {
    wye::exec::Gate gate;
    std::uint32_t forks = 0;  // fork_count() when the context was created
    std::unique_ptr<wye::exec::Context> context;
    std::shared_ptr<wye::exec::LogDoor> log;  // null: no log callback

    // The state of a context that was shut down. Closing: a thread is closing it. Closed: that
    // thread is done, so the application's destroy call frees the rest. Unwanted: the application
    // destroyed the context before that thread was done, so the thread frees the rest.
    enum class Rest : std::uint8_t { None, Closing, Closed, Unwanted };
    std::atomic<Rest> rest = Rest::None;
};

struct wye_blob {
    std::string bytes;
};

namespace wye::exec {

// Sets *sink to an error for the exception that is being handled; returns its status.
[[nodiscard, gnu::cold]] wye_status caught(wye_error** sink) noexcept;

// Sets the floating-point state for an API call. Notes a plugin that leaves another state behind.
struct CallFloats {
    ~CallFloats() {
        if (state.is_changed()) [[unlikely]]
            registry::note_float_change();
    }
    const sdk::FloatState state;  // restores the caller's state, after ~CallFloats has run
};

// Runs the body of an API call, which returns Result<void>, and converts exceptions to errors. The
// body and the threads that it starts do not see the caller's floating-point state.
template <typename Body>
[[gnu::always_inline]] inline wye_status guarded(wye_error** sink, Body&& body) noexcept {
    const CallFloats floats;
    try {
        Result<void> result = body();
        return result.ok() ? WYE_OK : registry::put_error(std::move(result).error(), sink);
    } catch (...) {
        return caught(sink);
    }
}

// INVALID_ARGUMENT that names the missing argument.
[[nodiscard]] Error missing(std::string_view what);
// Check the header of a caller's structure: it must have exactly the size that this version knows,
// no type, and no critical entry in its chain. refuse_header is the slow path, and returns the
// error if there is one.
[[nodiscard]] Result<void> refuse_header(const wye_header& header, std::size_t size,
                                         std::string_view name);
[[nodiscard]] inline Result<void> check_header(const wye_header& header, std::size_t size,
                                               std::string_view name) {
    if (header.size == size && header.type == 0 && header.next == nullptr) return {};
    return refuse_header(header, size, name);
}
// Refuses a text with a null pointer and a size above 0, and a text that is larger than any memory.
[[nodiscard]] Error refuse_string(wye_string text, std::string_view name);
[[nodiscard]] inline Result<void> check_string(wye_string text, std::string_view name) {
    if (text.size == 0 || (text.data != nullptr && text.size <= PTRDIFF_MAX)) return {};
    return refuse_string(text, name);
}

// Refuses flags outside `flags`, and nonzero members that belong to another kind of transfer.
[[nodiscard]] Result<void> check_transfer_desc(const wye_transfer_desc& desc, std::uint32_t flags);

[[nodiscard]] inline Result<void> check_dispatch(const wye_dispatch_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_dispatch_desc"));
    WYE_TRY(check_string(desc.label, "label"));
    return check_string(desc.profile, "profile");
}

// Registers an API call with its context for the call's duration. Converts to false if the call is
// refused.
class Call {
  public:
    explicit Call(wye_context* context) noexcept : context_(context) {
        if (context == nullptr || context->forks != registry::fork_count()) [[unlikely]]
            return;
        const std::uint32_t flags = context->gate.enter();
        entered_ = true;
        admitted_ = flags == 0 || admits(context, flags);
    }
    ~Call() {
        if (entered_) context_->gate.leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Whether a call may continue although the gate had `flags` set when the call entered it.
    [[nodiscard, gnu::cold]] static bool admits(const wye_context* context,
                                                std::uint32_t flags) noexcept;
    explicit operator bool() const noexcept { return admitted_; }
    // Why the call is refused: the context is null, inherited through a fork, being destroyed, or
    // used in its own callback.
    [[nodiscard, gnu::cold]] Error refusal() const;
    [[nodiscard]] Context* operator->() const noexcept { return context_->context.get(); }
    [[nodiscard]] Context& operator*() const noexcept { return *context_->context; }

  private:
    wye_context* context_;
    bool entered_ = false;
    bool admitted_ = false;
};
[[nodiscard]] Error inherited();  // the error for a context that a forked child inherited
[[nodiscard]] Error inside_callback();

[[nodiscard]] wye_blob* make_blob(std::string bytes);

// Like `wye_context_create`, but with given options; for tests with built-in plugins.
[[nodiscard]] Result<wye_context*> make_context(registry::Options options,
                                                std::string default_selector);

// The plugins linked into the library.
[[nodiscard]] std::vector<registry::BuiltinPlugin> builtin_plugins();

}  // namespace wye::exec

// Enters a context until the enclosing function returns, with a Call named `name`.
#define WYE_ENTER(name, context)             \
    const ::wye::exec::Call name((context)); \
    if (!name) [[unlikely]]                  \
    return name.refusal()

// Returns an error from an API body when an out pointer or argument is null.
#define WYE_NEED(pointer)                                                \
    do {                                                                 \
        if ((pointer) == nullptr) return ::wye::exec::missing(#pointer); \
    } while (false)
