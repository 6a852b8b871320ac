// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "../info/text.hpp"

namespace wye::tool::conform {
namespace {

constexpr std::size_t kMostFailures = 10;  // printed for a group
constexpr std::size_t kNameWidth = 14;
constexpr std::size_t kCountWidth = 42;

std::string counts_of(const Group& group) {
    std::string out = fmt::format("{} passed", group.count(Outcome::passed));
    if (const std::size_t failed = group.count(Outcome::failed); failed != 0)
        out += fmt::format(", {} failed", failed);
    if (const std::size_t apart = group.count(Outcome::not_applicable); apart != 0)
        out += fmt::format(", {} do not apply", apart);
    return out;
}

// Indents each line of a text that is printed below a failure.
std::string indented(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += fmt::format("      {}\n", clean(text.substr(0, end)));
        text = text.substr(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace

std::string heading_of(const Verdict& verdict) {
    if (!verdict.abi) return fmt::format("{}\n", clean(verdict.path));
    return fmt::format("{}: plugin `{}` {} of {}, ABI {}.{}{}\n", clean(verdict.path),
                       clean(verdict.id), clean(verdict.version), clean(verdict.vendor),
                       verdict.abi->major, verdict.abi->minor,
                       verdict.abi->draft == 0 ? "" : fmt::format(" draft {}", verdict.abi->draft));
}

std::string device_line(const Verdict& verdict) {
    std::string out;
    if (verdict.device)
        out = fmt::format("device {}:{}, {}, which takes {}\n", clean(verdict.id),
                          verdict.device->index, clean(verdict.device->name),
                          clean(fmt::format("{}", fmt::join(verdict.device->formats, ", "))));
    for (const Device& other : verdict.devices) {
        if (verdict.device && verdict.device->index == other.index) continue;
        if (other.usable)
            out += fmt::format("not tried: {}:{}, {} (--device {})\n", clean(verdict.id),
                               other.index, clean(other.name), other.index);
        else
            out += fmt::format("not usable: {}:{}, {}: {}\n", clean(verdict.id), other.index,
                               clean(other.name), clean(other.reason));
    }
    return out;
}

std::string lines_of(const Group& group) {
    std::string out;
    if (!group.cases.empty())
        out += fmt::format("  {}{}{:8.1f} s\n", padded(group.name, kNameWidth),
                           padded(counts_of(group), kCountWidth), group.seconds);
    std::size_t failures = 0;
    std::set<std::string> explained;
    for (const Case& one : group.cases) {
        for (const std::string& note : one.notes) out += fmt::format("    note: {}\n", clean(note));
        if (one.result != Outcome::failed || ++failures > kMostFailures) continue;
        out +=
            fmt::format("    FAILED {}{}\n", clean(one.name),
                        one.rules.empty() ? "" : fmt::format(" ({})", fmt::join(one.rules, ", ")));
        for (const std::string& message : one.messages) out += indented(message);
        if (!one.consequence_of.empty()) {
            out += indented("probably a consequence of " + one.consequence_of);
            continue;
        }
        // Each rule is explained once.
        for (const std::string& rule : one.rules)
            if (explained.insert(rule).second) out += indented(remedy_of({rule}));
    }
    if (failures > kMostFailures)
        out +=
            fmt::format("    and {} more failures, which --json lists\n", failures - kMostFailures);
    if (!group.partly.empty())
        out += fmt::format("  {}in part: {}\n", padded(group.name, kNameWidth), group.partly);
    // A group without a case that ran is not listed here: the verdict's last sentence names it.
    if (!group.not_tried.empty() && !group.cases.empty())
        out += fmt::format("  {}not tried: {}\n", padded(group.name, kNameWidth),
                           clean(group.not_tried));
    return out;
}

}  // namespace wye::tool::conform
