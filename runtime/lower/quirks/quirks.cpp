// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/quirks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wye/abi.h"

namespace wye::lower {
namespace {

struct FormatBit {
    std::string_view name;
    std::uint32_t bit;
};
constexpr FormatBit kFormatBits[] = {{WYE_FORMAT_OPENCL_C, kFormatOpenClC},
                                     {WYE_FORMAT_CUDA_C, kFormatCudaC},
                                     {WYE_FORMAT_SPIRV, kFormatSpirv}};

template <typename Takes>
QuirkSet chosen(const Takes& takes) {
    QuirkSet out;
    for (const QuirkEntry& entry : quirk_entries())
        if (takes(entry)) out.set(entry.id);
    return out;
}

}  // namespace

QuirkSet QuirkSet::of_no_device() {
    static const QuirkSet set = chosen([](const QuirkEntry& entry) {
        return entry.found == QuirkEntry::Found::Driver && !entry.whole_workgroups &&
               !entry.own_text;
    });
    return set;
}

QuirkSet QuirkSet::of_unknown_driver(bool whole_workgroups) {
    return chosen([&](const QuirkEntry& entry) {
        return entry.cautious && (whole_workgroups || !entry.whole_workgroups);
    });
}

QuirkSet QuirkSet::for_format(std::string_view format) const {
    const auto found = std::ranges::find(kFormatBits, format, &FormatBit::name);
    const std::uint32_t bit = found == std::end(kFormatBits) ? 0 : found->bit;
    return chosen(
        [&](const QuirkEntry& entry) { return has(entry.id) && (entry.formats & bit) != 0; });
}

std::vector<std::string_view> QuirkSet::names() const {
    std::vector<std::string_view> out;
    for (const QuirkEntry& entry : quirk_entries())
        if (has(entry.id)) out.push_back(entry.name);
    return out;
}

std::string format_names(const QuirkEntry& entry) {
    std::string out;
    for (const FormatBit& format : kFormatBits)
        if ((entry.formats & format.bit) != 0)
            out += fmt::format("{}{}", out.empty() ? "" : ", ", format.name);
    return out;
}

Result<QuirkSet> parse_quirks(std::string_view names) {
    QuirkSet out;
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        const std::string_view name = names.substr(0, comma);
        names.remove_prefix(std::min(comma + 1, names.size()));
        const auto found = std::ranges::find(quirk_entries(), name, &QuirkEntry::name);
        if (name == "all") {
            out = QuirkSet::all();
        } else if (found != quirk_entries().end()) {
            out.set(found->id);
        } else {
            std::string known;
            for (const std::string_view each : QuirkSet::all().names())
                known += fmt::format(", `{}`", each);
            return Error(Code::INVALID_ARGUMENT, fmt::format("there is no quirk named `{}`", name),
                         fmt::format("Fix: use `all`{}", known), std::string(name));
        }
    }
    return out;
}

}  // namespace wye::lower
