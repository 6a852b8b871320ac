// SPDX-License-Identifier: Apache-2.0
//
// Progress: a line on standard error about work that goes on for more than two seconds, such as
// "1200 of 5000 repetitions, 600/s, 6 s left". Prints nothing unless standard error is a terminal.
// A separate thread writes the line, so that the working thread only counts. Errors: none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace wye::tool {

// The progress line after `seconds`. `total` 0: unknown.
[[nodiscard]] std::string progress_line(const std::string& unit, std::uint64_t done,
                                        std::uint64_t total, double seconds);

class Progress {
  public:
    // `unit`: what is counted, as in "repetitions".
    explicit Progress(std::string unit, std::uint64_t total = 0);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    // Sets how many units are done. Free-threaded.
    void at(std::uint64_t done) noexcept { done_.store(done, std::memory_order_relaxed); }
    // Erases the line before something else is printed. The line is printed again a moment later.
    void hide();

  private:
    void write_lines();

    const std::string unit_;
    const std::uint64_t total_;
    std::atomic<std::uint64_t> done_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false, hidden_ = false, drawn_ = false;  // guarded by mutex_
    std::thread writer_;                                   // only on a terminal
};

}  // namespace wye::tool
