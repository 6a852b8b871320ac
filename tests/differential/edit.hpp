// SPDX-License-Identifier: Apache-2.0
//
// Small changes to a program in memory, for the shrinker. They keep it well formed. Each takes a
// program as the parser returns it (typed, without unreachable parts) and may leave unreachable
// parts: print and parse it again before the next change.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "wye/sdk/program.hpp"

namespace differential {

// The code of the functions in order, then that of main.
[[nodiscard]] std::vector<wye::ir::Code*> codes(wye::ir::Program& program);
[[nodiscard]] std::size_t code_count(const wye::ir::Program& program);

// Replaces an expression by the constant 0 (false) or 1 (true), in all components.
void make_constant(wye::ir::Code& code, wye::ir::ExprId id, bool one);
[[nodiscard]] bool is_constant(const wye::ir::Code& code,
                               wye::ir::ExprId id);  // a literal or splat of one

// Removes assignments to undeclared locals, and replaces reads of them by zero. Removes misplaced
// statements: break and continue outside loops, statements after those that leave.
void repair(wye::ir::Code& code);

// Remove a declaration and its uses: reads become zero, writes vanish. False: it is still needed.
bool drop_function(wye::ir::Program& program, std::size_t index);
bool drop_param(wye::ir::Program& program, std::size_t index);
bool drop_buffer(wye::ir::Program& program, std::size_t index);
bool drop_table(wye::ir::Program& program, std::size_t index);

// Replaces a compound statement by one of its parts: `otherwise` of an if, else the body, once.
// False: there is no such part.
bool unwrap(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at, bool otherwise);

// Replaces a call of a function that has no statements by its result. False: it is no such call.
bool inline_call(wye::ir::Program& program, wye::ir::Code& code, wye::ir::ExprId id);
// Replaces uses of a let by its value. False: it is no let, or its value has an effect.
bool inline_let(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at);

}  // namespace differential
