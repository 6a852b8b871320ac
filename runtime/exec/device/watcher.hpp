// SPDX-License-Identifier: Apache-2.0
//
// Watcher: a thread that waits for work in flight and runs a function when it has ended. The thread
// is started at first use. Free-threaded.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>

#include "exec/device/pending_list.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

class Watcher {
  public:
    Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() { stop(); }

    // Runs `then`, which must not throw, on the watcher's thread when the work has ended.
    // OUT_OF_MEMORY if the thread cannot be started; SHUTTING_DOWN after `stop`.
    [[nodiscard]] Result<void> add(WorkRef work, std::function<void()> then);
    // Ends the thread after the last function has run. Must not be called on the watcher's thread.
    void stop() noexcept;

  private:
    struct Entry {
        WorkRef work;
        std::function<void()> then;
    };
    void run() noexcept;
    // Appends new entries to the list; if there are none, waits for one. False: the thread must
    // end.
    [[nodiscard]] bool fetch(std::list<Entry>& entries);

    sdk::WaitMutex mutex_;
    std::condition_variable changed_;
    std::list<Entry> added_ WYE_GUARDED_BY(mutex_);
    bool stopping_ WYE_GUARDED_BY(mutex_) = false;
    bool started_ WYE_GUARDED_BY(mutex_) = false;
    sdk::WideThread thread_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
