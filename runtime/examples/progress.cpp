// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace wye::examples {
namespace {

bool draws_on(std::FILE* stream) {
    const char* term = std::getenv("TERM");
    return ::isatty(::fileno(stream)) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Progress::Progress(std::FILE* stream) : stream_(stream), terminal_(draws_on(stream)) {}

void Progress::start(std::string label, std::uint64_t total) {
    label_ = std::move(label);
    total_ = total;
}

void Progress::advance(std::uint64_t done) {
    if (!terminal_) return;
    constexpr std::uint64_t kWidth = 30;
    const double mib = static_cast<double>(done) / (1 << 20);
    if (total_ == 0) {
        fmt::print(stream_, "\r{} {:.0f} MiB", label_, mib);
    } else {
        const std::uint64_t cells = done >= total_ ? kWidth : done * kWidth / total_;
        fmt::print(stream_, "\r[{:<{}}] {:3}% {}", std::string(cells, '='), kWidth,
                   done >= total_ ? 100 : done * 100 / total_, label_);
    }
    std::fflush(stream_);
    drawn_ = true;
}

void Progress::finish() {
    if (drawn_) fmt::print(stream_, "\r\033[K");
    drawn_ = false;
}

}  // namespace wye::examples
