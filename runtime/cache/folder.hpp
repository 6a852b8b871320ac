// SPDX-License-Identifier: Apache-2.0
//
// Folder: one folder of this user, opened once, and the files in it by name. What somebody else
// owns or may write to is refused: entries become code. Owns its descriptors. Free-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cache {

class Descriptor {
  public:
    explicit Descriptor(int value = -1) noexcept : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Descriptor();
    [[nodiscard]] int get() const noexcept { return value_; }
    [[nodiscard]] bool open() const noexcept { return value_ >= 0; }

  private:
    int value_;
};

// IO with errno's text; `what` is a sentence's beginning.
[[nodiscard]] Error io_error(const std::string& what, const std::string& path, int number);

struct FileInfo {
    std::string name;
    std::uint64_t size = 0;
    std::int64_t used_ns = 0;  // of the clock; last modification
};

class Folder {
  public:
    // Makes it, and what is above it, with mode 0700. IO, NOT_TRUSTED.
    [[nodiscard]] static Result<Folder> open(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }

    // NOT_FOUND; NOT_TRUSTED; LIMIT_EXCEEDED above `most` bytes; IO. Marks it as used now.
    [[nodiscard]] Result<std::vector<std::byte>> read(const std::string& name,
                                                      std::uint64_t most) const;
    // The first bytes only, without marking it.
    [[nodiscard]] Result<std::vector<std::byte>> peek(const std::string& name,
                                                      std::uint64_t most) const;
    // All or nothing: readers see the old file or the new one. Gives the size of the old one.
    [[nodiscard]] Result<std::uint64_t> replace(const std::string& name,
                                                std::span<const std::byte> bytes) const;
    void remove(const std::string& name) const noexcept;
    // Plain files, in no order.
    [[nodiscard]] Result<std::vector<FileInfo>> list() const;

  private:
    Folder(std::string path, Descriptor folder)
        : path_(std::move(path)), folder_(std::move(folder)) {}
    [[nodiscard]] Result<std::vector<std::byte>> load(const std::string& name, std::uint64_t most,
                                                      bool whole) const;

    std::string path_;
    Descriptor folder_;
};

// Files that `replace` has not finished begin with this.
inline constexpr const char* kTemporary = "tmp.";

}  // namespace wye::cache
