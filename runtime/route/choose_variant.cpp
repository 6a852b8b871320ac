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
    auto selector = registry::parse_selector(variant.filter);
    if (!selector.ok())
        return std::move(selector).error().wrapped(
            Code::INVALID_ARGUMENT,
            fmt::format("variant `{}` of program `{}` has a device filter that is no selector",
                        variant.entry, program),
            "Fix: correct the filter, or dispatch without variants", program);
    return !selector->discards(device) &&
           std::ranges::any_of(selector->wanted(),
                               [&](const auto& entry) { return entry.covers(device); });
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
