// SPDX-License-Identifier: Apache-2.0
//
// Warnings about legal code that is surely a mistake, such as a loop without iterations or a name
// that nothing uses. Pure; thread-safe.
#pragma once

#include <vector>

#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

namespace wye::ir {

// Returns the warnings about a valid program, in text order. A name that begins with `_` may be
// unused.
[[nodiscard]] std::vector<Diagnostic> warnings(const Program& program);

}  // namespace wye::ir
