// SPDX-License-Identifier: Apache-2.0
//
// Mutexes with annotations for clang's -Wthread-safety, and annotations for the members that they
// guard. Other compilers ignore the annotations.
//
// Mutex is one word, for short sections that every submit enters. Without contention, locking and
// unlocking are one atomic operation each; else threads sleep in the kernel. A thread does not
// access the mutex after its unlocking takes effect, so the next owner may destroy it. The other
// mutexes are thin wrappers of the standard library's.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <utility>

#if defined(__clang__)
#define WYE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define WYE_THREAD_ATTRIBUTE(x)
#endif
#define WYE_CAPABILITY(name) WYE_THREAD_ATTRIBUTE(capability(name))
#define WYE_SCOPED_CAPABILITY WYE_THREAD_ATTRIBUTE(scoped_lockable)
// Annotates a member that is read and written with `mutex` held.
#define WYE_GUARDED_BY(mutex) WYE_THREAD_ATTRIBUTE(guarded_by(mutex))
// WYE_REQUIRES annotates a function whose caller must hold the mutex, WYE_EXCLUDES a function whose
// caller must not hold the mutex.
#define WYE_REQUIRES(...) WYE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define WYE_EXCLUDES(...) WYE_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define WYE_ACQUIRE(...) WYE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define WYE_RELEASE(...) WYE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define WYE_ACQUIRE_SHARED(...) WYE_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define WYE_RELEASE_SHARED(...) WYE_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define WYE_RELEASE_GENERIC(...) WYE_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define WYE_ASSERT_CAPABILITY(...) WYE_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

// Called before a lock is taken, in builds for tests that choose the order of threads
// (-Dscheduler=true, tests/model).
#if defined(WYE_SCHEDULER)
extern "C" [[gnu::weak, gnu::visibility("default")]] void wye_scheduler_point();
#define WYE_SCHEDULER_POINT() (wye_scheduler_point != nullptr ? wye_scheduler_point() : void())
#else
#define WYE_SCHEDULER_POINT() void()
#endif

// ThreadSanitizer knows the mutexes of the standard library. Mutex reports its locking to
// ThreadSanitizer, so that the order in which mutexes are locked is checked. WYE_FOR_TSAN(call) is
// `call` in builds with ThreadSanitizer, and nothing in others.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WYE_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define WYE_THREAD_SANITIZER
#endif
#if defined(WYE_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#define WYE_FOR_TSAN(call) call
#else
#define WYE_FOR_TSAN(call) void()
#endif

namespace wye::sdk {

class WYE_CAPABILITY("mutex") Mutex {
  public:
    constexpr Mutex() = default;
#if defined(WYE_THREAD_SANITIZER)
    ~Mutex() { __tsan_mutex_destroy(this, 0); }
#endif
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() WYE_ACQUIRE() {
        WYE_SCHEDULER_POINT();
        WYE_FOR_TSAN(__tsan_mutex_pre_lock(this, 0));
        std::uint32_t expected = kFree;
        if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                            std::memory_order_relaxed)) [[unlikely]]
            lock_contended();
        WYE_FOR_TSAN(__tsan_mutex_post_lock(this, 0, 0));
    }
    [[gnu::always_inline]] void unlock() WYE_RELEASE() {
        WYE_FOR_TSAN(__tsan_mutex_pre_unlock(this, 0));
        if (state_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]]
            wake_one();
        WYE_FOR_TSAN(__tsan_mutex_post_unlock(this, 0));
    }

  private:
    // The algorithm is mutex2 of U. Drepper, "Futexes Are Tricky" (2011), section 7.
    static constexpr std::uint32_t kFree = 0, kHeld = 1;
    static constexpr std::uint32_t kWanted = 2;  // held, and threads may be sleeping

    [[gnu::cold, gnu::noinline]] void lock_contended() {
        while (state_.exchange(kWanted, std::memory_order_acquire) != kFree)
            (void)::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kWanted, nullptr, nullptr, 0);
    }
    // Uses only the address, as the mutex may be destroyed by then.
    [[gnu::cold, gnu::noinline]] void wake_one() {
        (void)::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

    std::atomic<std::uint32_t> state_{kFree};
    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
};

// A mutex for threads that wait for a condition variable; see WaitingLock.
class WYE_CAPABILITY("mutex") WaitMutex {
  public:
    constexpr WaitMutex() = default;
    WaitMutex(const WaitMutex&) = delete;
    WaitMutex& operator=(const WaitMutex&) = delete;

    void lock() WYE_ACQUIRE() { mutex_.lock(); }
    void unlock() WYE_RELEASE() { mutex_.unlock(); }

  private:
    friend class WaitingLock;
    std::mutex mutex_;
};

// A mutex for many readers or one writer.
class WYE_CAPABILITY("mutex") SharedMutex {
  public:
    SharedMutex() = default;
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    void lock() WYE_ACQUIRE() {
        WYE_SCHEDULER_POINT();
        mutex_.lock();
    }
    void unlock() WYE_RELEASE() { mutex_.unlock(); }
    void lock_shared() WYE_ACQUIRE_SHARED() {
        WYE_SCHEDULER_POINT();
        mutex_.lock_shared();
    }
    void unlock_shared() WYE_RELEASE_SHARED() { mutex_.unlock_shared(); }

  private:
    std::shared_mutex mutex_;
};

// A mutex with deadlines, held by a TimedHold, which may be moved.
class WYE_CAPABILITY("mutex") TimedMutex {
  public:
    TimedMutex() = default;
    TimedMutex(const TimedMutex&) = delete;
    TimedMutex& operator=(const TimedMutex&) = delete;

    void lock() WYE_ACQUIRE() { mutex_.lock(); }
    void unlock() WYE_RELEASE() { mutex_.unlock(); }
    // Tells clang's analysis, which does not track a TimedHold, that the mutex is held.
    void assert_held() const WYE_ASSERT_CAPABILITY(this) {}

  private:
    friend class TimedHold;
    std::timed_mutex mutex_;
};

// Holds a mutex of any kind until destroyed; a SharedMutex exclusively.
template <typename AnyMutex>
class WYE_SCOPED_CAPABILITY Lock {
  public:
    explicit Lock(AnyMutex& mutex) WYE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    [[gnu::always_inline]] ~Lock() WYE_RELEASE() { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    AnyMutex& mutex_;
};

// Holds a SharedMutex for reading until destroyed.
class WYE_SCOPED_CAPABILITY SharedLock {
  public:
    explicit SharedLock(SharedMutex& mutex) WYE_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
        mutex_.lock_shared();
    }
    ~SharedLock() WYE_RELEASE_GENERIC() { mutex_.unlock_shared(); }
    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;

  private:
    SharedMutex& mutex_;
};

// Holds a TimedMutex, or nothing. Code that has checked that the mutex is held calls `assert_held`.
// Movable.
class TimedHold {
  public:
    [[nodiscard]] static TimedHold now(TimedMutex& mutex) {
        return TimedHold(std::unique_lock(mutex.mutex_));
    }
    [[nodiscard]] static TimedHold if_free(TimedMutex& mutex) {
        return TimedHold(std::unique_lock(mutex.mutex_, std::try_to_lock));
    }
    template <typename Time>
    [[nodiscard]] static TimedHold until(TimedMutex& mutex, const Time& end) {
        return TimedHold(std::unique_lock(mutex.mutex_, end));
    }
    explicit operator bool() const { return lock_.owns_lock(); }

  private:
    explicit TimedHold(std::unique_lock<std::timed_mutex> lock) : lock_(std::move(lock)) {}
    std::unique_lock<std::timed_mutex> lock_;
};

// A Lock of a WaitMutex that can also wait for a condition variable, or unlock in between. The
// caller tests the condition in a loop: `while (!ready_) lock.wait(changed_);`.
class WYE_SCOPED_CAPABILITY WaitingLock {
  public:
    explicit WaitingLock(WaitMutex& mutex) WYE_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
    ~WaitingLock() WYE_RELEASE() {}
    WaitingLock(const WaitingLock&) = delete;
    WaitingLock& operator=(const WaitingLock&) = delete;

    void lock() WYE_ACQUIRE() { lock_.lock(); }
    void unlock() WYE_RELEASE() { lock_.unlock(); }
    void wait(std::condition_variable& changed) { changed.wait(lock_); }
    // Returns false if `end` has passed.
    template <typename Time>
    bool wait_until(std::condition_variable& changed, const Time& end) {
        return changed.wait_until(lock_, end) == std::cv_status::no_timeout;
    }

  private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace wye::sdk
