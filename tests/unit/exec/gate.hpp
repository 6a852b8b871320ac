// SPDX-License-Identifier: Apache-2.0
//
// A function of the driver, such as its compiler, that waits until the test lets it go on.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace wye::exec::test {

class Gate {
  public:
    // Called by the function. Waits until the test calls let_go().
    void pass() {
        std::unique_lock lock(mutex_);
        ++entered_;
        changed_.notify_all();
        REQUIRE(changed_.wait_for(lock, kHang, [this] { return open_; }));
    }
    void let_go() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    // Waits until the function is called.
    void await_entry() {
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, kHang, [this] { return entered_ != 0; }));
    }
    // Whether the compiler was called. On a slow machine any time limit may pass before this call.
    // Tests of a limit that passes during the compile raise the limit until the call comes first.
    bool compiles() {
        const std::lock_guard lock(mutex_);
        return entered_ != 0;
    }

  private:
    static constexpr auto kHang = std::chrono::seconds(60);  // only a hang takes that long

    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
    int entered_ = 0;
};

}  // namespace wye::exec::test
