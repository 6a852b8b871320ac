// SPDX-License-Identifier: Apache-2.0
#include "registry/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "registry/manifest.hpp"

namespace wye::registry {
namespace {

constexpr std::size_t kSelectorBytes = 4096;

// An error with the text and a caret under a column, counted in bytes from 1.
Error at_column(std::string_view text, std::size_t offset, std::string_view what,
                std::string_view fix) {
    std::string shown;
    for (const char c : text) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("selector, column {}: {}\n  {}\n  {:>{}}\n", offset + 1, what, shown,
                             "^", offset + 1),
                 fmt::format("Fix: {}", fix), shown);
}

// Parses one entry at text[start, end), without surrounding spaces.
Result<SelectorEntry> parse_entry(std::string_view text, std::size_t start, std::size_t end) {
    SelectorEntry entry;
    const char* const kExamples = "write auto, a plugin (cpu), a device (cpu:0), or cpu:*";
    if (start < end && text[start] == '-') {
        entry.discard = true;
        ++start;
    }
    if (start == end) return at_column(text, start, "an entry is missing here", kExamples);
    const std::string_view body = text.substr(start, end - start);
    const std::size_t colon = body.find(':');
    const std::string_view name = body.substr(0, colon);
    if (name == "auto") {
        if (colon != body.npos)
            return at_column(text, start + colon, "auto takes no index",
                             "write auto alone, or a plugin before the index");
        if (entry.discard)
            return at_column(text, start, "auto cannot be excluded: nothing would be left",
                             "exclude a plugin or a device");
        return entry;
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool fine = (name[i] >= 'a' && name[i] <= 'z') ||
                          (i > 0 && ((name[i] >= '0' && name[i] <= '9') || name[i] == '_'));
        if (!fine)
            return at_column(text, start + i, "this cannot be part of a plugin's name", kExamples);
    }
    if (!valid_plugin_id(name))
        return at_column(
            text, start,
            name.empty() ? "the plugin's name is missing" : "the name is longer than 64 characters",
            kExamples);
    entry.kind = SelectorEntry::Kind::plugin;
    entry.plugin = std::string(name);
    if (colon == body.npos) return entry;
    const std::string_view index = body.substr(colon + 1);
    if (index == "*") {
        entry.star = true;
        return entry;
    }
    entry.kind = SelectorEntry::Kind::device;
    const char* const last = index.data() + index.size();
    const auto [stop, error] = std::from_chars(index.data(), last, entry.index);
    if (error == std::errc::result_out_of_range)
        return at_column(text, start + colon + 1, "the index is too large",
                         "use an index that `wye info -l` lists");
    if (error != std::errc{} || stop != last)
        return at_column(text, start + colon + 1 + static_cast<std::size_t>(stop - index.data()),
                         "an index or * must follow the colon",
                         fmt::format("write {0}:0, or {0}:* for all", entry.plugin));
    if (index.size() > 1 && index[0] == '0')
        return at_column(text, start + colon + 1, "the index has a leading zero",
                         fmt::format("write {}:{}", entry.plugin, entry.index));
    return entry;
}

}  // namespace

bool SelectorEntry::covers(std::string_view plugin_id, std::uint32_t device_index) const noexcept {
    switch (kind) {
        case Kind::automatic:
            return true;
        case Kind::plugin:
            return plugin == plugin_id;
        case Kind::device:
            return plugin == plugin_id && index == device_index;
    }
    return false;
}

std::vector<SelectorEntry> Selector::wanted() const {
    std::vector<SelectorEntry> out;
    for (const SelectorEntry& entry : entries)
        if (!entry.discard) out.push_back(entry);
    if (out.empty()) out.emplace_back();
    return out;
}

bool Selector::discards(std::string_view plugin_id, std::uint32_t index) const noexcept {
    return std::any_of(entries.begin(), entries.end(), [&](const SelectorEntry& entry) {
        return entry.discard && entry.covers(plugin_id, index);
    });
}

bool Selector::excludes_plugin(std::string_view plugin_id) const noexcept {
    bool wanted = false;
    bool only_discards = true;
    for (const SelectorEntry& entry : entries) {
        if (entry.discard) {
            if (entry.kind == SelectorEntry::Kind::plugin && entry.plugin == plugin_id) return true;
            continue;
        }
        only_discards = false;
        if (entry.kind == SelectorEntry::Kind::automatic || entry.plugin == plugin_id)
            wanted = true;
    }
    return !wanted && !only_discards;
}

Result<Selector> parse_selector(std::string_view text) {
    Selector selector;
    if (text.size() > kSelectorBytes)
        return Error(Code::LIMIT_EXCEEDED, fmt::format("the selector has {} bytes", text.size()),
                     fmt::format("Fix: use at most {}", kSelectorBytes));
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    if (std::all_of(text.begin(), text.end(), is_space)) {
        selector.entries.emplace_back();
        return selector;
    }
    std::size_t start = 0;
    while (true) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        std::size_t first = start;
        std::size_t last = comma;
        while (first < last && is_space(text[first])) ++first;
        while (last > first && is_space(text[last - 1])) --last;
        WYE_ASSIGN(SelectorEntry entry, parse_entry(text, first, last));
        selector.entries.push_back(std::move(entry));
        if (comma == text.size()) return selector;
        start = comma + 1;
    }
}

std::string to_text(const SelectorEntry& entry) {
    const char* const sign = entry.discard ? "-" : "";
    if (entry.kind == SelectorEntry::Kind::automatic) return fmt::format("{}auto", sign);
    if (entry.kind == SelectorEntry::Kind::device)
        return fmt::format("{}{}:{}", sign, entry.plugin, entry.index);
    return fmt::format("{}{}{}", sign, entry.plugin, entry.star ? ":*" : "");
}

std::string to_text(const Selector& selector) {
    std::string out;
    for (const SelectorEntry& entry : selector.entries) {
        if (!out.empty()) out += ",";
        out += to_text(entry);
    }
    return out;
}

}  // namespace wye::registry
