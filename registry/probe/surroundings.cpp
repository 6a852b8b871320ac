// SPDX-License-Identifier: Apache-2.0
#include "surroundings.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "registry/probe/spawn.hpp"
#include "wye/sdk/file_mask.hpp"

namespace wye::registry {
namespace {

// Paths that drivers are known to read or use. Paths inside a folder tell whether the folder has
// content: a /sys that is not mounted is an empty folder.
constexpr const char* kPaths[] = {
    "/proc/self/maps",    "/proc/self/task",
    "/proc/self/fd",      "/proc/cpuinfo",
    "/proc/meminfo",      "/proc/mounts",
    "/proc/stat",         "/proc/sys/kernel",
    "/sys/class",         "/sys/devices/system",
    "/sys/bus/pci",       "/sys/devices/system/cpu",
    "/sys/fs/cgroup",     "/sys/dev",
    "/sys/kernel",        "/sys/module",
    "/dev/null",          "/dev/zero",
    "/dev/urandom",       "/dev/shm",
    "/dev/tty",           "/etc/passwd",
    "/etc/nsswitch.conf", "/tmp",
    "/var/tmp",           "/usr/bin/ld",
    "/usr/bin/gcc",       "/usr/bin/clang",
    "/etc/localtime",     "/run",
    "/usr/lib/clang",     "/etc/ld.so.conf",
    "/dev/kmsg",          "/sys/firmware",
};
// Folders of device files that many drivers use. Manifests name the folders of other drivers.
constexpr const char* kDeviceFolders[] = {"/dev/dri", "/dev/accel"};

char access_of(const char* path) {
    int bits = 0;
    for (const int mode : {R_OK, W_OK, X_OK})
        if (::access(path, mode) == 0) bits |= mode;
    return static_cast<char>('0' + (bits != 0 || ::access(path, F_OK) == 0 ? 1 + bits : 0));
}

// The names in a folder, in order.
std::vector<std::string> names_in(const char* folder) {
    std::vector<std::string> out;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder), &::closedir);
    if (!open) return out;
    while (const dirent* entry = ::readdir(open.get()))
        if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
    std::ranges::sort(out);
    return out;
}

// The beginning of a short file; empty if there is none.
std::string beginning_of(const char* path) {
    const Fd file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    char text[4096];
    const ssize_t size = file.open() ? ::read(file.get(), text, sizeof text) : 0;
    return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// The line of /proc/cpuinfo that begins with `name`.
std::string_view line_of(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == text.npos) return {};
    return text.substr(at, text.find('\n', at) - at);
}

void add_devices(std::string& out) {
    for (const char* folder : kDeviceFolders)
        for (const std::string& name : names_in(folder)) {
            const std::string path = fmt::format("{}/{}", folder, name);
            out += fmt::format("{} {}\n", path, access_of(path.c_str()));
        }
    for (const std::string& name : names_in("/sys/class/drm")) out += name + "\n";
}

// Adds whether the folders in which drivers keep files are accessible. The names of the folders do
// not matter: batch systems change them with each job.
void add_folders(std::string& out) {
    for (const char* name : {"HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"}) {
        const char* const path = std::getenv(name);
        out += fmt::format("{} {}\n", name,
                           path == nullptr ? '-'
                           : *path == '\0' ? 'e'
                                           : access_of(path));
    }
}

void add_limits(std::string& out) {
    constexpr __rlimit_resource kLimits[] = {RLIMIT_AS,     RLIMIT_DATA,   RLIMIT_STACK,
                                             RLIMIT_NOFILE, RLIMIT_NPROC,  RLIMIT_MEMLOCK,
                                             RLIMIT_FSIZE,  RLIMIT_RTPRIO, RLIMIT_CPU};
    for (const __rlimit_resource limit : kLimits) {
        rlimit now{};
        out += ::getrlimit(limit, &now) == 0
                   ? fmt::format("{} ", static_cast<std::uint64_t>(now.rlim_cur))
                   : "? ";
    }
}

}  // namespace

std::optional<LowLimit> low_limit() {
    constexpr rlim_t kMiB = rlim_t{1} << 20U;
    constexpr rlim_t kFiles = 64, kSpace = 4096 * kMiB;
    rlimit now{};
    if (::getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur < kFiles)
        return LowLimit{
            fmt::format("RLIMIT_NOFILE at {}", static_cast<std::uint64_t>(now.rlim_cur)),
            "raise RLIMIT_NOFILE (`ulimit -n`)"};
    if (::getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_cur < kSpace)
        return LowLimit{
            fmt::format("RLIMIT_AS at {} MiB", static_cast<std::uint64_t>(now.rlim_cur / kMiB)),
            "raise RLIMIT_AS (`ulimit -v`)"};
    return std::nullopt;
}

std::string surroundings() {
    std::string out;
    for (const char* path : kPaths) out += access_of(path);
    out += fmt::format("\n{}\n", ::geteuid());
    utsname system{};
    if (::uname(&system) == 0) out += fmt::format("{} {}\n", system.release, system.machine);
    const std::string processor = beginning_of("/proc/cpuinfo");
    for (const std::string_view name : {"model name", "CPU implementer", "CPU part", "uarch"})
        out += fmt::format("{}\n", line_of(processor, name));
    out += beginning_of("/sys/devices/system/cpu/possible") + "\n";
    add_devices(out);
    add_folders(out);
    add_limits(out);
    // Drivers behave differently if the file mode mask makes their own files unreadable to them.
    out += fmt::format("\n{:o}\n", sdk::file_mask().value_or(0) & 0700U);
    return out;
}

}  // namespace wye::registry
