// SPDX-License-Identifier: Apache-2.0
#include "registry/probe/opening_mark.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>

#include "conditions.hpp"
#include "wye/sdk/kept_text.hpp"

namespace wye::registry {
namespace {

constexpr std::string_view kMarkKind = "plugin-opening";
constexpr int kSlots = 64;  // processes that can have a mark for one plugin at a time
constexpr std::int64_t kHourNs = 3'600'000'000'000;

// The content of a mark file: a byte for each process, 1 while the process is inside the plugin;
// then the number of deaths so far.
struct Content {
    std::array<char, kSlots> inside{};
    std::uint32_t deaths = 0;
    std::uint32_t unused = 0;
    std::int64_t last_unix_ns = 0;
};

Fd open_mark(const std::string& folder, std::string_view key, int flags) {
    rlimit size_limit{};  // a write beyond this limit raises a signal
    if (folder.empty() || ::getrlimit(RLIMIT_FSIZE, &size_limit) != 0 ||
        size_limit.rlim_cur < sizeof(Content))
        return Fd();
    char program[4096];
    const ssize_t size = ::readlink("/proc/self/exe", program, sizeof program);
    std::string whole(key);
    if (size > 0) whole.append("\n").append(program, static_cast<std::size_t>(size));
    Fd out(::open((folder + "/" + sdk::kept_name(kMarkKind, whole)).c_str(),
                  O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags, 0600));
    struct stat status {};
    const bool own = out.open() && ::fstat(out.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     status.st_uid == ::geteuid() && (status.st_mode & 022U) == 0 &&
                     ((flags & O_CREAT) == 0 || ::fchmod(out.get(), 0600) == 0);
    return own ? std::move(out) : Fd();
}

// Locks or unlocks a process's byte (F_WRLCK, F_UNLCK); closing the file unlocks it too. False:
// another process has the lock, or the file system has no locks.
bool lock(const Fd& file, int slot, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = slot;
    range.l_len = 1;
    return ::fcntl(file.get(), F_OFD_SETLK, &range) == 0;
}

bool read(const Fd& file, Content& out) {
    return ::pread(file.get(), &out, sizeof out, 0) == sizeof out;
}

void write_deaths(const Fd& file, const Content& content) {
    constexpr std::size_t kAt = offsetof(Content, deaths);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&content);
    (void)!::pwrite(file.get(), bytes + kAt, sizeof content - kAt, kAt);
}

bool write_slot(const Fd& file, int slot, char value) {
    return ::pwrite(file.get(), &value, 1, slot) == 1;
}

// Clears the marks of processes that died, adds them to the deaths, and returns their number.
std::uint32_t collect(const Fd& file, Content& content) {
    std::uint32_t found = 0;
    for (int slot = 0; slot < kSlots; ++slot) {
        if (content.inside[static_cast<std::size_t>(slot)] == 0 || !lock(file, slot, F_WRLCK))
            continue;
        char inside = 0;
        if (::pread(file.get(), &inside, 1, slot) == 1 && inside != 0 && write_slot(file, slot, 0))
            ++found;
        (void)lock(file, slot, F_UNLCK);
    }
    const std::int64_t now = unix_now_ns();
    if (now - content.last_unix_ns > kHourNs) content.deaths = 0;
    if (found == 0) return 0;
    content.deaths += found;
    content.last_unix_ns = now;
    write_deaths(file, content);
    return found;
}

}  // namespace

OpeningMark::OpeningMark(const std::string& folder, std::string_view key) noexcept try {
    Fd file = open_mark(folder, key, O_CREAT);
    if (!file.open()) return;
    Content content;
    if (!read(file, content)) {
        content = {};
        if (::pwrite(file.get(), &content, sizeof content, 0) != sizeof content) return;
    }
    (void)collect(file, content);
    for (int slot = 0; slot < kSlots; ++slot) {
        if (!lock(file, slot, F_WRLCK)) continue;
        if (write_slot(file, slot, 1)) slot_ = slot;
        break;
    }
    if (slot_ >= 0) file_ = std::move(file);
} catch (const std::exception&) {  // no memory: no mark
}

OpeningMark::~OpeningMark() {
    if (!file_.open()) return;
    Content content;
    if (read(file_, content) && content.deaths != 0) {
        content.deaths = 0;
        write_deaths(file_, content);
    }
    (void)write_slot(file_, slot_, 0);
}

OpeningMark::Deaths OpeningMark::deaths(const std::string& folder, std::string_view key) noexcept
    try {
    const Fd file = open_mark(folder, key, 0);
    Content content;
    if (!file.open() || !read(file, content)) return {};
    const std::uint32_t fresh = collect(file, content);
    return {fresh, content.deaths};
} catch (const std::exception&) {  // no memory
    return {};
}

void OpeningMark::forget(const std::string& folder) noexcept try {
    std::error_code error;
    std::filesystem::directory_iterator at(folder, error);
    for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error))
        if (const std::string name = at->path().filename().string();
            name.starts_with(std::string(kMarkKind) + "-") && sdk::is_kept_name(name))
            ::unlink(at->path().c_str());
} catch (const std::exception&) {  // no memory: the marks stay
}

}  // namespace wye::registry
