// SPDX-License-Identifier: Apache-2.0
//
// Makes the artifact of a program's form, for a plugin. Pure; thread-safe.
#pragma once

#include <string_view>

#include "exec/program/loaded_program.hpp"
#include "lower/lower.hpp"
#include "registry/open/facts.hpp"

namespace wye::exec {

// The device facts that lowering relies on. Operations count as exact only if the device's
// self-test reports them as exact. `choice` changes the set of workarounds for the device.
[[nodiscard]] lower::TargetFacts target_facts(const registry::Facts& facts,
                                              const lower::QuirkChoice& choice);

// The options for lowering the portable body of a program in a form.
[[nodiscard]] lower::Options lowering_options(const ir::Program& program, const Form& form);

// Lowers the program in this form, or returns the native variant that the form names. `format`:
// chosen by the route. UNSUPPORTED for a construct without a lowering.
[[nodiscard]] Result<lower::Artifact> make_artifact(const LoadedProgram& program, const Form& form,
                                                    std::string_view format,
                                                    const lower::TargetFacts& facts);

// The artifact as a structure of the plugin ABI, which borrows both arguments.
[[nodiscard]] wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label);

}  // namespace wye::exec
