// SPDX-License-Identifier: Apache-2.0
//
// Runs helper programs side by side and keeps what they say. Each has a process group, no standard
// input but `input`, and no other descriptor of this process; what it prints goes to neither
// standard output nor standard error of this process. At the end of its time, or of its bounds, the
// group is killed. Its memory is looked at every 20 ms, in /proc; where that is missing, it has no
// bound here. SIGCHLD is neither needed nor changed. Free-threaded. Internal to the registry.
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
    std::uint64_t memory = 0;  // bytes that are in no file, in memory or swapped out; 0: any
};

struct ChildResult {
    int start_error = 0;  // errno if it could not be started; the rest is void then
    std::string message;  // at most kMostMessageBytes
    std::string printed;  // the last bytes of what it printed
    bool timed_out = false;
    bool flooded = false;       // the message or the print was too long
    bool overgrown = false;     // it took more memory than it may
    std::optional<int> status;  // of wait; nothing: another part of the process took it
    std::uint64_t took_ns = 0;
};

// In the order of the tasks.
[[nodiscard]] std::vector<ChildResult> run_children(const std::vector<ChildTask>& tasks);

}  // namespace wye::registry
