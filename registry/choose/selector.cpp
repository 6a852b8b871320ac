// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "registry/choose/identity.hpp"
#include "registry/find/manifest.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/ascii.hpp"
#include "wye/sdk/printable.hpp"

namespace wye::registry {
namespace {

using Kind = SelectorEntry::Kind;

constexpr std::size_t kSelectorBytes = 4096;
constexpr std::size_t kIdBytes = 64;
constexpr const char* kExamples =
    "write auto, a plugin (cpu), a device (cpu:0, @ID, \"part of a name\"), or cpu:*";

// An error that shows the text and a caret under a column, counted in characters from 1.
Error at_column(std::string_view text, const TextFault& fault) {
    const auto shown = [](std::string_view part) {
        std::string out = sdk::one_column_each(part);
        std::ranges::replace(out, '\t', ' ');
        return out;
    };
    const std::string before = shown(text.substr(0, fault.offset));
    const auto column = 1 + std::ranges::count_if(before, [](char c) {
                            return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
                        });
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("selector, column {}: {}\n  {}\n  {:>{}}\n", column, fault.what,
                             shown(text), "^", column),
                 fmt::format("Fix: {}", fault.fix), std::string(text));
}

// Finds the first byte, at or after `from`, that is one of `stops` and lies outside quotes and
// brackets. An opening bracket itself lies outside. Returns text.size() if there is none.
std::size_t find_outside(std::string_view text, std::size_t from, std::string_view stops) {
    bool in_quotes = false;
    bool in_brackets = false;
    for (std::size_t i = from; i < text.size(); ++i) {
        const char c = text[i];
        if (in_quotes) {
            if (c == '\\') ++i;
            if (c == '"') in_quotes = false;
            continue;
        }
        if (!in_brackets && stops.find(c) != std::string_view::npos) return i;
        if (c == '"') in_quotes = true;
        if (c == '[') in_brackets = true;
        if (c == ']') in_brackets = false;
    }
    return text.size();
}

// The part of a text that remains to be parsed: [at, end) of `text`.
struct Rest {
    std::string_view text;
    std::size_t at = 0, end = 0;

    void trim() {
        while (at < end && sdk::ascii::is_space(text[at])) ++at;
        while (end > at && sdk::ascii::is_space(text[end - 1])) --end;
    }
    [[nodiscard]] bool empty() const { return at == end; }
    [[nodiscard]] char front() const { return text[at]; }
    [[nodiscard]] std::string_view view() const { return text.substr(at, end - at); }
    [[nodiscard]] Error fault(std::size_t offset, std::string what, std::string fix) const {
        return at_column(text, {offset, std::move(what), std::move(fix)});
    }
    [[nodiscard]] Error fault(const TextFault& inside) const {
        return at_column(text, {at + inside.offset, inside.what, inside.fix});
    }
};

Result<void> parse_properties(Rest inside, SelectorEntry& entry) {
    while (true) {
        Rest one = inside;
        one.end = std::min(find_outside(inside.text, inside.at, ","), inside.end);
        const bool last = one.end == inside.end;
        inside.at = one.end + 1;
        one.trim();
        Property property;
        if (const auto fault = parse_property(one.view(), property)) return one.fault(*fault);
        entry.properties.push_back(std::move(property));
        if (last) return {};
    }
}

// Parses `@id` or a quoted part of a name.
Result<void> parse_which(const Rest& rest, SelectorEntry& entry) {
    if (rest.front() == '"') {
        entry.kind = Kind::name;
        TextFault fault;
        const std::size_t length = parse_quoted(rest.view(), entry.text, fault);
        if (length == 0) return rest.fault(fault);
        if (entry.text.empty())
            return rest.fault(rest.at, "the part of a name is empty", "write * for all devices");
        if (rest.at + length != rest.end)
            return rest.fault(rest.at + length, "a comma or [ must follow the name", kExamples);
        return {};
    }
    entry.kind = Kind::id;
    entry.text = rest.view().substr(1);
    for (std::size_t i = 0; i < entry.text.size(); ++i) {
        const char c = entry.text[i];
        if (!sdk::ascii::is_digit(c) && !sdk::ascii::is_letter(c) && c != '-' && c != ':' &&
            c != '.')
            return rest.fault(rest.at + 1 + i, "this cannot be part of an id",
                              "write the id that `wye info` prints");
    }
    if (entry.text.empty() || entry.text.size() > kIdBytes)
        return rest.fault(
            rest.at, entry.text.empty() ? "the id is missing" : "the id is longer than 64 letters",
            "write @ and the id that `wye info` prints, a UUID or a PCI address");
    return {};
}

// Parses what follows `plugin:`.
Result<void> parse_index(const Rest& rest, SelectorEntry& entry) {
    const std::string_view index = rest.view();
    if (index == "*") {
        entry.star = true;
        return {};
    }
    if (!rest.empty() && (rest.front() == '@' || rest.front() == '"'))
        return parse_which(rest, entry);
    entry.kind = Kind::device;
    const char* const last = index.data() + index.size();
    const auto [stop, error] = std::from_chars(index.data(), last, entry.index);
    if (error == std::errc::result_out_of_range)
        return rest.fault(rest.at, "the index is too large",
                          "use an index that `wye info -l` lists");
    if (error != std::errc{} || stop != last)
        return rest.fault(rest.at + static_cast<std::size_t>(stop - index.data()),
                          "an index or * must follow the colon",
                          fmt::format("write {0}:0, or {0}:* for all", entry.plugin));
    if (index.size() > 1 && index[0] == '0')
        return rest.fault(rest.at, "the index has a leading zero",
                          fmt::format("write {}:{}", entry.plugin, entry.index));
    return {};
}

// Parses `auto`, or a plugin with or without an index.
Result<void> parse_plugin(const Rest& rest, SelectorEntry& entry) {
    const std::string_view body = rest.view();
    const std::size_t colon = body.find(':');
    const std::string_view name = body.substr(0, colon);
    if (name == "auto") {
        if (colon != std::string_view::npos)
            return rest.fault(rest.at + colon, "auto takes no index",
                              "write auto alone, or a plugin before the index");
        return {};
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool fine = (name[i] >= 'a' && name[i] <= 'z') ||
                          (i > 0 && (sdk::ascii::is_digit(name[i]) || name[i] == '_'));
        if (!fine)
            return rest.fault(rest.at + i, "this cannot be part of a plugin's name", kExamples);
    }
    if (!valid_plugin_id(name))
        return rest.fault(
            rest.at,
            name.empty() ? "the plugin's name is missing" : "the name is longer than 64 characters",
            kExamples);
    entry.kind = Kind::plugin;
    entry.plugin = std::string(name);
    if (colon == std::string_view::npos) return {};
    Rest after = rest;
    after.at += colon + 1;
    return parse_index(after, entry);
}

// Parses one entry, which is all of `rest`, without surrounding spaces.
Result<SelectorEntry> parse_entry(Rest rest) {
    SelectorEntry entry;
    if (!rest.empty() && rest.front() == '-') {
        entry.discard = true;
        ++rest.at;
    }
    if (rest.empty()) return rest.fault(rest.at, "an entry is missing here", kExamples);
    Rest head = rest;
    head.end = std::min(find_outside(rest.text, rest.at, "["), rest.end);
    if (head.end != rest.end) {
        Rest inside = rest;
        inside.at = head.end + 1;
        const std::size_t close = std::min(find_outside(rest.text, inside.at, "]"), rest.end);
        if (close == rest.end)
            return rest.fault(rest.end, "the bracket is not closed",
                              "write ] after the properties");
        if (close + 1 != rest.end)
            return rest.fault(close + 1, "a comma must follow the bracket", kExamples);
        inside.end = close;
        WYE_TRY(parse_properties(inside, entry));
        head.trim();
        if (head.empty())
            return rest.fault(rest.at, "the device is missing before the bracket",
                              "write *[...] for any device");
    }
    if (head.view() == "*") {
        entry.kind = Kind::all;
    } else if (head.front() == '@' || head.front() == '"') {
        WYE_TRY(parse_which(head, entry));
    } else {
        WYE_TRY(parse_plugin(head, entry));
    }
    const bool everything = entry.kind == Kind::automatic || entry.kind == Kind::all;
    if (entry.discard && everything && entry.properties.empty())
        return rest.fault(rest.at,
                          fmt::format("{} cannot be excluded: nothing would be left", head.view()),
                          "exclude a plugin or a device");
    return entry;
}

}  // namespace

bool SelectorEntry::names(const DeviceInfo& device, std::string_view physical) const {
    if (!can_name(device.plugin)) return false;
    switch (kind) {
        case Kind::automatic:
        case Kind::all:
        case Kind::plugin:
            return true;
        case Kind::device:
            return index == device.index;
        case Kind::id:
            return sdk::ascii::same_but_case(text, device.id) ||
                   (!physical.empty() && sdk::ascii::same_but_case(text, physical)) ||
                   answers_to(device, text);
        case Kind::name:
            return sdk::ascii::has_but_case(device.name, text);
    }
    return false;
}

const Property* SelectorEntry::broken(const DeviceInfo& device) const {
    const auto at = std::ranges::find_if(
        properties, [&](const Property& property) { return !property.fits(device.facts); });
    return at == properties.end() ? nullptr : &*at;
}

bool SelectorEntry::covers(const DeviceInfo& device, std::string_view physical) const {
    return names(device, physical) && broken(device) == nullptr;
}

bool SelectorEntry::can_name(std::string_view plugin_id) const noexcept {
    return plugin.empty() || plugin == plugin_id;
}

std::vector<SelectorEntry> Selector::wanted() const {
    std::vector<SelectorEntry> out;
    for (const SelectorEntry& entry : entries)
        if (!entry.discard) out.push_back(entry);
    if (out.empty()) out.emplace_back();
    return out;
}

bool Selector::discards(const DeviceInfo& device, std::string_view physical) const {
    return std::ranges::any_of(entries, [&](const SelectorEntry& entry) {
        return entry.discard && entry.covers(device, physical);
    });
}

bool Selector::discards_plugin(std::string_view plugin_id) const noexcept {
    return std::ranges::any_of(entries, [&](const SelectorEntry& entry) {
        return entry.discard && entry.kind == Kind::plugin && entry.properties.empty() &&
               entry.plugin == plugin_id;
    });
}

bool Selector::excludes_plugin(std::string_view plugin_id) const noexcept {
    if (discards_plugin(plugin_id)) return true;
    bool only_discards = true;
    for (const SelectorEntry& entry : entries) {
        if (entry.discard) continue;
        only_discards = false;
        if (entry.can_name(plugin_id)) return false;
    }
    return !only_discards;
}

bool Selector::has_ids() const noexcept {
    return std::ranges::any_of(entries,
                               [](const SelectorEntry& entry) { return entry.kind == Kind::id; });
}

Result<Selector> parse_selector(std::string_view text) {
    Selector selector;
    if (text.size() > kSelectorBytes)
        return Error(Code::LIMIT_EXCEEDED, fmt::format("the selector has {} bytes", text.size()),
                     fmt::format("Fix: use at most {}", kSelectorBytes));
    if (std::ranges::all_of(text, sdk::ascii::is_space)) {
        selector.entries.emplace_back();
        return selector;
    }
    std::size_t start = 0;
    while (true) {
        const std::size_t comma = find_outside(text, start, ",");
        Rest rest{text, start, comma};
        rest.trim();
        WYE_ASSIGN(SelectorEntry entry, parse_entry(rest));
        selector.entries.push_back(std::move(entry));
        if (comma == text.size()) return selector;
        start = comma + 1;
    }
}

std::string to_text(const SelectorEntry& entry) {
    std::string out = entry.discard ? "-" : "";
    const auto which = [&](std::string text) {
        return entry.plugin.empty() ? text : fmt::format("{}:{}", entry.plugin, text);
    };
    switch (entry.kind) {
        case Kind::automatic:
            out += "auto";
            break;
        case Kind::all:
            out += "*";
            break;
        case Kind::plugin:
            out += entry.plugin + (entry.star ? ":*" : "");
            break;
        case Kind::device:
            out += which(std::to_string(entry.index));
            break;
        case Kind::id:
            out += which("@" + entry.text);
            break;
        case Kind::name:
            out += which(in_quotes(entry.text));
            break;
    }
    for (std::size_t i = 0; i < entry.properties.size(); ++i)
        out += (i == 0 ? "[" : ",") + entry.properties[i].text;
    return entry.properties.empty() ? out : out + "]";
}

std::string devices_of_kind(std::string_view word) {
    constexpr std::pair<std::string_view, const char*> kKinds[] = {
        {"cpu", "kind=cpu"},
        {"gpu", "kind=gpu"},
        {"accelerator", "kind=accelerator"},
        {"igpu", "kind=gpu,unified_memory"},
        {"dgpu", "kind=gpu,!unified_memory"}};
    for (const auto& [name, properties] : kKinds)
        if (name == word) return fmt::format("*[{}]", properties);
    return {};
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
