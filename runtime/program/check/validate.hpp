// SPDX-License-Identifier: Apache-2.0
//
// The validator: checks all static rules of the language. Reports all errors at once (the first
// 100), each with a place and a fix. Pure; thread-safe.
#pragma once

#include <vector>

#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

namespace wye::ir {

// Derives types (as `assign_types` does) and checks names, roles, arity, structure, limits and
// uniformity. The program may come from the parser, the wire reader or a builder. Returns no
// diagnostics if the program is valid.
[[nodiscard]] std::vector<Diagnostic> validate(Program& program);

// Uniformity levels of values and control flow. A value of level 0 is the same in the whole grid,
// of level 1 in the workgroup, of level 2 in the subgroup; at level 3 it may differ between
// invocations. For valid programs. Used by lowerings and the analysis.
struct Uniformity {
    std::vector<std::uint8_t> exprs;      // by ExprId of main
    std::vector<std::uint8_t> locals;     // by local number of main
    std::vector<std::uint8_t> stmts;      // the control flow's level at each StmtId of main
    std::vector<std::uint8_t> functions;  // the result's level, for arguments at level 0
};
[[nodiscard]] Uniformity uniformity(const Program& program);

}  // namespace wye::ir
