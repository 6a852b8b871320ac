// SPDX-License-Identifier: Apache-2.0
#include "exec/forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

using Translator = registry::Registry::Translator;

constexpr std::string_view kUnchecked[] = {"text", "wire", "preconditions", WYE_FORMAT_PROGRAM};

std::string to_text(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error no_form(std::string_view form, const std::vector<Translator>& translators) {
    const std::vector<std::string_view> compiled = lower::compiled_formats();
    if (std::ranges::count(compiled, form.substr(0, form.find(':'))) != 0)
        return {Code::NOT_FOUND, fmt::format("no installed plugin makes `{}`", form),
                "Fix: install one whose manifest lists it under `translates`, or set "
                "WYE_PLUGIN_PATH_ADD",
                std::string(form)};
    std::vector<std::string_view> known = {"text", "wire", "preconditions"};
    for (const std::string_view name : lower::formats()) known.push_back(name);
    known.insert(known.end(), compiled.begin(), compiled.end());
    for (const Translator& t : translators)
        if (std::ranges::count(known, t.translation.format) == 0)
            known.push_back(t.translation.format);
    return {Code::UNSUPPORTED, fmt::format("there is no program form named `{}`", form),
            fmt::format("Fix: use one of {}", fmt::join(known, ", ")), std::string(form)};
}

Result<std::string> form_here(Context& context, const LoadedProgram& program, std::string_view form,
                              registry::Handle device, std::uint32_t ulp_budget, bool check_free) {
    lower::TargetFacts facts;
    facts.quirks = context.quirks().of(facts.quirks);
    std::string plugin;
    std::uint32_t index = UINT32_MAX;  // UINT32_MAX: no device
    std::string target;
    if (device != 0) {
        WYE_ASSIGN(const registry::Pin pin, context.handles().find(device, HandleKind::device));
        const registry::DeviceInfo& info = pin.as<DeviceSession>().info();
        facts = target_facts(info.facts, context.quirks());
        plugin = info.plugin;
        index = info.index;
        target = device_lines(info, facts);
    }
    if (check_free && std::ranges::count(kUnchecked, form) != 0)
        return Error(Code::UNSUPPORTED,
                     fmt::format("the form `{}` of a program has no range checks", form),
                     "Fix: leave check-free out, or use a form that a device's compiler reads",
                     std::string(form));
    if (form == "text") return ir::print(program.ir());
    if (form == "wire") {
        WYE_ASSIGN(const std::vector<std::byte> wire, ir::encode(program.ir()));
        return to_text(wire);
    }
    if (form == "preconditions")
        return lower::preconditions(program.ir(), program.ir().workgroup).text(program.ir());
    lower::Options options;
    options.check_free = check_free;
    const std::size_t colon = std::min(form.find(':'), form.size());
    const std::vector<Translator> translators = context.translators();
    const auto translator = std::ranges::find_if(translators, [&](const Translator& t) {
        return t.translation.format == form.substr(0, colon);
    });
    const bool by_plugin = translator != translators.end();
    if (!by_plugin && std::ranges::count(lower::formats(), form) == 0)
        return no_form(form, translators);
    const std::string_view lowered = by_plugin ? translator->translation.from : form;
    options.ulp_budget = ulp_budget;
    WYE_ASSIGN(lower::Artifact artifact, lower::lower(program.ir(), lowered, facts, options));
    if (!by_plugin) return to_text(artifact.code);
    if (colon + 1 < form.size()) {
        artifact.options +=
            fmt::format(" {}{}", translator->translation.target_option, form.substr(colon + 1));
    }
    const bool own = plugin == translator->plugin;
    WYE_ASSIGN(
        const std::vector<std::byte> code,
        context.translate(translator->plugin, own ? index : UINT32_MAX, own ? target : "",
                          abi_artifact(artifact, program.name()), translator->translation.format));
    return to_text(code);
}

}  // namespace

Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                 std::string_view form, registry::Handle device,
                                 std::uint32_t ulp_budget, bool check_free) {
    // Forms made by a plugin's compiler need more stack.
    constexpr std::size_t kFormRoom = std::size_t{12} << 20U;
    const bool by_plugin = std::ranges::count(lower::formats(), form) == 0;
    return sdk::with_room(
        [&] { return form_here(context, program, form, device, ulp_budget, check_free); },
        by_plugin ? kFormRoom * sdk::kFrameFactor : sdk::kRoom);
}

}  // namespace wye::exec
