// SPDX-License-Identifier: Apache-2.0
#include "route/choose_variant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "registry/choose/property.hpp"
#include "registry/choose/selector.hpp"

namespace wye::route {
namespace {

bool takes(const registry::DeviceInfo& device, const ir::Variant& variant) {
    return std::ranges::find(device.formats, variant.format) != device.formats.end();
}

Result<registry::Selector> filter_of(const ir::Variant& variant, const std::string& program) {
    auto selector = registry::parse_selector(variant.filter);
    if (selector.ok()) return selector;
    return std::move(selector).error().wrapped(
        Code::INVALID_ARGUMENT,
        fmt::format("variant `{}` of program `{}` has a device filter that is no selector",
                    variant.entry, program),
        "Fix: correct the filter, or dispatch without variants", program);
}

// Whether a filter matches the device; an empty filter matches all.
Result<bool> covers(const ir::Variant& variant, const registry::DeviceInfo& device,
                    const std::string& program) {
    if (variant.filter.empty()) return true;
    WYE_ASSIGN(const registry::Selector selector, filter_of(variant, program));
    return !selector.discards(device) &&
           std::ranges::any_of(selector.wanted(),
                               [&](const auto& entry) { return entry.covers(device); });
}

// Why a variant that does not fit the device was passed over.
Result<std::string> reason(const ir::Variant& variant, const registry::DeviceInfo& device,
                           const std::string& program) {
    if (!takes(device, variant))
        return fmt::format(
            "its format is not among those of the device ({})",
            device.formats.empty() ? "none" : fmt::format("{}", fmt::join(device.formats, ", ")));
    WYE_ASSIGN(const registry::Selector selector, filter_of(variant, program));
    for (const registry::SelectorEntry& entry : selector.entries) {
        const registry::Property* const broken = entry.broken(device);
        if (!entry.discard && entry.names(device) && broken != nullptr)
            return fmt::format("its filter `{}` {}", variant.filter,
                               registry::why_not(*broken, device.facts));
    }
    return fmt::format("its filter `{}` leaves the device out", variant.filter);
}

}  // namespace

Result<std::uint32_t> choose_variant(const registry::DeviceInfo& device,
                                     const ir::Program& program) {
    for (std::uint32_t i = 0; i < program.variants.size(); ++i) {
        if (!takes(device, program.variants[i])) continue;
        WYE_ASSIGN(const bool covered, covers(program.variants[i], device, program.name));
        if (covered) return i;
    }
    return ir::kNone;
}

Result<VariantChoice> explain_variants(const registry::DeviceInfo& device,
                                       const ir::Program& program) {
    VariantChoice out;
    WYE_ASSIGN(out.chosen, choose_variant(device, program));
    const std::size_t end = std::min<std::size_t>(out.chosen, program.variants.size());
    for (std::size_t i = 0; i < end; ++i) {
        WYE_ASSIGN(std::string why, reason(program.variants[i], device, program.name));
        out.passed.push_back(std::move(why));
    }
    return out;
}

}  // namespace wye::route
