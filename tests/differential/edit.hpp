// SPDX-License-Identifier: Apache-2.0
//
// Small changes to a program in memory, for the shrinker, which keep the program well formed. The
// argument must be a program as the parser returns it: typed, without unreachable parts. A change
// may leave unreachable parts, so print and parse the program before the next change.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "wye/sdk/program.hpp"

namespace differential {

// The code of all functions in order, then the code of main.
[[nodiscard]] std::vector<wye::ir::Code*> codes(wye::ir::Program& program);
[[nodiscard]] std::size_t code_count(const wye::ir::Program& program);

// Replaces an expression by a constant in all components: 1 or true if `one` is set, else 0 or
// false.
void make_constant(wye::ir::Code& code, wye::ir::ExprId id, bool one);
[[nodiscard]] bool is_constant(const wye::ir::Code& code,
                               wye::ir::ExprId id);  // a literal, or a splat of a literal

// Removes assignments to undeclared locals, and replaces reads of these by zero. Removes break and
// continue outside of loops, and statements after one that always leaves the block.
void repair(wye::ir::Code& code);

// Each function removes a declaration and its uses: reads become zero, and writes are removed.
// False: the declaration is still needed.
bool drop_function(wye::ir::Program& program, std::size_t index);
bool drop_param(wye::ir::Program& program, std::size_t index);
bool drop_buffer(wye::ir::Program& program, std::size_t index);
bool drop_table(wye::ir::Program& program, std::size_t index);

// Replaces a compound statement by the statements of its body, which then runs once. `otherwise`:
// uses the else block of an `if` instead. False: there is no such block.
bool unwrap(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at, bool otherwise);

// Replaces a call by the result of the function. False: the function has statements.
bool inline_call(wye::ir::Program& program, wye::ir::Code& code, wye::ir::ExprId id);
// Replaces uses of a `let` by its value. False: the statement is no `let`, or its value has an
// effect.
bool inline_let(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at);

}  // namespace differential
