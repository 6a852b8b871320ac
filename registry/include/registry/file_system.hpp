// SPDX-License-Identifier: Apache-2.0
//
// FileSystem: the file operations that the search needs, behind an interface for tests.
// Implementations are free-threaded and const; nothing throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

struct FileStatus {
    enum class Kind : std::uint8_t { missing, file, folder, link, other };
    Kind kind = Kind::missing;
    std::uint64_t device = 0;  // device and inode identify the file under any name
    std::uint64_t inode = 0;
    std::uint32_t mode = 0;  // permission bits, sticky (01000) included
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;  // since 1970
    // Time of the last change of content, name, owner or permissions. Programs cannot set this
    // time, so it reveals that a file was moved away and put back.
    std::int64_t changed_ns = 0;

    friend bool operator==(const FileStatus&, const FileStatus&) = default;
};
// The status as a text. If two statuses have equal texts, neither the file nor its name was changed
// between them.
[[nodiscard]] std::string status_text(const FileStatus& file);

// One name in a folder, as lstat reports it.
struct FileEntry {
    FileStatus status;
    std::string target;  // of a link; else empty
};

struct FileContent {
    FileStatus status;  // of the file that was read
    std::string bytes;
};

struct FileNames {
    std::vector<std::string> names;  // the first names, in byte order
    std::size_t left_out = 0;        // number of further names
};

class FileSystem {
  public:
    virtual ~FileSystem() = default;

    // Follows links. A path that does not exist is `missing`, not an error. Errors: IO.
    [[nodiscard]] virtual Result<FileStatus> status(const std::filesystem::path& path) const = 0;
    // As `status`, but does not follow a link at the end of the path.
    [[nodiscard]] virtual Result<FileEntry> entry(const std::filesystem::path& path) const = 0;
    // Returns, for each ending, the names in a folder that end with it, at most `most` of them.
    [[nodiscard]] virtual Result<std::vector<FileNames>> list(
        const std::filesystem::path& folder, std::span<const std::string_view> endings,
        std::size_t most) const = 0;
    // Reads a whole file; LIMIT_EXCEEDED if it has more than `limit` bytes. Does not follow a link
    // at the end of the path.
    [[nodiscard]] virtual Result<FileContent> read(const std::filesystem::path& path,
                                                   std::size_t limit) const = 0;
};

// The operating system's file system. Static, stateless.
[[nodiscard]] const FileSystem& native_file_system() noexcept;

}  // namespace wye::registry
