// SPDX-License-Identifier: Apache-2.0
#include "registry/file_system.hpp"
#include "wye/sdk/lasting.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
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

FileStatus status_of(const struct stat& st) {
    FileStatus out;
    out.kind = S_ISREG(st.st_mode)   ? FileStatus::Kind::file
               : S_ISDIR(st.st_mode) ? FileStatus::Kind::folder
               : S_ISLNK(st.st_mode) ? FileStatus::Kind::link
                                     : FileStatus::Kind::other;
    out.device = st.st_dev;
    out.inode = st.st_ino;
    out.mode = st.st_mode & 07777U;
    out.owner = st.st_uid;
    out.group = st.st_gid;
    out.size = static_cast<std::uint64_t>(st.st_size);
    out.modified_ns =
        static_cast<std::int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec;
    out.changed_ns =
        static_cast<std::int64_t>(st.st_ctim.tv_sec) * 1'000'000'000 + st.st_ctim.tv_nsec;
    return out;
}

// Adds a name, and keeps only the first `most` names in byte order. The names are a heap, whose
// front is the last name in byte order.
void keep_first(FileNames& out, std::string_view name, std::size_t most) {
    if (out.names.size() < most) {
        out.names.emplace_back(name);
        std::push_heap(out.names.begin(), out.names.end());
        return;
    }
    ++out.left_out;
    if (most == 0 || name >= out.names.front()) return;
    std::pop_heap(out.names.begin(), out.names.end());
    out.names.back() = name;
    std::push_heap(out.names.begin(), out.names.end());
}

class NativeFileSystem final : public FileSystem {
  public:
    Result<FileStatus> status(const std::filesystem::path& path) const override {
        struct stat st {};
        if (::stat(path.c_str(), &st) == 0) return status_of(st);
        if (errno == ENOENT || errno == ENOTDIR) return FileStatus{};
        return io_error(path, "looking at", errno);
    }

    Result<FileEntry> entry(const std::filesystem::path& path) const override {
        struct stat st {};
        if (::lstat(path.c_str(), &st) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) return FileEntry{};
            return io_error(path, "looking at", errno);
        }
        FileEntry out{status_of(st), {}};
        if (out.status.kind != FileStatus::Kind::link) return out;
        char target[PATH_MAX];
        const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
        if (size < 0) return io_error(path, "reading the link", errno);
        out.target.assign(target, static_cast<std::size_t>(size));
        return out;
    }

    // Uses readdir directly, since a library folder may have thousands of names, few of which
    // match.
    Result<std::vector<FileNames>> list(const std::filesystem::path& folder,
                                        std::span<const std::string_view> endings,
                                        std::size_t most) const override {
        const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
        if (!open) return io_error(folder, "listing", errno);
        std::vector<FileNames> out(endings.size());
        for (;;) {
            errno = 0;
            const dirent* entry = ::readdir(open.get());
            if (entry == nullptr) break;
            const std::string_view name(entry->d_name);
            for (std::size_t i = 0; i < endings.size(); ++i)
                if (name.ends_with(endings[i])) keep_first(out[i], name, most);
        }
        if (errno != 0) return io_error(folder, "listing", errno);
        for (FileNames& names : out) std::sort_heap(names.names.begin(), names.names.end());
        return out;
    }

    Result<FileContent> read(const std::filesystem::path& path, std::size_t limit) const override {
        // Opens without blocking, so that a pipe in the folder does not hang the search.
        const Descriptor file(
            ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
        struct stat st {};
        if (file.get() < 0 || ::fstat(file.get(), &st) != 0)
            return io_error(path, "opening", errno);
        FileContent out{status_of(st), {}};
        const auto too_long = [&] {
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("`{}` has more than {} bytes", path.string(), limit),
                         "Fix: keep the file short", path.string());
        };
        if (out.status.size > limit) return too_long();
        char buffer[4096];
        for (;;) {
            const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return io_error(path, "reading", errno);
            if (got == 0) return out;
            out.bytes.append(buffer, static_cast<std::size_t>(got));
            if (out.bytes.size() > limit) return too_long();
        }
    }
};

}  // namespace

std::string status_text(const FileStatus& file) {
    return fmt::format("{} {} {} {} {} {} {} {}", file.device, file.inode, file.mode, file.owner,
                       file.group, file.size, file.modified_ns, file.changed_ns);
}

const FileSystem& native_file_system() noexcept {
    static const sdk::Lasting<const NativeFileSystem> instance([] { return NativeFileSystem(); });
    return *instance;
}

}  // namespace wye::registry
