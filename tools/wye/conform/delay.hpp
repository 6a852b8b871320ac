// SPDX-License-Identifier: Apache-2.0
//
// Delay: how long a process and those that it started were ready to run and had no processor, as
// Linux counts it for each thread in /proc/PID/task/TID/schedstat. On a busy machine a case takes
// longer in proportion; its time limit must not end it for that. One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>

namespace wye::tool::conform {

class Delay {
  public:
    explicit Delay(pid_t process) : process_(process) {}

    // The delay since the last call, or since the beginning: that of the thread that waited
    // longest, since threads wait at the same time. 0 if the system does not count it. To be called
    // often: what a thread waited between the last call and its end is missed.
    [[nodiscard]] std::chrono::nanoseconds more();

  private:
    pid_t process_;
    std::map<pid_t, std::int64_t> seen_;  // ns, by thread
};

}  // namespace wye::tool::conform
