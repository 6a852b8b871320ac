// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
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
    begun_ = std::chrono::steady_clock::now();
    drawn_at_ = {};
}

void Progress::advance(std::uint64_t done) {
    if (!terminal_) return;
    constexpr std::uint64_t kWidth = 30;
    constexpr auto kPatience = std::chrono::seconds(2);
    constexpr auto kBetween = std::chrono::milliseconds(200);
    const auto now = std::chrono::steady_clock::now();
    if (now - begun_ < kPatience || now - drawn_at_ < kBetween) return;
    drawn_at_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double mib = static_cast<double>(done) / (1 << 20);
    const double speed = mib / seconds;
    if (total_ == 0) {
        fmt::print(stream_, "\r\033[K{} {:.0f} MiB, {:.0f} MiB/s", label_, mib, speed);
    } else {
        const std::uint64_t part = std::min(done, total_);
        const std::uint64_t cells = part * kWidth / total_;
        const double left = static_cast<double>(total_ - part) / (1 << 20) / std::max(speed, 1e-9);
        fmt::print(stream_, "\r\033[K[{:<{}}] {:3}% {}, {:.0f} MiB/s, {:.0f} s left",
                   std::string(cells, '='), kWidth, part * 100 / total_, label_, speed, left);
    }
    std::fflush(stream_);
    drawn_ = true;
}

void Progress::finish() {
    if (drawn_) fmt::print(stream_, "\r\033[K");
    drawn_ = false;
}

}  // namespace wye::examples
