// SPDX-License-Identifier: Apache-2.0
//
// Trust: decides whether another user could replace a file. Follows a path name by name, links
// included, and judges each folder, each link and the file itself by owner and permissions. Caches
// the status of folders and links, so that each is read once for all files of a folder. Not
// thread-safe; nothing throws. registry/README.md has the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/file_system.hpp"

namespace wye::registry {

// The owners whose files are trusted, in addition to root.
struct Trusted {
    std::vector<std::uint32_t> users;
    std::optional<std::uint32_t> private_group;  // the user's group, if it has the user's number
};

// Trusts the effective user of this process, besides root. If the process is `elevated` by its
// group or capabilities alone, trusts root only, since the effective user is then the user who
// started the process.
[[nodiscard]] Trusted trusted_users(bool elevated);

class Trust {
  public:
    Trust(const FileSystem& files, Trusted trusted) : files_(files), trusted_(std::move(trusted)) {}

    struct Seen {
        FileStatus status;           // of the path's target; `missing` if there is none
        std::filesystem::path real;  // the path with all links resolved
        // Why the path is not trusted: "everyone may write to `/tmp`"; empty: it is trusted.
        std::string fault;
        std::string fix;  // the remedy for the fault
    };
    // The path must be absolute. Errors: IO, also for too many links.
    [[nodiscard]] Result<Seen> look(const std::filesystem::path& path);

    // Trusts the owners of an existing folder and of the folders above it. Used for the host
    // library's folder: whoever can replace that library runs code in this process anyway.
    void add_owners(const std::filesystem::path& folder);

  private:
    Result<const FileEntry*> entry(const std::string& path, FileEntry& room);
    [[nodiscard]] bool is_trusted(std::uint32_t owner) const noexcept;
    void judge(const std::string& path, const FileStatus& status, bool holds_file, Seen& out) const;

    const FileSystem& files_;
    Trusted trusted_;
    std::map<std::string, FileEntry> kept_;
};

}  // namespace wye::registry
