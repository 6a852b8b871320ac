// SPDX-License-Identifier: Apache-2.0
//
// run_children(): runs helper programs in parallel and collects their output. Each helper has its
// own process group, `input` as standard input, and no other descriptor of this process; its output
// reaches neither standard output nor standard error of this process. A group that exceeds its time
// or another limit is killed. Memory is read from /proc every 20 ms; where /proc is missing, this
// process does not limit memory. SIGCHLD is neither needed nor changed. Free-threaded. Internal to
// the registry.
//
// A helper whose message is complete is killed, and counts as ended. The system then takes some
// milliseconds to free a driver's memory; meanwhile a Leaving owns the process.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <vector>

#include "wye/sdk/mutex.hpp"

namespace wye::registry {

inline constexpr int kMessageDescriptor = 3;  // where the helper writes its message
inline constexpr std::uint64_t kMostPrinted = std::uint64_t{1} << 20U;  // bytes

struct ChildTask {
    std::string program;
    std::string input;
    // The time limit. Time in which a thread was ready to run but had no processor does not count,
    // up to nine times the limit. Of several threads, the thread that waited longest decides.
    std::chrono::milliseconds limit{};
    std::uint64_t memory = 0;  // limit of anonymous bytes, in memory or swapped out; 0: none
};

struct ChildResult {
    int start_error = 0;  // errno if the start failed; the other members then mean nothing
    std::string message;  // at most kMostMessageBytes
    std::string printed;  // the last bytes that the helper printed
    bool timed_out = false;
    bool flooded = false;    // the printed output was too long
    bool oversized = false;  // the message was too long
    bool overgrown = false;  // the helper exceeded its memory limit
    std::optional<int>
        status;  // as `wait` reports it; none: killed, or taken by another part of the process
    std::uint64_t took_ns = 0;
};

// Leaving: killed helpers whose exit status was not taken yet (`wait`). The destructor waits for
// them.
class Leaving {
  public:
    Leaving() = default;
    ~Leaving() { collect(0); }
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;

    void add(pid_t process);
    // Takes the status of the helpers that have ended, so that no zombies stay.
    void collect() noexcept;

  private:
    void collect(int flags) noexcept;

    sdk::Mutex mutex_;
    std::vector<pid_t> processes_ WYE_GUARDED_BY(mutex_);
};

// Calls `started()` once after all helpers were started, and `ended(task, result)` as each ends;
// both run on the calling thread, while other helpers run.
void run_children(const std::vector<ChildTask>& tasks, Leaving& leaving,
                  const std::function<void()>& started,
                  const std::function<void(std::size_t, ChildResult)>& ended);

}  // namespace wye::registry
