// SPDX-License-Identifier: Apache-2.0
//
// Destroying a context: waits for running work, or abandons it.
#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <thread>

#include "exec/api/api.hpp"
#include "wye/device.h"
#include "wye/sdk/blocked_signals.hpp"
#include "wye/sdk/mutex.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;

namespace {

using Rest = wye_context::Rest;

// Waits for the calls inside a closed context, then for its devices, and frees the context. After a
// shutdown, keeps the wye_context, which later calls read, until the application destroys it.
void close_down(wye_context* context) noexcept {
    (void)context->gate.wait_empty();
    if (context->rest == Rest::None) {
        delete context;
        return;
    }
    context->context.reset();
    Rest closing = Rest::Closing;
    if (!context->rest.compare_exchange_strong(closing, Rest::Closed)) delete context;
}

// State shared by the caller and the thread that closes the context.
struct Closing {
    wye::sdk::WaitMutex mutex;
    std::condition_variable changed;
    bool done WYE_GUARDED_BY(mutex) = false;
};

// The deadline, or none if it is beyond the clock's range.
std::optional<Clock::time_point> deadline_after(std::uint64_t timeout_ns) {
    constexpr std::uint64_t kLongest = UINT64_C(1) << 61U;  // 73 years
    if (timeout_ns >= kLongest) return std::nullopt;
    return Clock::now() + std::chrono::nanoseconds(timeout_ns);
}

// Frees the remains of a context that was shut down, or leaves that to the thread that is closing
// the context.
void free_rest(wye_context* context) noexcept {
    Rest rest = context->rest;
    while (rest == Rest::Closing && !context->rest.compare_exchange_weak(rest, Rest::Unwanted)) {
    }
    if (rest == Rest::Closed) delete context;
}

// Destroys a context. `keep`: shuts it down instead, so that it stays valid and refuses calls.
Result<void> destroy_within(wye_context* context, std::uint64_t timeout_ns, bool keep) {
    if (context == nullptr) return {};
    if (!keep && context->forks == wye::registry::fork_count() && context->rest != Rest::None) {
        free_rest(context);
        return {};
    }
    const auto deadline = deadline_after(timeout_ns);
    const auto closing = std::make_shared<Closing>();
    std::shared_ptr<LogDoor> log;
    std::shared_ptr<Door> callbacks;
    std::string devices;
    {
        const Call call(context);
        if (!call) return call.refusal();
        if (CallbackScope::within(context)) return inside_callback();
        log = context->log;
        callbacks = call->callbacks();
        devices = call->open_devices();
        // Once the gate is closed, another thread may destroy the context. Rest::Closing tells that
        // thread that this call still uses the context.
        Rest none = Rest::None;
        if (keep && !context->rest.compare_exchange_strong(none, Rest::Closing))
            return call.refusal();
        // From here on the application may not use the context, even after an error.
        if (!context->gate.close()) {
            if (keep) context->rest = Rest::None;
            return call.refusal();
        }
    }
    std::thread thread;
    try {
        const wye::sdk::BlockedSignals blocked;
        thread = std::thread([context, closing] {
            close_down(context);
            const wye::sdk::Lock lock(closing->mutex);
            closing->done = true;
            closing->changed.notify_all();
        });
    } catch (const std::exception& e) {
        if (log) log->close();
        callbacks->close();
        return Error(Code::OUT_OF_MEMORY,
                     fmt::format("no thread can be made to close the context ({}), so its objects "
                                 "stay until the process ends",
                                 e.what()),
                     "Fix: allow more threads", "context");
    }
    bool done = true;
    {
        wye::sdk::WaitingLock lock(closing->mutex);
        bool in_time = true;
        while (!closing->done && in_time) {
            if (deadline)
                in_time = lock.wait_until(closing->changed, *deadline);
            else
                lock.wait(closing->changed);
        }
        done = closing->done;
    }
    if (done) {
        thread.join();
        return {};
    }
    thread.detach();  // its code stays loaded: libwye is linked with -z nodelete
    if (log) log->close();
    callbacks->close();
    return Error(
        Code::TIMEOUT,
        fmt::format("the context with {} did not close within {:g} ms and was abandoned: its "
                    "memory is freed once its driver ends the work",
                    devices.empty() ? "no device open" : devices,
                    static_cast<double>(timeout_ns) / 1e6),
        "Fix: give a longer time limit, dispatch with time-outs, or end the process", devices);
}

}  // namespace

void wye_context_destroy(wye_context* context) {
    const wye::sdk::FloatState floats;
    if (context == nullptr || context->forks != wye::registry::fork_count() ||
        CallbackScope::within(context))
        return;
    if (context->gate.close()) return close_down(context);
    free_rest(context);
}

wye_status wye_context_destroy_within(wye_context* context, uint64_t timeout_ns,
                                      wye_error** error) {
    return guarded(error, [&] { return destroy_within(context, timeout_ns, false); });
}

wye_status wye_context_shutdown(wye_context* context, uint64_t timeout_ns, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        if (context == nullptr) return missing("context");
        return destroy_within(context, timeout_ns, true);
    });
}
