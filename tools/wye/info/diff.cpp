// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

// The name that identifies an item in its list. Both machines may have an item of that name.
std::string name_of(const Report& item) {
    if (std::string selector = text(item, "selector"); !selector.empty()) return selector;
    std::string out = text(item, "id");
    if (out.empty()) out = text(item, "name");
    if (out.empty()) out = text(item, "plugin");
    // Several files may have the same plugin id.
    const std::string state = text(item, "state");
    if (state == "shadowed" || state == "refused") out += " " + text(item, "path");
    if (out.empty() || !text(item, "stage").empty()) out += " " + text(item, "message");
    return out;
}

// A value as text; a record is shown by its sentence.
std::string shown(const Report& value) {
    const std::string message = text(value, "message");
    return message.empty() ? value_text(value) : message;
}

// Whether a member may differ between two reports of one unchanged machine: times, free memory, and
// how and when a plugin was probed.
bool changes_anyway(std::string_view key) {
    return key == "taken_at" || key == "free_memory_bytes" || key == "free_memory_age_ms" ||
           key == "probe" || key == "probe_state";
}

class Diff {
  public:
    explicit Diff(const Style& style) : style_(style) {}

    void compare(const std::string& path, const Report& before, const Report& after) {
        // A value that was redacted in one of the reports may be equal in both.
        if (before == after || before == kRedacted || after == kRedacted) return;
        if (before.is_object() && after.is_object()) return compare_objects(path, before, after);
        const auto named = [](const Report& list) {
            return list.is_array() && !list.empty() && list.front().is_object();
        };
        const bool lists = before.is_array() && after.is_array();
        if (lists && (named(before) || named(after))) return compare_lists(path, before, after);
        put(path, shown(before), shown(after));
    }

    [[nodiscard]] std::string take() { return std::move(out_); }

  private:
    void put(const std::string& path, const std::string& before, const std::string& after) {
        const std::string line = fmt::format("{}: {} -> {}", path, before, after);
        out_ += wrapped(style_, "~ ", line);
    }
    void put_whole(const char* sign, Ink colour, const std::string& path, const Report& item) {
        std::string what = text(item, "name");
        if (what.empty() || text(item, "selector").empty()) what = text(item, "state");
        if (!item.is_object()) what = value_text(item);
        out_ += wrapped(style_, ink(style_, colour, sign) + " ",
                        what.empty() ? path : fmt::format("{}: {}", path, what));
    }

    void compare_objects(const std::string& path, const Report& before, const Report& after) {
        const auto inside = [&](const std::string& key) {
            return path.empty() ? key : path + "." + key;
        };
        for (const auto& [key, value] : before.items()) {
            if (changes_anyway(key)) continue;
            const auto other = after.find(key);
            if (other != after.end()) {
                compare(inside(key), value, *other);
            } else if (!value.is_null()) {
                put_whole("-", Ink::bad, inside(key), value);
            }
        }
        for (const auto& [key, value] : after.items())
            if (!before.contains(key) && !value.is_null() && !changes_anyway(key))
                put_whole("+", Ink::good, inside(key), value);
    }

    // Items of equal names are compared in their order.
    void compare_lists(const std::string& path, const Report& before, const Report& after) {
        std::multimap<std::string, const Report*> others;
        for (const Report& item : after) others.emplace(name_of(item), &item);
        for (const Report& item : before) {
            const std::string name = name_of(item);
            const std::string inside = path + " " + name;
            const auto other = others.lower_bound(name);
            if (other == others.end() || other->first != name) {
                put_whole("-", Ink::bad, inside, item);
                continue;
            }
            compare(inside, item, *other->second);
            others.erase(other);
        }
        for (const auto& [name, item] : others) put_whole("+", Ink::good, path + " " + name, *item);
    }

    const Style& style_;
    std::string out_;
};

}  // namespace

std::string diff_view(const Report& before, const Report& after, const Style& style) {
    Diff diff(style);
    diff.compare("", before, after);
    return diff.take();
}

}  // namespace wye::tool
