// SPDX-License-Identifier: Apache-2.0
#include "command/output.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace wye::tool {
namespace {

std::FILE* moved = nullptr;

}  // namespace

std::FILE* output() noexcept { return moved == nullptr ? stdout : moved; }

void keep_output() noexcept {
    if (moved != nullptr) return;
    constexpr int kAboveStandard = 3;
    std::fflush(stdout);
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kAboveStandard);
    if (own < 0) return;
    moved = ::fdopen(own, "w");
    if (moved == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        if (moved == nullptr)
            ::close(own);
        else
            std::fclose(moved);
        moved = nullptr;
    }
}

std::string output_path(const std::string& path) {
    if (moved != nullptr)
        for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
            if (path == name) return "/proc/self/fd/" + std::to_string(::fileno(moved));
    return path;
}

}  // namespace wye::tool
