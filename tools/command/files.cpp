// SPDX-License-Identifier: Apache-2.0
#include "command/files.hpp"

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
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "command/output.hpp"

#include "command/memory.hpp"
#include "wye/sdk/ascii.hpp"

namespace wye::tool {
namespace {

constexpr std::uint64_t kLeastRoom = std::uint64_t{64} << 10U;
constexpr std::uint64_t kMostOfDevice = std::uint64_t{64} << 20U;
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

// Holds back the signals that would end the process, on all its threads, and raises the last such
// signal at the end.
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
    const std::filesystem::path whole = std::filesystem::absolute(sdk::followed(path), error);
    if (::stat(whole.parent_path().c_str(), &info) != 0) return {};
    return fmt::format("{}:{}/{}", info.st_dev, info.st_ino, whole.filename().string());
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

// The traces that the library and the layer `trace` write, if the environment asks for them.
std::vector<FileUse> traces() {
    std::vector<FileUse> out;
    const auto add = [&](const char* name) {
        std::string path = variable(name);
        const std::string process = std::to_string(::getpid());
        for (std::size_t at = 0; (at = path.find("%p", at)) != path.npos; at += process.size())
            path.replace(at, 2, process);
        if (!path.empty()) out.push_back({fmt::format("the trace of {}", name), path, true});
    };
    add("WYE_TRACE");
    if (fmt::format(",{},", variable("WYE_LAYERS")).find(",trace,") != std::string::npos)
        add("WYE_LAYER_TRACE");
    return out;
}

}  // namespace

bool has_ending(std::string_view path, std::string_view ending) {
    return path.size() >= ending.size() &&
           sdk::ascii::same_but_case(path.substr(path.size() - ending.size()), ending);
}

std::uint64_t most_of_stream() {
    const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const auto page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
    return pages * page / 4;
}

Result<std::vector<std::byte>> read_file(const std::string& path, std::string_view what,
                                         std::uint64_t limit, Kind kind) {
    const Descriptor fd(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (kind == Kind::Regular ? O_NONBLOCK : 0)));
    if (fd.get() < 0)
        return system_error(errno == ENOENT ? Code::NOT_FOUND : Code::INVALID_ARGUMENT, errno,
                            fmt::format("cannot read {} `{}`", what, path),
                            "Fix: check the path and its permissions", path);
    struct stat info {};
    if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode))
        return Error(Code::INVALID_ARGUMENT, fmt::format("{} `{}` is a folder", what, path),
                     "Fix: name a file", path);
    if (kind == Kind::Regular && !S_ISREG(info.st_mode))
        return Error(Code::INVALID_ARGUMENT, fmt::format("{} `{}` is no regular file", what, path),
                     "Fix: name a regular file with the same contents", path);
    const std::uint64_t size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
    if (size == 0)
        limit = std::min(limit, S_ISCHR(info.st_mode) ? kMostOfDevice : most_of_stream());
    const auto too_large = [&] {
        return Error(
            Code::LIMIT_EXCEEDED,
            fmt::format("{} `{}` has more than the {} bytes that can be used", what, path, limit),
            "Fix: use a file of at most that size", path);
    };
    if (size > limit) return too_large();
    std::vector<std::byte> bytes;
    // One byte more than the size of a regular file, to notice a file that grows meanwhile.
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

StagedOutputs::~StagedOutputs() { discard(); }

void StagedOutputs::discard() {
    entries_.clear();
    forget_names();
}

Result<std::size_t> StagedOutputs::open(const std::string& path) {
    Entry& entry = entries_.emplace_back(Entry{path, {}});
    const int problem = entry.file.open(output_path(path), naming_);
    if (problem == EISDIR || problem == ENXIO)
        return Error(Code::IO,
                     fmt::format("cannot write `{}`: it is a {}", path,
                                 problem == EISDIR ? "folder" : "socket"),
                     "Fix: name a file", path);
    if (problem != 0) return write_error(path, problem);
    if (!entry.file.name().empty()) remember_name(entry.file.name());
    return entries_.size() - 1;
}

Result<void> StagedOutputs::write(std::size_t output, std::span<const std::byte> bytes) {
    Entry& entry = entries_[output];
    if (const int problem = entry.file.write(bytes); problem != 0)
        return write_error(entry.path, problem);
    return {};
}

Result<void> StagedOutputs::commit() {
    for (Entry& entry : entries_) {
        std::optional<HeldSignals> held;
        if (!entry.file.may_wait()) held.emplace();
        if (const int problem = entry.file.commit(); problem != 0)
            return write_error(entry.path, problem);
    }
    return {};
}

Result<void> check_files(std::vector<FileUse> files) {
    for (FileUse& trace : traces()) files.push_back(std::move(trace));
    std::vector<std::string> identities;
    for (const FileUse& file : files) identities.push_back(identity_of(file.path));
    for (std::size_t i = 0; i < files.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const FileUse& one = files[j];
            const FileUse& other = files[i];
            if (identities[i].empty() || identities[i] != identities[j]) continue;
            if ((!one.written && !other.written) ||
                (!one.buffer.empty() && one.buffer == other.buffer))
                continue;
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("{} and {} are one file, `{}`, which would be overwritten", one.what,
                            other.what, other.path),
                fmt::format("Fix: name another file for {}", other.written ? other.what : one.what),
                other.path);
        }
    return {};
}

}  // namespace wye::tool
