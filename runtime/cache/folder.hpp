// SPDX-License-Identifier: Apache-2.0
//
// Folder: access by name to the files of one folder of this user, which is opened once. Cache
// entries become code, so files and folders that other users own or may write to are refused. The
// folder's path may be a symbolic link. Owns its descriptors. Free-threaded.
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

// Makes an IO error with the text of errno `number`; `what` begins the sentence.
[[nodiscard]] Error io_error(const std::string& what, const std::string& path, int number);

// Checks a cache folder of this user: the path must be absolute, and no other user may write to the
// folder. Makes a missing folder, with the mark that tells backup programs that this is a cache:
//   `named` (the user named the folder): makes missing parents, too. A failure is an error.
//   otherwise: makes the folder only if its parent exists. A failure is no error here, since the
//   first write into the folder reports it.
// Errors: INVALID_ARGUMENT, IO, NOT_TRUSTED.
[[nodiscard]] Result<void> prepare_folder(const std::string& path, bool named);

struct FileInfo {
    std::string name;
    std::uint64_t size = 0;
    std::int64_t used_ns = 0;  // last modification, nanoseconds since 1970
};

class Folder {
  public:
    // Creates the folder and its parents with mode 0700. Errors: IO, NOT_TRUSTED.
    [[nodiscard]] static Result<Folder> open(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }

    // Reads a file and marks it as used. Errors: NOT_FOUND, NOT_TRUSTED, LIMIT_EXCEEDED above
    // `most` bytes, IO.
    [[nodiscard]] Result<std::vector<std::byte>> read(const std::string& name,
                                                      std::uint64_t most) const;
    // Reads the first bytes of a file without marking it as used.
    [[nodiscard]] Result<std::vector<std::byte>> peek(const std::string& name,
                                                      std::uint64_t most) const;
    // Replaces a file atomically: readers see the old or the new file. Returns the size of the old
    // file.
    [[nodiscard]] Result<std::uint64_t> replace(const std::string& name,
                                                std::span<const std::byte> bytes) const;
    // Returns the size of the file that was removed.
    std::uint64_t remove(const std::string& name) const noexcept;
    // The regular files, in no particular order.
    [[nodiscard]] Result<std::vector<FileInfo>> list() const;

  private:
    Folder(std::string path, Descriptor folder)
        : path_(std::move(path)), folder_(std::move(folder)) {}
    [[nodiscard]] Result<std::vector<std::byte>> load(const std::string& name, std::uint64_t most,
                                                      bool whole) const;

    std::string path_;
    Descriptor folder_;
};

// Name prefix of the temporary files that `replace` writes.
inline constexpr const char* kTemporary = "tmp.";

}  // namespace wye::cache
