// SPDX-License-Identifier: Apache-2.0
#include "conformance/language/lowered.hpp"

#include <stdexcept>

#include "lower/quirks/drivers.hpp"
#include "program/analysis/analysis.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin.hpp"

namespace harness {
namespace {

using wye::ir::Program;

std::vector<std::uint64_t> element_counts(const Program& program, const Launch& launch) {
    std::vector<std::uint64_t> out(program.buffers.size());
    std::size_t bound = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].shared()) continue;
        out[b] = launch.buffers.at(bound++).size() / program.buffers[b].type.bytes();
    }
    return out;
}

std::array<std::uint32_t, 3> grid(const Program& program, const Launch& launch) {
    if (launch.groups) return *launch.groups;
    std::array<std::uint32_t, 3> out{1, 1, 1};
    const auto counts = element_counts(program, launch);
    for (std::size_t axis = 0; axis < program.grid.axes.size(); ++axis) {
        const auto size =
            wye::ir::evaluate_size(program.grid.axes[axis], program, launch.params, counts, "grid");
        if (!size.ok()) throw std::runtime_error(size.error().text());
        const std::uint64_t wide =
            program.grid.kind == WYE_GRID_ELEMENTS
                ? (*size + program.workgroup[axis] - 1) / program.workgroup[axis]
                : *size;
        out[axis] = static_cast<std::uint32_t>(wide);
    }
    return out;
}

std::vector<std::byte> params_block(const Program& program, const Launch& launch) {
    const auto layout = wye::ir::param_layout(program.params);
    std::vector<std::byte> out(layout.size);
    for (std::size_t p = 0; p < program.params.size(); ++p)
        std::memcpy(out.data() + layout.offsets[p], &launch.params.at(p),
                    program.params[p].type.bytes());
    return out;
}

}  // namespace

wye::lower::TargetFacts target_facts(const Plugin& plugin) {
    wye::lower::TargetFacts facts;
    facts.native_f32_div = plugin.flag(WYE_FACT_KEY_NATIVE_F32_DIV);
    facts.native_f32_sqrt = plugin.flag(WYE_FACT_KEY_NATIVE_F32_SQRT);
    facts.native_f32_fma = plugin.flag(WYE_FACT_KEY_NATIVE_F32_FMA);
    facts.native_normal_f32_fma = plugin.flag(wye::sdk::facts::kNativeNormalF32Fma);
    facts.f32_to_f64_rate = plugin.fact(wye::sdk::facts::kF32ToF64Rate).u;
    facts.native_f64_div = plugin.flag(WYE_FACT_KEY_NATIVE_F64_DIV);
    facts.native_f64_sqrt = plugin.flag(WYE_FACT_KEY_NATIVE_F64_SQRT);
    facts.native_f64_fma = plugin.flag(WYE_FACT_KEY_NATIVE_F64_FMA);
    facts.native_f32_round = plugin.flag(WYE_FACT_KEY_NATIVE_F32_ROUND);
    facts.native_f64_round = plugin.flag(WYE_FACT_KEY_NATIVE_F64_ROUND);
    facts.workgroup_loops = plugin.flag(WYE_FACT_KEY_WORKGROUP_LOOPS);
    facts.f64 = plugin.flag(WYE_FACT_KEY_F64) && plugin.flag(WYE_FACT_KEY_IEEE_F64);
    facts.int64 = plugin.flag(WYE_FACT_KEY_INT64);
    facts.keeps_f32_denormals = plugin.flag(WYE_FACT_KEY_KEEPS_F32_DENORMALS);
    facts.f32_denorm_mode = plugin.flag(WYE_FACT_KEY_F32_DENORM_MODE);
    facts.f32_sign_nan_mode = plugin.flag(WYE_FACT_KEY_F32_SIGN_NAN_MODE);
    facts.f64_sign_nan_mode = plugin.flag(WYE_FACT_KEY_F64_SIGN_NAN_MODE);
    facts.f32_rte_mode = plugin.flag(WYE_FACT_KEY_F32_RTE_MODE);
    facts.f64_rte_mode = plugin.flag(WYE_FACT_KEY_F64_RTE_MODE);
    facts.native_f16_convert = plugin.flag(WYE_FACT_KEY_NATIVE_F16_CONVERT);
    facts.native_f32_atomic_add = plugin.flag(WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD);
    facts.native_f64_atomic_add = plugin.flag(WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD);
    facts.loop_rounds = plugin.fact(WYE_FACT_KEY_LOOP_ROUNDS).u;
    if (const std::uint64_t bytes = plugin.fact(WYE_FACT_KEY_MAX_PUSH_BYTES).u; bytes != 0)
        facts.max_push_bytes = bytes;
    const wye_fact sizes = plugin.fact(WYE_FACT_KEY_SUBGROUP_SIZES);
    for (std::uint64_t i = 0; i < sizes.list_size; ++i)
        facts.subgroup_sizes.push_back(static_cast<std::uint32_t>(sizes.list[i]));
    facts.quirks = wye::lower::quirks_of(
        {.platform = wye::sdk::from_abi(plugin.fact(WYE_FACT_KEY_PLATFORM).text),
         .driver = wye::sdk::from_abi(plugin.fact(WYE_FACT_KEY_DRIVER).text),
         .whole_workgroups = facts.workgroup_loops,
         .folds_literal_zero = plugin.flag(WYE_FACT_KEY_FOLDS_LITERAL_ZERO)});
    return facts;
}

Program valid_program(const std::string& text) {
    auto parsed = wye::ir::parse(text);
    auto diagnostics = parsed.diagnostics;
    if (parsed.ok()) diagnostics = wye::ir::validate(parsed.program);
    for (const auto& d : diagnostics)
        if (d.severity == wye::ir::Diagnostic::Severity::Error)
            throw std::runtime_error(wye::ir::render(d, "test", text));
    return std::move(parsed.program);
}

Outcome run_lowered(Plugin& plugin, Device& device, const Program& program, const Launch& launch) {
    wye::lower::Options options;
    options.folded_grid = launch.folded;
    wye::lower::TargetFacts facts = target_facts(plugin);
    const bool spirv = std::string_view(subject().format) == WYE_FORMAT_SPIRV;
    if (launch.f32_alone) facts.f64 = facts.int64 = false;
    if (launch.f32_alone && spirv) facts.native_f32_div = facts.native_f32_sqrt = false;
    const auto lowered = wye::lower::lower(program, subject().format, facts, options);
    if (!lowered.ok()) throw std::runtime_error(lowered.error().text());
    Outcome out;
    if (!spirv) out.source = std::string(lowered->text());
    const auto need = [&](bool ok, const char* what) {
        if (!ok)
            throw std::runtime_error(std::string(what) + ": " + device.failure.message + "\n" +
                                     out.source);
    };

    wye_artifact artifact = harness::artifact(lowered->text(), lowered->entry, lowered->slots,
                                              lowered->binding_count, 1, lowered->params_size);
    std::copy(lowered->workgroup.begin(), lowered->workgroup.end(), artifact.workgroup_size);
    artifact.subgroup_size = lowered->subgroup;
    artifact.options = {lowered->options.data(), lowered->options.size()};
    wye_program_object* kernel = device.program(artifact);
    need(kernel != nullptr, "build");

    const auto counts = element_counts(program, launch);
    std::vector<wye_buffer_object*> buffers;
    std::vector<wye_binding> bindings;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].shared()) continue;
        const auto& bytes = launch.buffers[buffers.size()];
        buffers.push_back(device.buffer(std::span(bytes)));
        bindings.push_back(wye::sdk::binding_of(buffers.back(), 0, bytes.size(), counts[b]));
    }
    wye_buffer_object* trap = device.buffer(8);
    need(device.run(fill(trap, 0, 8, 0, 4)) == WYE_OK, "clear the trap words");

    const auto groups = grid(program, launch);
    const auto params = params_block(program, launch);
    if (groups[0] != 0 && groups[1] != 0 && groups[2] != 0) {
        wye_operation op = dispatch(kernel, bindings, groups, params.data(), lowered->params_size);
        op.u.dispatch.trap = wye::sdk::binding_of(trap, 0, 8, 2);
        if (launch.folded) {
            const std::uint64_t total = std::uint64_t{groups[0]} * groups[1] * groups[2];
            op.u.dispatch.groups[0] = 3;
            op.u.dispatch.groups[1] = static_cast<std::uint32_t>((total + 2) / 3);
            op.u.dispatch.groups[2] = 1;
        }
        need(device.run(op) == WYE_OK, "dispatch");
    }
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        out.buffers.push_back(device.download(buffers[b], launch.buffers[b].size()));
        device.destroy(buffers[b]);
    }
    const auto record = values_of<std::uint32_t>(device.download(trap, 8));
    out.trap_code = record[0];
    out.trap_count = record[1];
    device.destroy(trap);
    return out;
}

}  // namespace harness
