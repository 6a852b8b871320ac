// SPDX-License-Identifier: Apache-2.0
//
// Explains the refusal of a driver's compiler to the author of the program. Pure; thread-safe.
#pragma once

#include "exec/program/compiled_program.hpp"
#include "exec/program/loaded_program.hpp"
#include "lower/lower.hpp"
#include "registry/device.hpp"

namespace wye::exec {

// Adds to COMPILE_FAILED the variant and its place, or for the portable body the place of the
// statement, where the compiler's log names a line. Other errors are returned as they are.
[[nodiscard]] Error explain_refusal(Error error, const registry::DeviceInfo& info,
                                    const lower::TargetFacts& facts, const LoadedProgram& program,
                                    const Form& form, const lower::Artifact& artifact);

}  // namespace wye::exec
