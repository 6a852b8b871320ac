// SPDX-License-Identifier: Apache-2.0
//
// FileSystem: the file operations of the search, behind an interface for tests. Implementations are
// free-threaded and const; nothing throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

struct FileStatus {
    enum class Kind : std::uint8_t { missing, file, folder, other };
    Kind kind = Kind::missing;
    std::uint64_t device = 0;  // with inode: the same file under two names
    std::uint64_t inode = 0;
    std::uint32_t mode = 0;  // permission bits, sticky (01000) included
    std::uint32_t owner = 0;
    std::uint64_t size = 0;
};

class FileSystem {
  public:
    virtual ~FileSystem() = default;

    // Follows links. A path that does not exist is `missing`, not an error. Errors: IO.
    [[nodiscard]] virtual Result<FileStatus> status(const std::filesystem::path& path) const = 0;
    // Names in a folder that end with one of `endings`, in byte order.
    [[nodiscard]] virtual Result<std::vector<std::string>> list(
        const std::filesystem::path& folder,
        std::initializer_list<std::string_view> endings) const = 0;
    // Reads a whole file; LIMIT_EXCEEDED if it has more than `limit` bytes.
    [[nodiscard]] virtual Result<std::string> read(const std::filesystem::path& path,
                                                   std::size_t limit) const = 0;
    // The absolute path without links, "." and "..".
    [[nodiscard]] virtual Result<std::filesystem::path> canonical(
        const std::filesystem::path& path) const = 0;
};

// The operating system's file system. Static, stateless.
[[nodiscard]] const FileSystem& native_file_system() noexcept;

}  // namespace wye::registry
