// SPDX-License-Identifier: Apache-2.0
//
// FileSystem: the few questions that the search asks of files, behind an interface so that tests
// can answer them. Implementations are free-threaded and const; nothing throws.
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

    // Links are followed. A path that does not exist is `missing`, not an error; IO otherwise.
    [[nodiscard]] virtual Result<FileStatus> status(const std::filesystem::path& path) const = 0;
    // Names in a folder that end in one of `endings`, in byte order.
    [[nodiscard]] virtual Result<std::vector<std::string>> list(
        const std::filesystem::path& folder,
        std::initializer_list<std::string_view> endings) const = 0;
    // The whole file; LIMIT_EXCEEDED when it is longer than `limit` bytes.
    [[nodiscard]] virtual Result<std::string> read(const std::filesystem::path& path,
                                                   std::size_t limit) const = 0;
    // Absolute, without links, "." and "..".
    [[nodiscard]] virtual Result<std::filesystem::path> canonical(
        const std::filesystem::path& path) const = 0;
};

// The machine's own files. Never fails to exist; static, without state.
[[nodiscard]] const FileSystem& native_file_system() noexcept;

}  // namespace wye::registry
