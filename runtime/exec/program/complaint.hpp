// SPDX-License-Identifier: Apache-2.0
//
// A driver's compiler refused a program: what its author wants to know. Pure; thread-safe.
#pragma once

#include "exec/program/compiled.hpp"
#include "exec/program/program_object.hpp"
#include "lower/lower.hpp"
#include "registry/device.hpp"

namespace wye::exec {

// COMPILE_FAILED names the variant and its place; of the portable body, the place of the statement
// that the complaint is about, where the log says a line. Other errors stay as they are.
[[nodiscard]] Error refused_code(Error error, const registry::DeviceInfo& info,
                                 const ProgramObject& program, const PreparedKey& key,
                                 const lower::Artifact& artifact);

}  // namespace wye::exec
