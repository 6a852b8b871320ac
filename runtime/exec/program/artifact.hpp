// SPDX-License-Identifier: Apache-2.0
//
// A program's form as an artifact for a plugin, before any compiler sees it. Pure; thread-safe.
#pragma once

#include <string_view>

#include "exec/program/loaded_program.hpp"
#include "lower/lower.hpp"
#include "registry/facts.hpp"

namespace wye::exec {

// What the lowering may rely on, from the device's self-test; what is not reported is not exact.
// `choice` comes on top of the workarounds that the device needs.
[[nodiscard]] lower::TargetFacts target_facts(const registry::Facts& facts,
                                              const lower::QuirkChoice& choice);

// How the portable body of a program is lowered for a form.
[[nodiscard]] lower::Options lowering_options(const ir::Program& program, const Form& form);

// Lowers the program in this form, or takes the native variant that the form names. `format`: of
// the route. UNSUPPORTED for a construct without a lowering.
[[nodiscard]] Result<lower::Artifact> make_artifact(const LoadedProgram& program, const Form& form,
                                                    std::string_view format,
                                                    const lower::TargetFacts& facts);

// An artifact as plugins see it; borrows both.
[[nodiscard]] wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label);

}  // namespace wye::exec
