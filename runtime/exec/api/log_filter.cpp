// SPDX-License-Identifier: Apache-2.0
#include "exec/api/log_filter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "registry/open/plugin_text.hpp"

namespace wye::exec {
namespace {

// The names of the levels, indexed by enum wye_log_level.
constexpr std::array<std::string_view, 5> kLevels = {"off", "error", "warning", "info", "debug"};

std::optional<std::uint32_t> level_of(std::string_view name) {
    const auto found = std::ranges::find(kLevels, name);
    if (found == kLevels.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - kLevels.begin());
}

bool is_inside(std::string_view area, std::string_view outer) {
    return area.starts_with(outer) && (area.size() == outer.size() || area[outer.size()] == '.');
}

}  // namespace

Result<LogFilter> LogFilter::parse(std::string_view text) {
    LogFilter out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view entry = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (entry.empty()) continue;
        const std::size_t colon = entry.rfind(':');
        const bool has_area = colon != entry.npos;
        const auto level = level_of(has_area ? entry.substr(colon + 1) : entry);
        if (!level || colon == 0)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` in WYE_LOG is neither a level nor AREA:LEVEL",
                                     registry::one_line(entry)),
                         "Fix: use off, error, warning, info or debug, as in "
                         "WYE_LOG=warning,dispatch:debug",
                         "WYE_LOG");
        out.entries_.push_back({std::string(has_area ? entry.substr(0, colon) : ""), *level});
    }
    std::ranges::stable_sort(out.entries_, std::ranges::greater{},
                             [](const Entry& e) { return e.area.size(); });
    return out;
}

bool LogFilter::passes(std::uint32_t level, std::string_view area) const {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
        return entry.area.empty() || is_inside(area, entry.area);
    });
    return found != entries_.end() && level <= found->level;
}

std::uint32_t LogFilter::least_severe() const {
    std::uint32_t out = 0;
    for (const Entry& entry : entries_) out = std::max(out, entry.level);
    return out;
}

void write_log_line(std::uint32_t level, std::string_view area, std::string_view text) {
    const std::string_view name = level < kLevels.size() ? kLevels[level] : "log";
    const std::string line = fmt::format("wye: {}: {}: {}\n", name, area, registry::one_line(text));
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace wye::exec
