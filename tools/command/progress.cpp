// SPDX-License-Identifier: Apache-2.0
#include "command/progress.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace wye::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;
constexpr auto kBetween = 500ms;

bool is_terminal() {
    const char* const term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::string time_text(double seconds) {
    constexpr double kMinute = 60, kHour = 3600;
    if (seconds >= 2 * kHour) return fmt::format("{:.0f} h", seconds / kHour);
    if (seconds >= 2 * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
    return fmt::format("{:.0f} s", seconds);
}

}  // namespace

std::string progress_line(const std::string& unit, std::uint64_t done, std::uint64_t total,
                          double seconds) {
    std::string out = total == 0 && done == 0 ? fmt::format("{}, {}", unit, time_text(seconds))
                      : total == 0            ? fmt::format("{} {}", done, unit)
                                              : fmt::format("{} of {} {}", done, total, unit);
    if (done == 0 || seconds <= 0) return out;
    const double speed = static_cast<double>(done) / seconds;
    out += fmt::format(fmt::runtime(speed >= 10 ? ", {:.0f}/s" : ", {:.2f}/s"), speed);
    if (total > done)
        out += fmt::format(", {} left", time_text(static_cast<double>(total - done) / speed));
    return out;
}

Progress::Progress(std::string unit, std::uint64_t total) : unit_(std::move(unit)), total_(total) {
    if (!is_terminal()) return;
    // The writer blocks all signals: they are for the thread that works.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    writer_ = std::thread([this] { write_lines(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
    if (!writer_.joinable()) return;
    hide();
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    writer_.join();
}

void Progress::hide() {
    const std::lock_guard lock(mutex_);
    hidden_ = true;
    if (!std::exchange(drawn_, false)) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
}

void Progress::write_lines() {
    const auto begun = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [this] { return ended_; });
    for (; !ended_; changed_.wait_for(lock, kBetween, [this] { return ended_; })) {
        if (std::exchange(hidden_, false)) continue;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
        fmt::print(stderr, "\r\033[K{}",
                   progress_line(unit_, done_.load(), total_, passed.count()));
        std::fflush(stderr);
        drawn_ = true;
    }
}

}  // namespace wye::tool
