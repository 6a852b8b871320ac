// SPDX-License-Identifier: Apache-2.0
#include "delay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace wye::tool::conform {
namespace {

constexpr std::size_t kMostProcesses = 256;

}  // namespace

std::chrono::nanoseconds Delay::more() {
    namespace fs = std::filesystem;
    std::int64_t longest = 0;
    std::map<pid_t, std::int64_t> now;
    std::vector<pid_t> processes = {process_};
    // Processes and threads end while this looks: what cannot be read is left out.
    for (std::size_t i = 0; i < processes.size() && i < kMostProcesses; ++i) {
        std::error_code error;
        for (fs::directory_iterator at(fmt::format("/proc/{}/task", processes[i]), error), end;
             !error && at != end; at.increment(error)) {
            const std::string name = at->path().filename().string();
            pid_t thread = 0;
            std::from_chars(name.data(), name.data() + name.size(), thread);
            std::ifstream children(at->path() / "children");
            for (pid_t child = 0; children >> child;) processes.push_back(child);
            std::ifstream counts(at->path() / "schedstat");
            std::int64_t ran = 0, waited = 0;
            if (!(counts >> ran >> waited)) continue;
            const auto before = seen_.find(thread);
            longest = std::max(longest, waited - (before == seen_.end() ? 0 : before->second));
            now.emplace(thread, waited);
        }
    }
    seen_ = std::move(now);
    return std::chrono::nanoseconds(longest);
}

}  // namespace wye::tool::conform
