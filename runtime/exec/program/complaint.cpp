// SPDX-License-Identifier: Apache-2.0
#include "exec/program/complaint.hpp"

#include <fmt/format.h>

#include "exec/program/artifact.hpp"
#include "lower/c/places.hpp"
#include "wye/sdk/compiler_log.hpp"

namespace wye::exec {
namespace {

Error refused_variant(Error error, const registry::DeviceInfo& info, const ir::Program& program,
                      const ir::Variant& variant) {
    const std::string place = variant.place.line == 0 ? ""
                                                      : fmt::format(" at {}:{}", variant.place.line,
                                                                    variant.place.column);
    error.message = fmt::format("variant `{}` ({}){} of program `{}` does not compile for {}: {}",
                                variant.entry, variant.format, place, program.name, info.selector,
                                error.message);
    error.fix = "Fix: correct the variant's code, or dispatch without variants";
    return error;
}

}  // namespace

Error explain_refusal(Error error, const registry::DeviceInfo& info,
                      const lower::TargetFacts& facts, const LoadedProgram& program,
                      const Form& form, const lower::Artifact& artifact) {
    if (error.code != Code::COMPILE_FAILED) return error;
    const ir::Program& source = program.ir();
    if (form.variant != ir::kNone)
        return refused_variant(std::move(error), info, source, source.variants[form.variant]);
    const std::string log = error.cause ? error.cause->message : error.message;
    const std::size_t at = log.find("error");
    if (at == std::string::npos) return error;
    const std::string_view code(reinterpret_cast<const char*>(artifact.code.data()),
                                artifact.code.size());
    const std::string place =
        lower::place_of_line(source, artifact.format, facts, lowering_options(source, form), code,
                             sdk::line_number(sdk::line_at(log, at)));
    if (!place.empty()) error.message += fmt::format(" [program at {}]", place);
    return error;
}

}  // namespace wye::exec
