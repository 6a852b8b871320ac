// SPDX-License-Identifier: Apache-2.0
//
// OpeningMark: says in the cache folder that this process is inside a plugin, for as long as the
// object lives. A process that dies meanwhile leaves its mark; a later one with the same program
// finds it, and no longer believes the plugin's verdict. Each program has a file of its own for a
// plugin, in which each process has a byte that it locks: the system ends the lock with the
// process, in whatever namespace it ran. Without a folder, or without locks, there is no mark.
// Free-threaded.
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
        std::uint32_t fresh = 0;   // that no process has counted before
        std::uint32_t in_row = 0;  // since the plugin was last opened well, within an hour
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
