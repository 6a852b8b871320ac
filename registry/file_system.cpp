// SPDX-License-Identifier: Apache-2.0
#include "registry/file_system.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace wye::registry {
namespace {

Error io_error(const std::filesystem::path& path, const char* what, int code) {
    Error error(Code::IO,
                fmt::format("{} `{}` failed: {}", what, path.string(), std::strerror(code)),
                "Fix: check that it exists and may be read", path.string());
    error.native_domain = "errno";
    error.native_code = code;
    return error;
}

class Descriptor {
  public:
    explicit Descriptor(int value) noexcept : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return value_; }

  private:
    int value_;
};

class NativeFileSystem final : public FileSystem {
  public:
    Result<FileStatus> status(const std::filesystem::path& path) const override {
        struct stat st {};
        if (::stat(path.c_str(), &st) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) return FileStatus{};
            return io_error(path, "looking at", errno);
        }
        FileStatus out;
        out.kind = S_ISREG(st.st_mode)   ? FileStatus::Kind::file
                   : S_ISDIR(st.st_mode) ? FileStatus::Kind::folder
                                         : FileStatus::Kind::other;
        out.device = st.st_dev;
        out.inode = st.st_ino;
        out.mode = st.st_mode & 07777U;
        out.owner = st.st_uid;
        out.size = static_cast<std::uint64_t>(st.st_size);
        return out;
    }

    // Uses readdir directly: a library folder has thousands of names, of which few match.
    Result<std::vector<std::string>> list(
        const std::filesystem::path& folder,
        std::initializer_list<std::string_view> endings) const override {
        const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
        if (!open) return io_error(folder, "listing", errno);
        std::vector<std::string> names;
        for (;;) {
            errno = 0;
            const dirent* entry = ::readdir(open.get());
            if (entry == nullptr) break;
            const std::string_view name(entry->d_name);
            if (std::any_of(endings.begin(), endings.end(), [&](std::string_view end) {
                    return name.size() >= end.size() &&
                           name.substr(name.size() - end.size()) == end;
                }))
                names.emplace_back(name);
        }
        if (errno != 0) return io_error(folder, "listing", errno);
        std::sort(names.begin(), names.end());
        return names;
    }

    Result<std::string> read(const std::filesystem::path& path, std::size_t limit) const override {
        // Non-blocking, so that a pipe in the folder does not hang the search.
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (file.get() < 0) return io_error(path, "opening", errno);
        std::string out;
        char buffer[4096];
        for (;;) {
            const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return io_error(path, "reading", errno);
            if (got == 0) return out;
            out.append(buffer, static_cast<std::size_t>(got));
            if (out.size() > limit)
                return Error(Code::LIMIT_EXCEEDED,
                             fmt::format("`{}` has more than {} bytes", path.string(), limit),
                             "Fix: keep the file short", path.string());
        }
    }

    Result<std::filesystem::path> canonical(const std::filesystem::path& path) const override {
        std::error_code error;
        std::filesystem::path out = std::filesystem::canonical(path, error);
        if (error) return io_error(path, "resolving", error.value());
        return out;
    }
};

}  // namespace

const FileSystem& native_file_system() noexcept {
    static const NativeFileSystem instance;
    return instance;
}

}  // namespace wye::registry
