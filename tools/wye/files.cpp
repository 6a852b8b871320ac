// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "output.hpp"

#include "memory.hpp"

namespace wye::tool {
namespace {

constexpr std::uint64_t kLeastRoom = std::uint64_t{64} << 10U;
constexpr std::size_t kMostRead = std::size_t{1} << 30U;

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    // Reports write errors that only close() returns (a full disk of a network file system).
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

// Names of staged files. Global, because the signal handler below may access nothing else.
constexpr std::size_t kMostNames = 64;  // the greatest number of a program's buffers
struct Names {
    std::array<std::array<char, PATH_MAX>, kMostNames> paths;
    volatile std::sig_atomic_t count = 0;
};
Names names;
constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ, SIGXCPU};

// Removes the staged files that have names, then raises the signal again.
void remove_names(int signal) {
    for (std::sig_atomic_t n = 0; n < names.count; ++n)
        ::unlink(names.paths[static_cast<std::size_t>(n)].data());
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void remember_name(const std::string& name) {
    const auto count = static_cast<std::size_t>(names.count);
    if (count == kMostNames || name.size() >= PATH_MAX) return;
    std::memcpy(names.paths[count].data(), name.c_str(), name.size() + 1);
    names.count = names.count + 1;
    if (count != 0) return;
    for (const int signal : kEnding) {
        struct sigaction now {};
        // Ignored signals stay ignored.
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
            ::signal(signal, &remove_names);
    }
}

// Called when the files are in place, or were removed.
void forget_names() {
    if (names.count == 0) return;
    names.count = 0;
    for (const int signal : kEnding) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == &remove_names)
            ::signal(signal, SIG_DFL);
    }
}

// Holds back the signals that would end the process, on all its threads, and raises the last one of
// them at the end.
class HeldSignals {
  public:
    HeldSignals() {
        held = 0;
        for (std::size_t n = 0; n < std::size(kEnding); ++n) {
            ::sigaction(kEnding[n], nullptr, &before_[n]);
            // Ignored signals stay ignored.
            if (before_[n].sa_handler != SIG_IGN) ::signal(kEnding[n], &hold);
        }
    }
    ~HeldSignals() {
        for (std::size_t n = 0; n < std::size(kEnding); ++n)
            ::sigaction(kEnding[n], &before_[n], nullptr);
        if (held != 0) ::raise(held);
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

  private:
    static void hold(int signal) { held = signal; }
    // Global for the signal handler, as `names` is.
    static inline volatile std::sig_atomic_t held = 0;
    std::array<struct sigaction, std::size(kEnding)> before_{};
};

// A text that is equal for two paths of the same regular file; empty for other files.
std::string identity_of(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0)
        return S_ISREG(info.st_mode) ? fmt::format("{}:{}", info.st_dev, info.st_ino)
                                     : std::string();
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (::stat(whole.parent_path().c_str(), &info) != 0) return {};
    return fmt::format("{}:{}/{}", info.st_dev, info.st_ino, whole.filename().string());
}

// The mode that open(path, O_CREAT, 0666) would give: that of the replaced file, else 0666 without
// the umask's bits. Set-user-id, set-group-id and sticky bits are dropped, as a write would drop
// them, because the new file may belong to another user.
mode_t output_mode(const std::optional<struct stat>& existing) {
    if (existing) return existing->st_mode & 0777U;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

// The limit for a stream, which may be endless: a quarter of the machine's memory.
std::uint64_t most_of_stream() {
    const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const auto page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
    return pages * page / 4;
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
    const std::uint64_t size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
    if (size == 0) limit = std::min(limit, most_of_stream());
    const auto too_large = [&] {
        return Error(
            Code::LIMIT_EXCEEDED,
            fmt::format("{} `{}` has more than the {} bytes that can be used", what, path, limit),
            "Fix: use a file of at most that size", path);
    };
    if (size > limit) return too_large();
    std::vector<std::byte> bytes;
    // One byte more than a regular file has shows whether it grows meanwhile.
    std::uint64_t room = size == 0 ? kLeastRoom : size + 1;
    std::size_t done = 0;
    try {
        for (;;) {
            if (done == bytes.size()) {
                if (done != 0) room = std::max(std::uint64_t{done} * 2, kLeastRoom);
                if (limit != UINT64_MAX) room = std::min(room, limit + 1);
                bytes.resize(static_cast<std::size_t>(room));
            }
            const ssize_t n = ::read(fd.get(), bytes.data() + done,
                                     std::min<std::size_t>(bytes.size() - done, kMostRead));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0)
                return system_error(Code::INVALID_ARGUMENT, errno,
                                    fmt::format("cannot read {} `{}`", what, path),
                                    "Fix: name a readable file", path);
            if (n == 0) break;
            done += static_cast<std::size_t>(n);
            if (done > limit) return too_large();
        }
    } catch (const std::exception&) {  // bad_alloc, length_error
        return no_memory(room, fmt::format("{} `{}`", what, path));
    }
    bytes.resize(done);
    return bytes;
}

StagedOutputs::~StagedOutputs() {
    entries_.clear();
    forget_names();
}

Result<void> StagedOutputs::add(const std::string& given, std::span<const std::byte> bytes) {
    const std::string path = output_path(given);
    std::optional<struct stat> existing;
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) existing = info;
    if (existing && S_ISDIR(existing->st_mode))
        return Error(Code::IO, fmt::format("cannot write `{}`: it is a folder", path),
                     "Fix: name a file", path);
    if (existing && !S_ISREG(existing->st_mode)) {
        entries_.push_back({path, {}, true, bytes});
        return {};
    }
    if (existing && ::access(path.c_str(), W_OK) != 0) return write_error(path, errno);
    // A symbolic link is kept: its target is replaced.
    const std::unique_ptr<char, decltype(&std::free)> real(
        existing ? ::realpath(path.c_str(), nullptr) : nullptr, &std::free);
    if (existing && !real) {  // the path names an open file that was unlinked
        entries_.push_back({path, {}, true, bytes});
        return {};
    }
    const std::string target = real ? real.get() : path;
    entries_.push_back({target, {}, false, {}});
    sdk::NewFile& staged = entries_.back().staged;
    int problem = staged.open(target, output_mode(existing), naming_);
    if (!staged.name().empty()) remember_name(staged.name());
    if (problem == 0) problem = staged.write(bytes);
    if (problem != 0) return write_error(path, problem);
    return {};
}

Result<void> StagedOutputs::commit() {
    for (Entry& entry : entries_) {
        if (!entry.direct) {
            const HeldSignals held;
            if (const int problem = entry.staged.publish(); problem != 0)
                return write_error(entry.target, problem);
            continue;
        }
        Descriptor fd(::open(entry.target.c_str(), O_WRONLY | O_CLOEXEC));
        if (fd.get() < 0 || !write_all(fd.get(), entry.bytes) || !fd.close_checked())
            return write_error(entry.target, errno);
    }
    return {};
}

Result<void> check_targets(const std::vector<std::pair<std::string, std::string>>& outputs) {
    std::map<std::string, std::string> seen;  // identity of a file, name of its output
    for (const auto& [name, path] : outputs) {
        const std::string identity = identity_of(path);
        if (identity.empty()) continue;
        const auto [at, is_new] = seen.emplace(identity, name);
        if (!is_new)
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("outputs `{}` and `{}` go to one file, `{}`: one would be lost",
                            at->second, name, path),
                "Fix: name a file of its own for each output", path);
    }
    return {};
}

}  // namespace wye::tool
