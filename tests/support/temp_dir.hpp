// SPDX-License-Identifier: Apache-2.0
//
// TempDir: a temporary folder for a test. The destructor removes it with its content. Throws
// std::runtime_error if it cannot be created.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace support {

class TempDir {
  public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
        return path_ / name;
    }
    // Writes a file below the folder, makes its parent folders, and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view bytes) const;

  private:
    std::filesystem::path path_;
};

// All bytes of a file. Throws std::runtime_error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace support
