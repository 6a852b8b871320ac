// SPDX-License-Identifier: Apache-2.0
//
// NewFile: a file that appears complete or not at all. Until `publish`, its bytes are in a file
// without a name (O_TMPFILE), so that a killed process leaves nothing behind. If the file system
// does not support that, the bytes are in PATH.XXXXXX, which the destructor removes. A process that
// is killed just while it replaces an existing file may leave the new file, complete, as
// PATH.XXXXXX. Move-only. One thread at a time.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "wye/sdk/blocked_signals.hpp"

namespace wye::sdk {

// Whether a file of this size exceeds the process's limit, so that writing it would raise the fatal
// signal SIGXFSZ.
[[nodiscard]] inline bool above_file_limit(std::size_t size) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

// Writes all bytes. Returns 0 or errno.
[[nodiscard]] inline int write_all(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return ENOSPC;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

class NewFile {
  public:
    enum class Naming { None, Always };  // Always: as if the file system had no O_TMPFILE

    NewFile() = default;
    NewFile(NewFile&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)),
          path_(std::move(other.path_)),
          name_(std::exchange(other.name_, {})) {}
    NewFile& operator=(NewFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(path_, other.path_);
        std::swap(name_, other.name_);
        return *this;
    }
    ~NewFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!name_.empty()) ::unlink(name_.c_str());
    }

    // Opens a new file that will become `path`. Like the functions below, returns 0 or errno.
    [[nodiscard]] int open(const std::string& path, mode_t mode, Naming naming = Naming::None) {
        path_ = path;
        if (naming == Naming::None && ::access("/proc/self/fd", X_OK) == 0) {
            const std::size_t slash = path.rfind('/');
            const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
            descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        }
        if (descriptor_ < 0) {
            std::string name = path + ".XXXXXX";
            descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
            if (descriptor_ < 0) return errno;
            name_ = std::move(name);
        }
        return ::fchmod(descriptor_, mode) == 0 ? 0 : errno;
    }
    // Writes all bytes. EFBIG: the file would exceed the process's file size limit.
    [[nodiscard]] int write(std::span<const std::byte> bytes) const {
        return above_file_limit(bytes.size()) ? EFBIG : write_all(descriptor_, bytes);
    }
    // Gives the file its name, replacing any file of that name.
    [[nodiscard]] int publish() {
        // Some write errors, such as that of a full network disk, are reported only at closing.
        const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
        if (copy < 0 || ::close(copy) != 0) return errno;
        if (name_.empty()) {
            if (link_as(path_)) return 0;
            if (errno != EEXIST) return errno;
        }
        // A file without a name cannot replace another: it first gets a temporary name, and is then
        // renamed. No signal interrupts this thread between the two.
        const BlockedSignals blocked;
        return replace();
    }

    [[nodiscard]] int descriptor() const { return descriptor_; }
    // Empty: the file has no name yet.
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    [[nodiscard]] bool link_as(const std::string& path) const {
        const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
        return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }
    [[nodiscard]] int replace() {
        for (unsigned number = 0; name_.empty(); ++number) {
            char end[32];
            std::snprintf(end, sizeof end, ".%06x",
                          (static_cast<unsigned>(::getpid()) + number) & 0xffffffU);
            std::string name = path_ + end;
            if (link_as(name))
                name_ = std::move(name);
            else if (errno != EEXIST)
                return errno;
        }
        if (::rename(name_.c_str(), path_.c_str()) != 0) return errno;
        name_.clear();
        return 0;
    }

    int descriptor_ = -1;
    std::string path_;
    std::string name_;
};

}  // namespace wye::sdk
