// SPDX-License-Identifier: Apache-2.0
#include "route/choose_variant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "registry/selector.hpp"

namespace wye::route {
namespace {

// Whether a filter matches the device; an empty filter matches all.
Result<bool> covers(const ir::Variant& variant, const registry::DeviceInfo& device,
                    const std::string& program) {
    if (variant.filter.empty()) return true;
    const std::size_t bracket = variant.filter.find('[');
    const std::string_view head = std::string_view(variant.filter).substr(0, bracket);
    auto selector = registry::parse_selector(head);
    if (!selector.ok()) return std::move(selector).error();
    const bool named = std::ranges::any_of(selector->wanted(), [&](const auto& entry) {
        return entry.covers(device.plugin, device.index);
    });
    if (!named || selector->discards(device.plugin, device.index)) return false;
    if (bracket == std::string::npos) return true;
    return Error(
        Code::UNSUPPORTED,
        fmt::format("variant `{}` of program `{}` is for `{}`, but this version does not evaluate "
                    "properties of devices",
                    variant.entry, program, variant.filter),
        fmt::format("Fix: dispatch without variants, or write the filter as `{}`", head), program);
}

}  // namespace

Result<std::uint32_t> choose_variant(const registry::DeviceInfo& device,
                                     const ir::Program& program) {
    for (std::uint32_t i = 0; i < program.variants.size(); ++i) {
        const ir::Variant& variant = program.variants[i];
        if (std::ranges::find(device.formats, variant.format) == device.formats.end()) continue;
        WYE_ASSIGN(const bool covered, covers(variant, device, program.name));
        if (covered) return i;
    }
    return ir::kNone;
}

}  // namespace wye::route
