// SPDX-License-Identifier: Apache-2.0
//
// run_children(): runs helper programs in parallel and collects their output. Each has its own
// process group, `input` as standard input, and no other descriptor of this process; its output
// reaches neither standard output nor standard error of this process. A group that exceeds its time
// or another limit is killed. Memory is read from /proc every 20 ms; where /proc is missing, memory
// is not limited here. SIGCHLD is neither needed nor changed. Free-threaded. Internal to the
// registry.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wye::registry {

inline constexpr int kMessageDescriptor = 3;  // where the helper writes its message
inline constexpr std::uint64_t kMostPrinted = std::uint64_t{1} << 20U;  // bytes

struct ChildTask {
    std::string program;
    std::string input;
    std::chrono::milliseconds limit{};
    std::uint64_t memory = 0;  // limit of anonymous bytes, in memory or swapped out; 0: none
};

struct ChildResult {
    int start_error = 0;  // errno if it could not be started; the other members are then void
    std::string message;  // at most kMostMessageBytes
    std::string printed;  // the last bytes of what it printed
    bool timed_out = false;
    bool flooded = false;       // the message or the printed output was too long
    bool overgrown = false;     // it exceeded its memory limit
    std::optional<int> status;  // as of wait; none: another part of the process reaped it
    std::uint64_t took_ns = 0;
};

// Returns one result per task, in their order.
[[nodiscard]] std::vector<ChildResult> run_children(const std::vector<ChildTask>& tasks);

}  // namespace wye::registry
