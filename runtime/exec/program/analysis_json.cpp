// SPDX-License-Identifier: Apache-2.0
#include "exec/program/analysis_json.hpp"
#include "plan/binding.hpp"
#include "program/check/warnings.hpp"
#include "registry/json.hpp"

namespace wye::exec {
namespace {

using registry::Json;

Json place_json(ir::Place place) {
    if (place.line == 0) return nullptr;
    return {{"line", place.line}, {"column", place.column}};
}

Json buffer_json(const plan::Binding& binding, const ir::Buffer& buffer) {
    static constexpr const char* kKinds[] = {"run-time", "literal", "computed"};
    Json out = {{"name", buffer.name},
                {"binding", binding.binding},
                {"role", ir::role_name(buffer.role)},
                {"type", ir::type_name(buffer.type)},
                {"element_bytes", binding.element_size},
                {"alignment", binding.preferred_alignment},
                {"count_kind", kKinds[static_cast<std::size_t>(buffer.count_kind)]}};
    out["bytes"] = binding.static_bytes ? Json(*binding.static_bytes) : Json(nullptr);
    const ir::Hints& hints = binding.hints;
    out["hints"] = {
        {"coalesce", hints.coalesce != 0 ? Json(hints.coalesce_axis()) : Json(nullptr)},
        {"preferred_alignment", hints.prefer_align != 0 ? Json(hints.prefer_align) : Json(nullptr)},
        {"locality", ir::locality_name(hints.locality)}};
    out["read_back"] = buffer.bytes ? Json(*buffer.bytes) : Json(nullptr);
    out["input_index"] = binding.input_index ? Json(*binding.input_index) : Json(nullptr);
    out["output_index"] = binding.output_index ? Json(*binding.output_index) : Json(nullptr);
    return out;
}

}  // namespace

std::string analysis_json(const LoadedProgram& program) {
    const ir::Program& source = program.ir();
    const plan::ProgramPlan& plan = program.plan();
    Json out = {{"schema_version", 1},
                {"name", source.name},
                {"fingerprint", program.fingerprint().hex()},
                {"layout_fingerprint", plan::hex(plan::layout_fingerprint(plan.bindings))},
                {"deterministic", plan.analysis.deterministic()}};
    out["deterministic_if"] =
        plan.analysis.deterministic_if() ? Json(plan.analysis.condition) : Json(nullptr);
    out["doubts"] = Json::array();
    for (const auto* doubts : {&plan.analysis.doubts, &plan.analysis.own_grid})
        for (const ir::Doubt& doubt : *doubts)
            out["doubts"].push_back({{"reason", doubt.reason},
                                     {"what", doubt.what},
                                     {"place", place_json(doubt.place)},
                                     {"other", place_json(doubt.other)}});
    out["needs"] = Json::array();
    for (const ir::Need& need : plan.analysis.needs)
        out["needs"].push_back({{"capability", need.capability},
                                {"because", need.because},
                                {"place", place_json(need.place)}});
    out["warnings"] = Json::array();
    for (const ir::Diagnostic& warning : ir::warnings(source)) {
        Json one = {{"message", warning.message},
                    {"fix", warning.fix},
                    {"place", place_json(warning.place)}};
        one["where"] = warning.where.empty() ? Json(nullptr) : Json(warning.where);
        out["warnings"].push_back(std::move(one));
    }
    out["workgroup"] = source.workgroup;
    out["adjustable"] = source.adjustable;
    out["sizes"] = {{"shared_bytes", plan.analysis.shared_bytes},
                    {"local_array_bytes", plan.analysis.local_array_bytes},
                    {"params_bytes", plan.params.size},
                    {"wire_bytes", program.encoding()->size()}};
    out["uses"] = {{"barrier", plan.analysis.uses_barrier},
                   {"grid_barrier", plan.analysis.uses_grid_barrier},
                   {"kernels", plan.analysis.kernels},
                   {"subgroup", plan.analysis.uses_subgroup},
                   {"subgroup_size", source.subgroup},
                   {"trap", plan.analysis.uses_trap},
                   {"may_not_terminate", plan.analysis.may_not_terminate}};
    out["variants"] = Json::array();
    for (const ir::Variant& variant : source.variants)
        out["variants"].push_back({{"format", variant.format},
                                   {"entry", variant.entry},
                                   {"filter", variant.filter},
                                   {"bytes", variant.bytes.size()}});
    out["buffers"] = Json::array();
    for (const plan::Binding& binding : plan.bindings.bindings)
        out["buffers"].push_back(buffer_json(binding, source.buffers[binding.buffer_index]));
    return out.dump(2);
}

}  // namespace wye::exec
