// SPDX-License-Identifier: Apache-2.0
#include "exec/program/forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

// What a plugin's compiler makes of a form that the host lowers to.
struct Translated {
    std::string_view form, plugin, from;
    std::string_view target_option;  // before the target
};
constexpr Translated kTranslated[] = {
    {WYE_FORMAT_PTX, "cuda", WYE_FORMAT_CUDA_C, " --gpu-architecture="},
    {WYE_FORMAT_CUBIN, "cuda", WYE_FORMAT_CUDA_C, " --gpu-architecture="},
};

constexpr std::string_view kUnchecked[] = {"text", "wire", "preconditions", WYE_FORMAT_PROGRAM};

std::string to_text(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error no_form(std::string_view form) {
    std::string known = "text, wire, preconditions";
    for (const std::string_view name : lower::formats()) known += fmt::format(", {}", name);
    for (const Translated& t : kTranslated) known += fmt::format(", {}", t.form);
    return {Code::UNSUPPORTED, fmt::format("there is no program form named `{}`", form),
            "Fix: use one of " + known, std::string(form)};
}

Result<std::string> form_here(Context& context, const LoadedProgram& program, std::string_view form,
                              registry::Handle device, std::uint32_t ulp_budget, bool check_free) {
    lower::TargetFacts facts;
    std::string plugin;
    std::uint32_t index = UINT32_MAX;  // of no device
    std::string target;
    if (device != 0) {
        WYE_ASSIGN(const registry::Pin pin, context.handles().find(device, HandleKind::device));
        const registry::DeviceInfo& info = pin.as<DeviceSession>().info();
        facts = target_facts(info.facts);
        plugin = info.plugin;
        index = info.index;
        target = device_lines(info);
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
    const auto translated =
        std::ranges::find(kTranslated, form.substr(0, colon), &Translated::form);
    const bool by_plugin = translated != std::end(kTranslated);
    if (!by_plugin && std::ranges::count(lower::formats(), form) == 0) return no_form(form);
    options.ulp_budget = ulp_budget;
    WYE_ASSIGN(lower::Artifact artifact,
               lower::lower(program.ir(), by_plugin ? translated->from : form, facts, options));
    if (!by_plugin) return to_text(artifact.code);
    if (colon + 1 < form.size()) {
        artifact.options += translated->target_option;
        artifact.options += form.substr(colon + 1);
    }
    const bool own = plugin == translated->plugin;
    WYE_ASSIGN(const std::vector<std::byte> code,
               context.translate(translated->plugin, own ? index : UINT32_MAX, own ? target : "",
                                 abi_artifact(artifact, program.ir().name), translated->form));
    return to_text(code);
}

}  // namespace

Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                 std::string_view form, registry::Handle device,
                                 std::uint32_t ulp_budget, bool check_free) {
    // A plugin's compiler may be in it.
    constexpr std::size_t kFormRoom = std::size_t{12} << 20U;
    const bool by_plugin = std::ranges::count(lower::formats(), form) == 0;
    return sdk::with_room(
        [&] { return form_here(context, program, form, device, ulp_budget, check_free); },
        by_plugin ? kFormRoom * sdk::kFrameFactor : sdk::kRoom);
}

}  // namespace wye::exec
