// SPDX-License-Identifier: Apache-2.0
//
// The validator: checks all static rules of the language. Reports all errors at once (the first
// 100), each with a place and a fix. Pure; thread-safe.
#pragma once

#include <vector>

#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

namespace wye::ir {

// Derives types (as assign_types does) and checks names, roles, arity, structure, limits and
// uniformity. Works on programs from any source: parser, wire reader or builder. Returns an empty
// list if the program is valid.
[[nodiscard]] std::vector<Diagnostic> validate(Program& program);

// Uniformity levels of values and control flow: 0: the same in the whole grid; 1: in the workgroup;
// 2: in the subgroup; 3: may differ. For valid programs; used by lowerings and the analysis.
struct Uniformity {
    std::vector<std::uint8_t> exprs;      // by ExprId of main
    std::vector<std::uint8_t> locals;     // by local number of main
    std::vector<std::uint8_t> stmts;      // control level at each StmtId of main
    std::vector<std::uint8_t> functions;  // result level with arguments at level 0
};
[[nodiscard]] Uniformity uniformity(const Program& program);

}  // namespace wye::ir
