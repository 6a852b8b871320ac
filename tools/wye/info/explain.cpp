// SPDX-License-Identifier: Apache-2.0
#include "explained.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry/choose/capability.hpp"
#include "route/choose_variant.hpp"
#include "saved_facts.hpp"

namespace wye::tool {
namespace {

using registry::Requirements;

// Converts the needs that `wye check --json` prints.
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

// Makes a program with only the members that the choice of a variant reads.
ir::Program variants_of(const Report& analysis) {
    ir::Program out;
    out.name = text(analysis, "name");
    for (const Report& one : items(analysis, "variants")) {
        ir::Variant& variant = out.variants.emplace_back();
        variant.format = text(one, "format");
        variant.entry = text(one, "entry");
        variant.filter = text(one, "filter");
    }
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

// Why a device cannot run the program. `runs_variant`: a variant of the program would run on the
// device.
std::vector<std::string> reasons_against(const Report& device, const Report& analysis,
                                         const registry::CapabilityCheck& result,
                                         bool runs_variant) {
    std::vector<std::string> out;
    if (!usable(device)) out.push_back(text(device, "reason"));
    if (const std::vector<std::string> taken = texts(device, "formats");
        !takes_a_form(device) && !runs_variant)
        out.push_back(
            taken.empty()
                ? std::string("takes no form of programs that this version makes")
                : fmt::format("runs native variants only (it takes {})", fmt::join(taken, ", ")));
    for (const registry::Unmet& unmet : result.unmet)
        out.push_back(registry::to_text(unmet) + why(analysis, unmet.name));
    return out;
}

std::string variant_name(const ir::Program& program, std::size_t index) {
    const ir::Variant& variant = program.variants[index];
    return fmt::format("variant {}, `{}` ({})", index, clean(variant.entry), clean(variant.format));
}

// Names the variant or body that a dispatch with --variants runs, then states why earlier variants
// do not run. `has_body`: the device takes a format to which the body can be lowered.
std::vector<std::string> lines_of(const ir::Program& program,
                                  const Result<route::VariantChoice>& choice, bool has_body) {
    if (!choice.ok())
        return {fmt::format("a dispatch that allows variants fails: {}", choice.error().message)};
    std::vector<std::string> out;
    if (choice->chosen != ir::kNone)
        out.push_back(
            fmt::format("with --variants: {} runs", variant_name(program, choice->chosen)));
    else
        out.push_back(std::string("with --variants: no variant matches") +
                      (has_body ? ", the portable body runs" : ""));
    for (std::size_t i = 0; i < choice->passed.size(); ++i)
        out.push_back(
            fmt::format("not {}: {}", variant_name(program, i), clean(choice->passed[i])));
    return out;
}

}  // namespace

Explained explain_view(const Report& report, const Report& analysis, const Style& style) {
    const Requirements needs = needs_of(analysis);
    const ir::Program program = variants_of(analysis);
    const Report& devices = items(report, "devices");
    // The devices in the selector's order of preference.
    const std::vector<std::string> order = texts(report, "order");
    const Report* picked = nullptr;
    auto best = order.end();
    std::vector<std::string> lines;
    std::size_t width = 8;
    for (const Report& device : devices)
        width = std::max(width, columns(clean(text(device, "selector"))));
    for (const Report& device : devices) {
        const registry::CapabilityCheck result = registry::check(needs, facts_of(device));
        const auto choice = route::explain_variants(device_of(device), program);
        const bool runs_variant = choice.ok() && choice->chosen != ir::kNone;
        const std::vector<std::string> against =
            reasons_against(device, analysis, result, runs_variant);
        const auto place = std::ranges::find(order, text(device, "selector"));
        if (against.empty() && (picked == nullptr || place < best)) {
            best = place;
            picked = &device;
        }
        std::string about = fmt::format("{}", fmt::join(against, "; "));
        if (against.empty())
            about = takes_a_form(device) ? "fits" : "fits only if variants are allowed";
        if (against.empty() && !result.unverified.empty())
            about += fmt::format(", unless the driver's own limit is lower: {}",
                                 fmt::join(result.unverified, ", "));
        const std::string sign =
            against.empty() ? ink(style, Ink::good, "+ ") : ink(style, Ink::bad, "- ");
        lines.push_back(wrapped(
            style, sign + padded(ink(style, Ink::name, clean(text(device, "selector"))), width + 2),
            about));
        if (!usable(device) || program.variants.empty()) continue;
        for (const std::string& line : lines_of(program, choice, takes_a_form(device)))
            lines.push_back(wrapped(style, std::string(width + 4, ' '), line));
    }
    Explained out;
    for (const std::string& line : lines) out.text += line;
    out.fits = picked != nullptr;
    out.text += picked == nullptr ? std::string("no device fits\n")
                                  : wrapped(style, "picked: ", text(*picked, "selector"));
    return out;
}

}  // namespace wye::tool
