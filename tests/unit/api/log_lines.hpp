// SPDX-License-Identifier: Apache-2.0
//
// LogLines: keeps what a context logs, as "area: text". Free-threaded. Tests only.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace api_test {

struct LogLines {
    std::mutex mutex;
    std::vector<std::string> lines;

    // For wye::ContextOptions::log; `user` is a LogLines.
    static void add(void* user, std::uint32_t, wye_string area, wye_string text) {
        auto& log = *static_cast<LogLines*>(user);
        const std::lock_guard lock(log.mutex);
        log.lines.push_back(std::string(wye::detail::view(area)) + ": " +
                            std::string(wye::detail::view(text)));
    }
    // The number of lines that contain `text`.
    [[nodiscard]] std::size_t count(std::string_view text) {
        const std::lock_guard lock(mutex);
        return static_cast<std::size_t>(std::ranges::count_if(
            lines, [&](const std::string& line) { return line.find(text) != line.npos; }));
    }
};

}  // namespace api_test
