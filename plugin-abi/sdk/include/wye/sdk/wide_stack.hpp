// SPDX-License-Identifier: Apache-2.0
//
// WideThread: a thread whose stack is large enough for readers of deeply nested programs and for
// drivers' compilers (clang needs 8 MiB), which an application's threads may not have. All signals
// are blocked in the thread, and the floating-point mode is the default. with_room: runs a function
// on a thread with enough stack left. Free-threaded. Errors: OUT_OF_MEMORY if the system gives no
// thread.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

// Sanitizers make stack frames several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kFrameFactor = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(undefined_behavior_sanitizer)
inline constexpr std::size_t kFrameFactor = 4;
#else
inline constexpr std::size_t kFrameFactor = 1;
#endif
#else
inline constexpr std::size_t kFrameFactor = 1;
#endif

inline constexpr std::size_t kWideStack = (std::size_t{16} << 20U) * kFrameFactor;  // bytes
// The stack that suffices to read, check or lower the deepest program: the limits of programs bound
// the recursion.
inline constexpr std::size_t kRoom = (std::size_t{2} << 20U) * kFrameFactor;

class WideThread {
  public:
    // Runs `work`, which must not throw. The name (at most 15 bytes) is for debuggers.
    [[nodiscard]] static Result<WideThread> start(const char* name, std::function<void()> work);
    WideThread() = default;
    WideThread(WideThread&& other) noexcept : thread_(std::exchange(other.thread_, {})) {}
    WideThread& operator=(WideThread&& other) noexcept {
        join();
        thread_ = std::exchange(other.thread_, {});
        return *this;
    }
    ~WideThread() { join(); }
    void join() noexcept;

  private:
    explicit WideThread(pthread_t thread) : thread_(thread) {}
    std::optional<pthread_t> thread_;
};

// Whether the calling thread has this much stack left. Always false on a foreign stack, such as a
// fiber's.
[[nodiscard]] bool has_room(std::size_t bytes) noexcept;

// Runs `work`, which returns a Result: on the calling thread if its stack has room, else on a
// WideThread while the caller waits. Rethrows exceptions of `work`.
template <typename Work>
[[nodiscard]] auto with_room(Work&& work, std::size_t bytes = kRoom) -> decltype(work()) {
    if (has_room(bytes)) return work();
    std::optional<decltype(work())> result;
    std::exception_ptr thrown;
    {
        WYE_ASSIGN(const WideThread thread, WideThread::start("wye-deep", [&] {
                       try {
                           result.emplace(work());
                       } catch (...) {
                           thrown = std::current_exception();
                       }
                   }));
    }
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(result);
}

}  // namespace wye::sdk
