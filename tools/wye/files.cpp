// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace wye::tool {
namespace {

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    // Reports the write errors that only close() sees (a full disk on network file systems).
    [[nodiscard]] bool close_checked() { return ::close(std::exchange(fd_, -1)) == 0; }

  private:
    int fd_;
};

Error system_error(Code code, int number, std::string message, std::string fix, std::string path) {
    Error error(code, fmt::format("{}: {}", message, std::strerror(number)), std::move(fix),
                std::move(path));
    error.native_domain = "errno";
    error.native_code = number;
    return error;
}

Error write_error(const std::string& path, int number) {
    return system_error(Code::IO, number, fmt::format("cannot write `{}`", path),
                        "Fix: check that the folder exists, is writable and has room", path);
}

bool write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

// The mode a plain open(path, O_CREAT, 0666) would give: that of the file it replaces, else 0666
// less the umask.
mode_t output_mode(const std::optional<struct stat>& existing) {
    if (existing) return existing->st_mode & 07777U;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path, std::string_view what,
                                         std::uint64_t limit) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0)
        return system_error(errno == ENOENT ? Code::NOT_FOUND : Code::INVALID_ARGUMENT, errno,
                            fmt::format("cannot read {} `{}`", what, path),
                            "Fix: check the path and its permissions", path);
    struct stat info {};
    if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode))
        return Error(Code::INVALID_ARGUMENT, fmt::format("{} `{}` is a folder", what, path),
                     "Fix: name a file", path);
    std::vector<std::byte> bytes;
    if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) <= limit)
        bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
    constexpr std::size_t kChunk = std::size_t{1} << 20U;
    std::size_t size = 0;
    for (;;) {
        if (bytes.size() - size < kChunk) bytes.resize(size + kChunk);
        const ssize_t n = ::read(fd.get(), bytes.data() + size, kChunk);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return system_error(Code::INVALID_ARGUMENT, errno,
                                fmt::format("cannot read {} `{}`", what, path),
                                "Fix: name a readable file", path);
        if (n == 0) break;
        size += static_cast<std::size_t>(n);
        if (size > limit)
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("{} `{}` is larger than {} bytes", what, path, limit),
                         "Fix: split it", path);
    }
    bytes.resize(size);
    return bytes;
}

StagedOutputs::~StagedOutputs() {
    for (const Entry& entry : entries_)
        if (!entry.staged.empty()) ::unlink(entry.staged.c_str());
}

Result<void> StagedOutputs::add(const std::string& path, std::span<const std::byte> bytes) {
    std::optional<struct stat> existing;
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) existing = info;
    if (existing && S_ISDIR(existing->st_mode))
        return Error(Code::IO, fmt::format("cannot write `{}`: it is a folder", path),
                     "Fix: name a file", path);
    if (existing && !S_ISREG(existing->st_mode)) {
        entries_.push_back({path, {}, bytes});
        return {};
    }
    if (existing && ::access(path.c_str(), W_OK) != 0) return write_error(path, errno);
    // A symbolic link stays a link: what it points to is replaced.
    const std::unique_ptr<char, decltype(&std::free)> real(
        existing ? ::realpath(path.c_str(), nullptr) : nullptr, &std::free);
    if (existing && !real) {  // a name of an open file that has no name any more
        entries_.push_back({path, {}, bytes});
        return {};
    }
    const std::string target = real ? real.get() : path;
    std::string staged = target + ".XXXXXX";
    Descriptor fd(::mkostemp(staged.data(), O_CLOEXEC));
    if (fd.get() < 0) return write_error(path, errno);
    entries_.push_back({target, staged, {}});
    if (::fchmod(fd.get(), output_mode(existing)) != 0 || !write_all(fd.get(), bytes) ||
        !fd.close_checked())
        return write_error(path, errno);
    return {};
}

Result<void> StagedOutputs::commit() {
    for (Entry& entry : entries_) {
        if (!entry.staged.empty()) {
            if (::rename(entry.staged.c_str(), entry.target.c_str()) != 0)
                return write_error(entry.target, errno);
            entry.staged.clear();
            continue;
        }
        Descriptor fd(::open(entry.target.c_str(), O_WRONLY | O_CLOEXEC));
        if (fd.get() < 0 || !write_all(fd.get(), entry.bytes) || !fd.close_checked())
            return write_error(entry.target, errno);
    }
    return {};
}

}  // namespace wye::tool
