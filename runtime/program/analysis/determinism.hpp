// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a program is deterministic, by the rules of the section "Determinism" of
// LANGUAGE.md. Pure.
#pragma once

#include "program/analysis/analysis.hpp"

namespace wye::ir::detail {

// Sets the doubts and assumptions of `out`. `program` is valid.
void find_doubts(const Program& program, Analysis& out);

}  // namespace wye::ir::detail
