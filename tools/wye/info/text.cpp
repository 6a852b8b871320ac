// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "wye/sdk/printable.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kLeastWidth = 40;

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t terminal_width() {
    const std::string_view given = variable("COLUMNS");
    std::size_t width = 0;
    std::from_chars(given.data(), given.data() + given.size(), width);
    struct winsize size {};
    if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    return width == 0 ? kNoWrap : std::max(width, kLeastWidth);
}

}  // namespace

Result<Style> style_of(const std::string& when) {
    if (when != "auto" && when != "always" && when != "never")
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`--color {}` is not auto, always or never", clean(when)),
                     "Fix: write --color auto, --color always or --color never", "--color");
    Style out;
    out.width = terminal_width();
    const std::string_view force = variable("CLICOLOR_FORCE");
    const bool forced = !force.empty() && force != "0";
    const bool terminal = ::isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb";
    out.colour = when == "always" ||
                 (when == "auto" && variable("NO_COLOR").empty() && (forced || terminal));
    return out;
}

std::string ink(const Style& style, Ink what, std::string_view text) {
    if (!style.colour || text.empty()) return std::string(text);
    constexpr const char* kCodes[] = {"1", "1;36", "32", "31", "2"};
    return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(what)], text);
}

std::string clean(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c == '\n' || c == '\t') c = ' ';
    return sdk::one_line(out);
}

std::size_t columns(std::string_view text) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {  // a colour that this program added
            i = std::min(text.find('m', i), text.size() - 1);
        } else if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) {
            ++out;
        }
    }
    return out;
}

std::string padded(std::string_view text, std::size_t width) {
    std::string out(text);
    const std::size_t own = columns(text);
    if (own < width) out.append(width - own, ' ');
    return out;
}

std::string wrapped(const Style& style, std::string_view first, std::string_view text) {
    const std::string safe = clean(text);
    const std::string blanks(columns(first), ' ');
    std::string out(first);
    std::size_t at = blanks.size();
    bool begin = true;  // at the beginning of a line
    for (std::size_t from = 0; from < safe.size();) {
        const std::size_t end = std::min(safe.find(' ', from), safe.size());
        const std::string_view word = std::string_view(safe).substr(from, end - from);
        from = end + 1;
        const std::size_t size = columns(word);
        if (!begin && style.width != kNoWrap && at + 1 + size > style.width) {
            out += '\n';
            out += blanks;
            at = blanks.size();
            begin = true;
        }
        if (!begin) out += ' ';
        at += size + (begin ? 0 : 1);
        out += word;
        begin = false;
    }
    while (out.ends_with(' ')) out.pop_back();
    return out + '\n';
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kKiB = std::uint64_t{1} << 10U;
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    if (bytes >= 10 * kGiB) return fmt::format("{} GiB", bytes / kGiB);
    if (bytes >= kGiB) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
    if (bytes >= kMiB) return fmt::format("{} MiB", bytes / kMiB);
    if (bytes >= kKiB) return fmt::format("{} KiB", bytes / kKiB);
    return count_text(bytes, "byte");
}

std::string age_text(std::uint64_t milliseconds) {
    const std::uint64_t seconds = milliseconds / 1000;
    constexpr std::uint64_t kMinute = 60;
    constexpr std::uint64_t kHour = 60 * kMinute;
    constexpr std::uint64_t kDay = 24 * kHour;
    if (seconds >= 2 * kDay) return fmt::format("{} days", seconds / kDay);
    if (seconds >= 2 * kHour) return fmt::format("{} h", seconds / kHour);
    if (seconds >= 2 * kMinute) return fmt::format("{} min", seconds / kMinute);
    return fmt::format("{} s", seconds);
}

std::string time_text(std::uint64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
    std::tm parts{};
    std::array<char, 32> out{};
    if (::gmtime_r(&seconds, &parts) == nullptr) return {};
    return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string count_text(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace wye::tool
