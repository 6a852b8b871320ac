// SPDX-License-Identifier: Apache-2.0
//
// Trust: whether somebody else could replace a file. Follows a path name by name, links included,
// and judges each folder, link and the file itself by owner and permissions. Keeps what it saw of
// folders and links, so that files of one folder cost one look each. Not thread-safe; nothing
// throws. registry/README.md has the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/file_system.hpp"

namespace wye::registry {

// Whose files are trusted, besides those of root.
struct Trusted {
    std::vector<std::uint32_t> users;
    std::optional<std::uint32_t> private_group;  // of the user alone, by the same number
};

// The effective user of this process. None if `elevated` by the group or by capabilities alone: the
// user is then the one who raised them.
[[nodiscard]] Trusted trusted_users(bool elevated) noexcept;

class Trust {
  public:
    Trust(const FileSystem& files, Trusted trusted) : files_(files), trusted_(std::move(trusted)) {}

    struct Seen {
        FileStatus status;           // of what the path leads to; `missing` if there is none
        std::filesystem::path real;  // without links
        std::string fault;           // "everyone may write to `/tmp`"; empty: trusted
        std::string fix;             // of the fault
    };
    // The path must be absolute. Errors: IO, too many links included.
    [[nodiscard]] Result<Seen> look(const std::filesystem::path& path);

    // Trusts the owners of an existing folder and of the folders above it: whoever can replace the
    // host library runs code in this process anyway.
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
