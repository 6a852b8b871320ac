// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "wye/sdk/new_file.hpp"
#include "wye/sdk/own_folders.hpp"

namespace wye::cache {
namespace {

constexpr const char* kFix =
    "Fix: make the folder writable, or name another one with WYE_CACHE_DIR; until then every "
    "process compiles again";
// The tag that backup programs know. Its first 43 bytes are defined at
// https://bford.info/cachedir/.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Wye keeps here what it can make again. About this file: https://bford.info/cachedir/\n";
constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t to_ns(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return to_ns(now);
}

// Checks that a file belongs to this user and that nobody else may write to it.
Result<void> check_owner(const struct stat& status, const std::string& path) {
    if (status.st_uid == geteuid() && (status.st_mode & 022U) == 0) return {};
    return Error(Code::NOT_TRUSTED,
                 fmt::format("`{}` belongs to user {} and has mode {:o}, so others could put code "
                             "there",
                             path, status.st_uid, status.st_mode & 07777U),
                 "Fix: remove it, or make it yours and private (chmod 700); until then every "
                 "process compiles again",
                 path);
}

}  // namespace

Descriptor::~Descriptor() {
    if (value_ >= 0) ::close(value_);
}

Error io_error(const std::string& what, const std::string& path, int number) {
    Error error(Code::IO, fmt::format("{} `{}`: {}", what, path, std::strerror(number)), kFix,
                path);
    error.native_domain = "errno";
    error.native_code = number;
    return error;
}

Result<void> prepare_folder(const std::string& path, bool named) {
    if (!path.starts_with('/'))
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the cache folder `{}` is no absolute path", path),
                     "Fix: set WYE_CACHE_DIR (or `cache_folder`) to a path that begins with `/`; "
                     "until then nothing is kept",
                     path);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        const bool absent = errno == ENOENT;
        const std::string parent = path.substr(0, path.find_last_of('/') + 1);
        if (!named && stat(parent.c_str(), &status) != 0) return {};
        // A folder that already exists may hold other things, so it gets no mark.
        auto folder = Folder::open(path);
        if (!folder.ok() && named) return std::move(folder).error();
        if (folder.ok() && absent)
            (void)folder->replace("CACHEDIR.TAG", std::as_bytes(std::span(kCacheTag)));
        return {};
    }
    if (std::error_code none; std::filesystem::equivalent(path, "/", none))
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("the cache folder `{}` is the root of the file system", path),
            "Fix: set WYE_CACHE_DIR (or `cache_folder`) to a folder of its own; until then "
            "nothing is kept",
            path);
    if (!S_ISDIR(status.st_mode)) return io_error("cannot open the folder", path, ENOTDIR);
    return check_owner(status, path);
}

Result<Folder> Folder::open(const std::string& path) {
    if (const std::string part = sdk::make_own_folders(path); !part.empty())
        return io_error("cannot make the folder", part, errno);
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.open()) return io_error("cannot open the folder", path, errno);
    struct stat status {};
    if (fstat(folder.get(), &status) != 0) return io_error("cannot read the mode of", path, errno);
    WYE_TRY(check_owner(status, path));
    return Folder(path, std::move(folder));
}

Result<std::vector<std::byte>> Folder::load(const std::string& name, std::uint64_t most,
                                            bool whole) const {
    const std::string full = path_ + "/" + name;
    const Descriptor file(
        openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.open() && errno == ENOENT)
        return Error(Code::NOT_FOUND, fmt::format("there is no `{}`", full), "", full);
    if (!file.open()) return io_error("cannot open", full, errno);
    struct stat status {};
    if (fstat(file.get(), &status) != 0) return io_error("cannot read the mode of", full, errno);
    WYE_TRY(check_owner(status, full));
    if (!S_ISREG(status.st_mode))
        return Error(Code::NOT_TRUSTED, fmt::format("`{}` is not a regular file", full),
                     "Fix: remove it", full);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > most && whole)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("`{}` has {} bytes, more than {}", full, size, most),
                     "Fix: remove it", full);
    std::vector<std::byte> out(std::min(size, most));
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = ::read(file.get(), out.data() + done, out.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_error("cannot read", full, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    // Marks a file as used at most once a minute, which is precise enough for eviction.
    if (whole && now_ns() - to_ns(status.st_mtim) > 60 * kSecond)
        (void)futimens(file.get(), nullptr);
    return out;
}

Result<std::vector<std::byte>> Folder::read(const std::string& name, std::uint64_t most) const {
    return load(name, most, true);
}

Result<std::vector<std::byte>> Folder::peek(const std::string& name, std::uint64_t most) const {
    return load(name, most, false);
}

Result<std::uint64_t> Folder::replace(const std::string& name,
                                      std::span<const std::byte> bytes) const {
    // The address of `bytes` differs from thread to thread, which makes the name unique.
    const std::string temporary = fmt::format("{}{}.{:x}.{:x}", kTemporary, getpid(),
                                              reinterpret_cast<std::uintptr_t>(&bytes), now_ns());
    const std::string full = path_ + "/" + temporary;
    int problem = 0;
    {
        const Descriptor file(openat(folder_.get(), temporary.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.open()) return io_error("cannot make", full, errno);
        problem = ::fchmod(file.get(), 0600) != 0       ? errno
                  : sdk::above_file_limit(bytes.size()) ? EFBIG
                                                        : sdk::write_all(file.get(), bytes);
    }
    struct stat old {};
    const bool replaces =
        fstatat(folder_.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 && problem == 0;
    // No fsync: a file that a power failure damages fails its checksum.
    if (problem == 0 &&
        renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0)
        problem = errno;
    if (problem != 0) {
        remove(temporary);
        return io_error("cannot write", full, problem);
    }
    return replaces ? static_cast<std::uint64_t>(old.st_size) : std::uint64_t{0};
}

std::uint64_t Folder::remove(const std::string& name) const noexcept {
    struct stat status {};
    const bool known = fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    const bool removed = unlinkat(folder_.get(), name.c_str(), 0) == 0;
    return known && removed ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Result<std::vector<FileInfo>> Folder::list() const {
    // Opens a new descriptor, since reading a folder moves the descriptor's position.
    const int copy = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* raw = copy < 0 ? nullptr : fdopendir(copy);
    if (raw == nullptr) {
        const int number = errno;
        if (copy >= 0) ::close(copy);
        return io_error("cannot list", path_, number);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(raw, &closedir);
    std::vector<FileInfo> out;
    while (const dirent* entry = readdir(folder.get())) {
        struct stat status {};
        if (fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        out.push_back(
            {entry->d_name, static_cast<std::uint64_t>(status.st_size), to_ns(status.st_mtim)});
    }
    return out;
}

}  // namespace wye::cache
