// SPDX-License-Identifier: Apache-2.0
//
// file_mask: the file mode mask (umask) of this process, read from /proc: the system call umask()
// can read the mask only by setting it, for all threads. Returns nothing without /proc. One short
// read; thread-safe.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>

namespace wye::sdk {

[[nodiscard]] inline std::optional<mode_t> file_mask() noexcept {
    const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    char text[256];  // the mask is in the second line, after a name of at most 64 bytes
    const ssize_t size = ::read(file, text, sizeof text - 1);
    ::close(file);
    if (size <= 0) return std::nullopt;
    text[size] = '\0';
    constexpr std::string_view kName = "\nUmask:";
    const std::size_t at = std::string_view(text).find(kName);
    if (at == std::string_view::npos) return std::nullopt;
    return static_cast<mode_t>(std::strtoul(text + at + kName.size(), nullptr, 8));
}

}  // namespace wye::sdk
