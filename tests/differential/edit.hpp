// SPDX-License-Identifier: Apache-2.0
//
// Small changes to a program in memory that keep it well formed, for the shrinker. Each takes a
// program as the parser returns it (typed, without unreachable parts) and may leave unreachable
// parts: print and parse it again before the next change.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "wye/sdk/program.hpp"

namespace differential {

// Functions in order, then main.
[[nodiscard]] std::vector<wye::ir::Code*> codes(wye::ir::Program& program);
[[nodiscard]] std::size_t code_count(const wye::ir::Program& program);

// Replaces an expression by the constant 0 (false) or 1 (true), in all components.
void make_constant(wye::ir::Code& code, wye::ir::ExprId id, bool one);
[[nodiscard]] bool is_constant(const wye::ir::Code& code,
                               wye::ir::ExprId id);  // a literal or splat of one

// Removes assignments to undeclared locals, and replaces reads of them by zero. Removes misplaced
// statements: break and continue outside loops, statements after those that leave.
void repair(wye::ir::Code& code);

// Removes a declaration and its uses: reads become zero, writes vanish. False: still needed.
bool drop_function(wye::ir::Program& program, std::size_t index);
bool drop_param(wye::ir::Program& program, std::size_t index);
bool drop_buffer(wye::ir::Program& program, std::size_t index);
bool drop_table(wye::ir::Program& program, std::size_t index);

// Replaces a compound statement by its part: `otherwise` of an if, else the body once. False: it
// has no such part.
bool unwrap(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at, bool otherwise);

// Replaces a call of a function without statements by its result. False: not such a call.
bool inline_call(wye::ir::Program& program, wye::ir::Code& code, wye::ir::ExprId id);
// Replaces uses of a let by its value. False: not a let, or it has an effect.
bool inline_let(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at);

}  // namespace differential
