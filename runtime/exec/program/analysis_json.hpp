// SPDX-License-Identifier: Apache-2.0
//
// The analysis of a program as JSON. Pure; thread-safe.
#pragma once

#include <string>

#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// One JSON document: name, fingerprint, needs, determinism, sizes.
[[nodiscard]] std::string analysis_json(const LoadedProgram& program);

}  // namespace wye::exec
