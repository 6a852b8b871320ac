// SPDX-License-Identifier: Apache-2.0
//
// A mutex that clang's -Wthread-safety understands, and the words that say what it guards. With
// other compilers the words are nothing, and the types are thin covers of std::mutex.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define WYE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define WYE_THREAD_ATTRIBUTE(x)
#endif
#define WYE_CAPABILITY(name) WYE_THREAD_ATTRIBUTE(capability(name))
#define WYE_SCOPED_CAPABILITY WYE_THREAD_ATTRIBUTE(scoped_lockable)
// Of a member: it is read and written with `mutex` held.
#define WYE_GUARDED_BY(mutex) WYE_THREAD_ATTRIBUTE(guarded_by(mutex))
// Of a function: the caller holds the mutex, or must not hold it.
#define WYE_REQUIRES(...) WYE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define WYE_EXCLUDES(...) WYE_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define WYE_ACQUIRE(...) WYE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define WYE_RELEASE(...) WYE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace wye::sdk {

class WYE_CAPABILITY("mutex") Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() WYE_ACQUIRE() { mutex_.lock(); }
    void unlock() WYE_RELEASE() { mutex_.unlock(); }

  private:
    friend class WaitingLock;
    std::mutex mutex_;
};

// Holds the mutex while it lives.
class WYE_SCOPED_CAPABILITY Lock {
  public:
    explicit Lock(Mutex& mutex) WYE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~Lock() WYE_RELEASE() { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    Mutex& mutex_;
};

// As Lock, and may wait for a condition or let go in between. Conditions are asked in a loop by the
// caller: `while (!ready_) lock.wait(changed_);`.
class WYE_SCOPED_CAPABILITY WaitingLock {
  public:
    explicit WaitingLock(Mutex& mutex) WYE_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
    ~WaitingLock() WYE_RELEASE() {}
    WaitingLock(const WaitingLock&) = delete;
    WaitingLock& operator=(const WaitingLock&) = delete;

    void lock() WYE_ACQUIRE() { lock_.lock(); }
    void unlock() WYE_RELEASE() { lock_.unlock(); }
    void wait(std::condition_variable& changed) { changed.wait(lock_); }
    // False: the time is over.
    template <typename Time>
    bool wait_until(std::condition_variable& changed, const Time& end) {
        return changed.wait_until(lock_, end) == std::cv_status::no_timeout;
    }

  private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace wye::sdk
