// SPDX-License-Identifier: Apache-2.0
//
// What is known of a program before it runs, as JSON. Pure; thread-safe.
#pragma once

#include <string>

#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// One JSON document: name, fingerprint, needs, determinism, sizes.
[[nodiscard]] std::string analysis_json(const LoadedProgram& program);

}  // namespace wye::exec
