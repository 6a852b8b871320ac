// SPDX-License-Identifier: Apache-2.0
//
// OpeningMark: while the object lives, a mark in the cache folder says that this process is inside
// a plugin. A process that dies meanwhile leaves its mark. A later process of the same program sees
// the mark, and no longer relies on the plugin's verdict. There is one file for each program and
// plugin, with a byte for each process, which the process locks: the system releases the lock when
// the process ends, in whatever namespace it runs. Without a folder or without locks there is no
// mark. Free-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "registry/probe/spawn.hpp"

namespace wye::registry {

class OpeningMark {
  public:
    OpeningMark() = default;
    // `key`: the plugin and the conditions of its verdict.
    OpeningMark(const std::string& folder, std::string_view key) noexcept;
    ~OpeningMark();
    OpeningMark(OpeningMark&&) noexcept = default;
    OpeningMark& operator=(OpeningMark&&) = delete;

    struct Deaths {
        std::uint32_t fresh = 0;   // deaths that no process has counted before
        std::uint32_t in_row = 0;  // deaths since the last good opening, at most an hour apart
    };
    // Counts the processes that died inside the plugin.
    [[nodiscard]] static Deaths deaths(const std::string& folder, std::string_view key) noexcept;
    // Removes the marks of all plugins.
    static void forget(const std::string& folder) noexcept;

  private:
    Fd file_;
    int slot_ = -1;
};

}  // namespace wye::registry
