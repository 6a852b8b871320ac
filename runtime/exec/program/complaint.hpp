// SPDX-License-Identifier: Apache-2.0
//
// Adds a source position to the error of a driver's compiler. Pure; thread-safe.
#pragma once

#include "exec/program/compiled_program.hpp"
#include "exec/program/loaded_program.hpp"
#include "lower/lower.hpp"
#include "registry/open/device.hpp"

namespace wye::exec {

// Adds the location of the refused code to the error COMPILE_FAILED: for a native variant its name
// and position; for the portable body the position of the statement, if the compiler's log names a
// line. Returns other errors unchanged.
[[nodiscard]] Error explain_refusal(Error error, const registry::DeviceInfo& info,
                                    const lower::TargetFacts& facts, const LoadedProgram& program,
                                    const Form& form, const lower::Artifact& artifact);

}  // namespace wye::exec
