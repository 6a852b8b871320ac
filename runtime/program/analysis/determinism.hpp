// SPDX-License-Identifier: Apache-2.0
//
// The determinism verdict, by the rules of the language's section "Determinism". Pure.
#pragma once

#include "program/analysis/analysis.hpp"

namespace wye::ir::detail {

// Fills doubts and assumptions. For valid programs.
void find_doubts(const Program& program, Analysis& out);

}  // namespace wye::ir::detail
