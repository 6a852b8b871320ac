// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/wide_stack.hpp"

#include <sys/auxv.h>
#include <sys/resource.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <string>

#include "wye/sdk/blocked_signals.hpp"

namespace wye::sdk {
namespace {

struct Start {
    const char* name;
    std::function<void()> work;
};

void* call_on_stack(void* argument) {
    const std::unique_ptr<Start> start(static_cast<Start*>(argument));
    std::fesetenv(FE_DFL_ENV);
    ::pthread_setname_np(::pthread_self(), start->name);
    start->work();
    return nullptr;
}

// The lowest and the highest address of the calling thread's stack; 0 and 0: unknown.
struct Bounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
};

// The bounds of the main thread's stack, if the calling function is on that stack. The bytes of
// AT_RANDOM lie above all frames. Above these bytes are only arguments and environment, which take
// at most a quarter of the limit (execve(2)). The kernel maps nothing within 128 MiB below the
// stack, so a stack of at most kMost can grow to its limit. pthread_getattr_np is avoided, since
// for the main thread it parses /proc/self/maps.
Bounds main_stack() noexcept {
    constexpr rlim_t kMost = rlim_t{64} << 20U;
    rlimit limit{};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > kMost) return {};
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t top = ::getauxval(AT_RANDOM);
    const std::uintptr_t size = limit.rlim_cur - limit.rlim_cur / 4;
    if (here >= top || top - here >= size) return {};
    return {top - size, top};
}

Bounds own_stack() noexcept {
    Bounds out = main_stack();
    if (out.high != 0) return out;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return out;
    void* low = nullptr;
    std::size_t size = 0;
    if (::pthread_attr_getstack(&attributes, &low, &size) == 0) {
        out.low = reinterpret_cast<std::uintptr_t>(low);
        out.high = out.low + size;
    }
    ::pthread_attr_destroy(&attributes);
    return out;
}

}  // namespace

Result<WideThread> WideThread::start(const char* name, std::function<void()> work) {
    auto start = std::make_unique<Start>(Start{name, std::move(work)});
    pthread_attr_t attributes;
    int status = ::pthread_attr_init(&attributes);
    pthread_t thread{};
    if (status == 0) {
        status = ::pthread_attr_setstacksize(&attributes, kWideStack);
        const BlockedSignals blocked;
        if (status == 0)
            status = ::pthread_create(&thread, &attributes, call_on_stack, start.get());
        ::pthread_attr_destroy(&attributes);
    }
    if (status != 0) {
        Error error(Code::OUT_OF_MEMORY,
                    "the system gives no thread with " + std::to_string(kWideStack >> 20U) +
                        " MiB of stack: " + std::strerror(status),
                    "Fix: allow the process more threads (`ulimit -u`) or more memory");
        error.native_domain = "errno";
        error.native_code = status;
        return error;
    }
    (void)start.release();  // the new thread owns `start`
    return WideThread(thread);
}

void WideThread::join() noexcept {
    if (thread_) ::pthread_join(*thread_, nullptr);
    thread_.reset();
}

bool has_room(std::size_t bytes) noexcept {
    thread_local const Bounds bounds = own_stack();
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here > bounds.low && here <= bounds.high && here - bounds.low >= bytes;
}

}  // namespace wye::sdk
