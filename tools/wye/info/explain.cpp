// SPDX-License-Identifier: Apache-2.0
#include "explained.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry/capability.hpp"

namespace wye::tool {
namespace {

using registry::FactInfo;
using registry::Facts;
using registry::FactValue;
using registry::Requirements;

// A fact of the document as the type of the header; nullopt: not reported, or of another type.
std::optional<FactValue> fact_of(const Report& value, std::uint32_t type) {
    const bool numbers = value.is_array() && std::ranges::all_of(value, [](const Report& one) {
                             return one.is_number_unsigned();
                         });
    switch (type) {
        case WYE_FACT_BOOL:
            if (value.is_boolean()) return value.get<bool>();
            break;
        case WYE_FACT_U64:
            if (value.is_number_unsigned()) return value.get<std::uint64_t>();
            break;
        case WYE_FACT_F64:
            if (value.is_number()) return value.get<double>();
            break;
        case WYE_FACT_TEXT:
            if (value.is_string()) return value.get<std::string>();
            break;
        case WYE_FACT_U64_LIST:
            if (numbers) return value.get<std::vector<std::uint64_t>>();
            break;
        case WYE_FACT_U32X3: {
            if (!numbers || value.size() != 3) break;
            std::array<std::uint32_t, 3> out{};
            for (std::size_t i = 0; i < 3; ++i)
                out[i] = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(value[i].get<std::uint64_t>(), UINT32_MAX));
            return out;
        }
        default:
            break;
    }
    return std::nullopt;
}

Facts facts_of(const Report& device) {
    Facts out;
    const Report& facts = fields(device, "facts");
    for (const FactInfo& info : registry::fact_infos())
        if (auto value = fact_of(member(facts, std::string(info.name).c_str()), info.type))
            out.set(info.key, {std::move(*value), {}});
    return out;
}

// The needs that `wye check --json` states.
Requirements needs_of(const Report& analysis) {
    Requirements out;
    for (const Report& need : items(analysis, "needs"))
        out.capabilities.push_back(text(need, "capability"));
    if (const auto size = fact_of(member(analysis, "workgroup"), WYE_FACT_U32X3))
        out.workgroup = std::get<std::array<std::uint32_t, 3>>(*size);
    const Report& sizes = fields(analysis, "sizes");
    out.shared_bytes = number(sizes, "shared_bytes").value_or(0);
    out.private_bytes = number(sizes, "local_array_bytes").value_or(0);
    out.param_bytes = number(sizes, "params_bytes").value_or(0);
    for (const Report& buffer : items(analysis, "buffers")) {
        if (text(buffer, "role") == "shared") continue;
        ++out.buffers;
        out.largest_buffer_bytes =
            std::max(out.largest_buffer_bytes, number(buffer, "bytes").value_or(0));
    }
    const Report& uses = fields(analysis, "uses");
    out.subgroups = flag(uses, "subgroup");
    out.subgroup = static_cast<std::uint32_t>(number(uses, "subgroup_size").value_or(0));
    return out;
}

bool takes_a_form(const Report& device) {
    constexpr std::string_view kForms[] = {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C,
                                           WYE_FORMAT_CUDA_C, WYE_FORMAT_SPIRV};
    return std::ranges::any_of(texts(device, "formats"), [&](const std::string& format) {
        return std::ranges::find(kForms, format) != std::end(kForms);
    });
}

std::string why(const Report& analysis, const std::string& capability) {
    for (const Report& need : items(analysis, "needs"))
        if (text(need, "capability") == capability && !text(need, "because").empty())
            return fmt::format(" ({})", text(need, "because"));
    return {};
}

std::vector<std::string> reasons_against(const Report& device, const Report& analysis,
                                         const registry::CapabilityCheck& result) {
    std::vector<std::string> out;
    if (!usable(device)) out.push_back(text(device, "reason"));
    if (!takes_a_form(device))
        out.emplace_back("takes no form of programs that this version makes");
    for (const registry::Unmet& unmet : result.unmet)
        out.push_back(registry::to_text(unmet) + why(analysis, unmet.name));
    return out;
}

}  // namespace

Explained explain_view(const Report& report, const Report& analysis, const Style& style) {
    const Requirements needs = needs_of(analysis);
    const Report& devices = items(report, "devices");
    const std::vector<std::string> order = texts(report, "order");  // as the selector prefers them
    const Report* picked = nullptr;
    auto best = order.end();
    std::vector<std::string> lines;
    std::size_t width = 8;
    for (const Report& device : devices)
        width = std::max(width, columns(clean(text(device, "selector"))));
    for (const Report& device : devices) {
        const registry::CapabilityCheck result = registry::check(needs, facts_of(device));
        const std::vector<std::string> against = reasons_against(device, analysis, result);
        const auto place = std::ranges::find(order, text(device, "selector"));
        if (against.empty() && (picked == nullptr || place < best)) {
            best = place;
            picked = &device;
        }
        std::string about = against.empty() ? "fits" : fmt::format("{}", fmt::join(against, "; "));
        if (against.empty() && !result.unverified.empty())
            about += fmt::format(", unless the driver's own limit is lower: {}",
                                 fmt::join(result.unverified, ", "));
        const std::string sign =
            against.empty() ? ink(style, Ink::good, "+ ") : ink(style, Ink::bad, "- ");
        lines.push_back(wrapped(
            style, sign + padded(ink(style, Ink::name, clean(text(device, "selector"))), width + 2),
            about));
    }
    Explained out;
    for (const std::string& line : lines) out.text += line;
    out.fits = picked != nullptr;
    out.text += picked == nullptr ? std::string("no device fits\n")
                                  : wrapped(style, "picked: ", text(*picked, "selector"));
    return out;
}

}  // namespace wye::tool
