// SPDX-License-Identifier: Apache-2.0
//
// Watcher: a thread that runs functions when work in flight has ended, and tells work that its time
// limit has passed. It does so even if nobody waits for the work. The thread is started at first
// use. A session has one watcher for functions, which may wait for other work, and another for time
// limits. Free-threaded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>

#include "exec/device/pending_list.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

// A time at which a watcher calls `expire` of work. The alarm itself is an element of the watcher's
// list, so `set` allocates nothing. `expire` sets `at` to the time of its next call, or to kNever.
struct Alarm {
    static constexpr Clock::rep kNever = Clock::time_point::max().time_since_epoch().count();

    PendingWork* work = nullptr;  // lives at least as long as the alarm is set
    std::atomic<Clock::rep> at = kNever;
    Alarm *older = nullptr, *newer = nullptr;  // null: the alarm is not set
};

class Watcher {
  public:
    explicit Watcher(const char* thread_name) : name_(thread_name) {
        alarms_.older = alarms_.newer = &alarms_;
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() { stop(); }

    // Runs `then`, which must not throw, on the watcher's thread when the work has ended.
    // OUT_OF_MEMORY if the thread cannot be started; SHUTTING_DOWN after `stop`.
    [[nodiscard]] Result<void> add(WorkRef work, std::function<void()> then);
    // Starts the thread, unless it runs. Called before `set`. Errors as in `add`.
    [[nodiscard]] Result<void> start();
    void set(Alarm& alarm) noexcept;
    // Does nothing for an alarm that is not set. A call of `expire` may still follow if the watcher
    // has already found the alarm.
    void unset(Alarm& alarm) noexcept;
    // Ends the thread after the last function has run. Must not be called on the watcher's thread.
    void stop() noexcept;

  private:
    struct Entry {
        WorkRef work;
        std::function<void()> then;
    };
    void run() noexcept;
    [[nodiscard]] Result<void> start_thread() WYE_REQUIRES(mutex_);
    // Appends new entries to the list. If the list is empty, waits for an entry or an alarm. If the
    // time of an alarm has come, sets `late` to its work. False: the thread must end.
    [[nodiscard]] bool fetch(std::list<Entry>& entries, WorkRef& late);
    // Returns the next alarm or null; `first` gets its time, which other threads may change.
    [[nodiscard]] Alarm* next_alarm(Clock::rep& first) WYE_REQUIRES(mutex_);

    const char* const name_;
    sdk::WaitMutex mutex_;
    std::condition_variable changed_;
    std::list<Entry> added_ WYE_GUARDED_BY(mutex_);
    Alarm alarms_ WYE_GUARDED_BY(mutex_);                      // sentinel of the circular list
    Clock::rep wakes_ WYE_GUARDED_BY(mutex_) = Alarm::kNever;  // when the thread wakes by itself
    bool stopping_ WYE_GUARDED_BY(mutex_) = false;
    bool started_ WYE_GUARDED_BY(mutex_) = false;
    sdk::WideThread thread_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
