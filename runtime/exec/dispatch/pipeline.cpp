// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/dispatch/choose.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

constexpr std::uint32_t kOptionFlags = WYE_DISPATCH_VARIANTS | WYE_DISPATCH_COOPERATIVE;

std::string id_of(const DeviceSession& session, const LoadedProgram& program) {
    return fmt::format("{}:{}", session.info().plugin,
                       sdk::from_abi(program.description().fingerprint));
}

wye_pipeline_desc without_strings(wye_pipeline_desc desc) {
    desc.header = {};
    desc.profile = {};
    desc.layout_fingerprint = desc.backend_layout_fingerprint = {};
    return desc;
}

// `expected`: the caller's fingerprint; empty: any.
Result<void> check_layout(std::string_view member, wye_string expected, std::string_view found,
                          const LoadedProgram& program) {
    const std::string_view wanted = sdk::from_abi(expected);
    if (wanted.empty() || wanted == found) return {};
    constexpr std::size_t kShown = 32;
    return Error(
        Code::INVALID_ARGUMENT,
        fmt::format("the {} of program `{}` is {}, but the caller expects `{}`", member,
                    program.name(), found.empty() ? "not known ahead of a launch" : found,
                    wanted.substr(0, kShown)),
        "Fix: pass the program that the caller was built for, or leave the member empty and bind "
        "by the program's description",
        std::string(member));
}

}  // namespace

Pipeline::Pipeline(std::shared_ptr<LoadedProgram> program, DeviceSession& session,
                   const Routed& routed, const wye_pipeline_desc& desc)
    : program_(std::move(program)),
      session_(session),
      routed_(routed),
      options_(without_strings(desc)),
      id_(id_of(session_, *program_)),
      profile_(sdk::from_abi(desc.profile)) {}

Result<std::shared_ptr<Pipeline>> Pipeline::create(Context& context, const wye_pipeline_desc& desc,
                                                   registry::Pin& device) {
    std::optional<Clock::time_point> deadline;
    if (desc.timeout_ns != 0) deadline = after(now(), desc.timeout_ns);
    WYE_ASSIGN(Begun begun, begin(context, desc, device));
    CompileStats stats;
    WYE_TRY(begun.pipeline->compile(context, begun, stats, deadline));
    return std::move(begun.pipeline);
}

Result<Pipeline::Begun> Pipeline::begin(Context& context, const wye_pipeline_desc& desc,
                                        registry::Pin& device) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const registry::Pin program, handles.find(desc.program, HandleKind::program));
    Chosen chosen{{desc.device, WYE_ROUTED_NAMED, 0}, {}};
    if (desc.device != 0) {
        WYE_ASSIGN(chosen.device, handles.find(desc.device, HandleKind::device));
    }
    if ((desc.flags & ~kOptionFlags) != 0 || desc.reserved != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`flags` of wye_pipeline_desc is {:#x}, and `reserved` is {}", desc.flags,
                        desc.reserved),
            "Fix: use WYE_DISPATCH_VARIANTS and WYE_DISPATCH_COOPERATIVE only; the other flags are "
            "those of each dispatch",
            "wye_pipeline_desc");
    WYE_TRY(
        check_layout("layout_fingerprint", desc.layout_fingerprint,
                     sdk::from_abi(program.as<LoadedProgram>().description().layout_fingerprint),
                     program.as<LoadedProgram>()));
    Begun out;
    out.layout = sdk::from_abi(desc.backend_layout_fingerprint);
    CompileOptions& options = out.options;
    std::copy_n(desc.workgroup, 3, options.workgroup.begin());
    options.ulp_budget = desc.ulp_budget;
    options.profile = profile_id(desc.profile);
    options.demands = {(desc.flags & WYE_DISPATCH_COOPERATIVE) != 0,
                       (desc.flags & WYE_DISPATCH_VARIANTS) != 0};
    if (desc.device == 0) {
        WYE_ASSIGN(chosen, choose(context, desc.program, program.as<LoadedProgram>(),
                                  options.workgroup, options.demands));
    }
    device = std::move(chosen.device);
    out.pipeline = std::make_shared<Pipeline>(program.as<LoadedProgram>().shared_from_this(),
                                              device.as<DeviceSession>(), chosen.routed, desc);
    return out;
}

Result<void> Pipeline::compile(const Context& context, const Begun& begun, CompileStats& stats,
                               std::optional<Clock::time_point> deadline) {
    WYE_ASSIGN(const std::vector<CompiledRef> forms,
               compile_ahead(context, program(), session_, begun.options, stats, deadline));
    looked_up(forms.size(), stats);
    may_trap_ = forms.empty() ||
                std::ranges::any_of(forms, [](const CompiledRef& form) { return form->uses_trap; });
    if (!forms.empty()) WYE_TRY(set_form(*forms.front()));
    return check_layout("backend_layout_fingerprint", sdk::to_abi(begun.layout), layout_,
                        program());
}

Result<void> Pipeline::set_form(const CompiledProgram& form) {
    layout_ = plan::hex(plan::layout_fingerprint(form.layout));
    for (const plan::LayoutSlot& slot : form.layout)
        slots_.push_back({slot.group, slot.binding, static_cast<std::uint32_t>(slot.kind),
                          slot.read_only ? 1U : 0U, slot.element_size, 0});
    auto said = form.native.info();
    if (!said.ok()) return session_.noted(std::move(said).error());
    driver_says_ = *said;
    return {};
}

wye_dispatch_desc Pipeline::complete(const wye_dispatch_desc& request) const {
    wye_dispatch_desc out = request;
    out.device = routed_.device;
    out.flags |= options_.flags;
    std::ranges::copy(options_.workgroup, out.workgroup);
    out.ulp_budget = options_.ulp_budget;
    if (out.profile.size == 0) out.profile = sdk::to_abi(profile_);
    return out;
}

void Pipeline::looked_up(std::uint64_t forms, const CompileStats& stats) noexcept {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    const std::uint64_t made = std::uint64_t{stats.compiled} + stats.loaded;
    memory_hits_.fetch_add(forms - std::min(forms, made), kRelaxed);
    memory_misses_.fetch_add(made, kRelaxed);
    disk_hits_.fetch_add(stats.loaded, kRelaxed);
    disk_misses_.fetch_add(stats.missed, kRelaxed);
}

void Pipeline::describe(wye_pipeline_description& out) const {
    const wye_program_description& program = this->program().description();
    out.id = sdk::to_abi(id_);
    out.program = &program;
    routed_.write(out);
    const plan::BindingPlan& bindings = this->program().plan().bindings;
    out.bindings = static_cast<std::uint32_t>(bindings.arguments.size());
    out.outputs = 0;
    for (std::uint64_t i = 0; i < program.buffer_count; ++i)
        out.outputs += program.buffers[i].in_outputs;
    out.launches = launches_.load();
    out.memory_hits = memory_hits_.load();
    out.memory_misses = memory_misses_.load();
    out.disk_hits = disk_hits_.load();
    out.disk_misses = disk_misses_.load();
    out.backend_layout_fingerprint = sdk::to_abi(layout_);
    out.layout_slots = slots_.data();
    out.layout_slot_count = slots_.size();
    out.private_bytes = driver_says_.private_bytes;
    out.shared_bytes = driver_says_.shared_bytes;
    out.max_invocations = driver_says_.max_invocations;
    out.registers = driver_says_.registers;
    out.resident_groups = driver_says_.resident_groups;
    out.reserved = 0;
}

}  // namespace wye::exec
