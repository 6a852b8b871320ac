// SPDX-License-Identifier: Apache-2.0
//
// OutputFile: a file that a program writes at a path that the user gave. The file is opened before
// the program computes the content, so that a wrong path costs no work. Nothing is visible before
// `commit`.
//
// The content is staged in a NewFile, which then replaces an existing file, and keeps the owner,
// group and permissions of that file. An existing file is written in place instead, as `cp` does,
// if it has further hard links, if this user cannot give its owner or group to a new file, if no
// file can be made in its folder, or if it is not a regular file. Symbolic links are followed, also
// to a file that does not exist yet. Functions return 0 or errno. Move-only. One thread at a time.
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "wye/sdk/new_file.hpp"

namespace wye::sdk {

// The path of the file that would be made at `path`: if there are symbolic links, the last target.
[[nodiscard]] inline std::string followed(std::string path) {
    constexpr int kMostLinks = 40;  // the kernel's limit
    char target[PATH_MAX];
    for (int links = 0; links < kMostLinks; ++links) {
        const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
        if (size <= 0) break;
        const std::size_t folder = target[0] == '/' ? 0 : path.rfind('/') + 1;
        path.replace(folder, std::string::npos, target, static_cast<std::size_t>(size));
    }
    return path;
}

class OutputFile {
  public:
    OutputFile() = default;
    OutputFile(OutputFile&& other) noexcept
        : target_(std::move(other.target_)),
          staged_(std::move(other.staged_)),
          existing_(std::exchange(other.existing_, -1)),
          old_size_(other.old_size_),
          in_place_(other.in_place_),
          bytes_(other.bytes_) {}
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile() {
        if (existing_ >= 0) ::close(existing_);
    }

    [[nodiscard]] int open(const std::string& path,
                           NewFile::Naming naming = NewFile::Naming::None) {
        target_ = path;
        struct stat now {};
        if (::stat(path.c_str(), &now) != 0) {
            if (errno != ENOENT) return errno;
            target_ = followed(path);
            const mode_t mask = ::umask(0);
            ::umask(mask);
            return staged_.open(target_, 0666U & ~mask, naming);
        }
        if (S_ISDIR(now.st_mode)) return EISDIR;
        if (S_ISSOCK(now.st_mode)) return ENXIO;
        if (::access(path.c_str(), W_OK) != 0) return errno;
        if (S_ISREG(now.st_mode) && stage_over(now, naming)) return 0;
        staged_ = {};
        in_place_ = true;
        if (!S_ISREG(now.st_mode)) return 0;  // opening a pipe may wait
        old_size_ = now.st_size;
        existing_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        return existing_ >= 0 ? 0 : errno;
    }
    // Takes the whole content. `bytes` must live until `commit`.
    [[nodiscard]] int write(std::span<const std::byte> bytes) {
        bytes_ = bytes;
        return in_place_ ? 0 : staged_.write(bytes);
    }
    [[nodiscard]] int commit() {
        if (!in_place_) return staged_.publish();
        if (existing_ >= 0)
            if (const int problem = reserve(); problem != 0) return problem;
        if (existing_ < 0) existing_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (existing_ < 0) return errno;
        if (const int problem = write_all(existing_, bytes_); problem != 0) return problem;
        if (old_size_ >= 0 && ::ftruncate(existing_, static_cast<off_t>(bytes_.size())) != 0)
            return errno;
        return ::close(std::exchange(existing_, -1)) == 0 ? 0 : errno;
    }

    [[nodiscard]] const std::string& target() const { return target_; }
    // The name of the staged file; empty: it has no name.
    [[nodiscard]] const std::string& name() const { return staged_.name(); }
    // Whether `commit` may wait, for example for the reader of a pipe.
    [[nodiscard]] bool may_wait() const { return in_place_ && old_size_ < 0; }

  private:
    // Stages a file that replaces the existing one. False: the existing file must be written in
    // place.
    [[nodiscard]] bool stage_over(const struct stat& now, NewFile::Naming naming) {
        const std::unique_ptr<char, decltype(&std::free)> real(::realpath(target_.c_str(), nullptr),
                                                               &std::free);
        if (!real || now.st_nlink != 1) return false;  // !real: an open file that was deleted
        // Set-user-id and similar bits are dropped, as a write would drop them.
        if (staged_.open(real.get(), now.st_mode & 0777U, naming) != 0) return false;
        struct stat made {};
        if (::fstat(staged_.descriptor(), &made) != 0 ||
            ((made.st_uid != now.st_uid || made.st_gid != now.st_gid) &&
             ::fchown(staged_.descriptor(), now.st_uid, now.st_gid) != 0))
            return false;
        target_ = real.get();
        return true;
    }
    // Makes sure that there is room, before the old content is lost.
    [[nodiscard]] int reserve() const {
        const auto size = static_cast<off_t>(bytes_.size());
        if (above_file_limit(bytes_.size())) return EFBIG;
        if (size <= old_size_) return 0;
        const int problem = ::posix_fallocate(existing_, old_size_, size - old_size_);
        if (problem == 0 || problem == EOPNOTSUPP || problem == EINVAL) return 0;
        (void)!::ftruncate(existing_, old_size_);
        return problem;
    }

    std::string target_;
    NewFile staged_;
    int existing_ = -1;    // the file that is written in place
    off_t old_size_ = -1;  // size of the regular file that is written in place, else -1
    bool in_place_ = false;
    std::span<const std::byte> bytes_;
};

}  // namespace wye::sdk
