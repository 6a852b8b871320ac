// SPDX-License-Identifier: Apache-2.0
//
// Small changes of a program in memory that keep it well formed, for the shrinker. Each works on a
// program as the parser gives it (typed, nothing unreachable) and may leave unreachable parts
// behind: print and parse it again before the next change.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "wye/sdk/program.hpp"

namespace differential {

// Functions in order, then main.
[[nodiscard]] std::vector<wye::ir::Code*> codes(wye::ir::Program& program);
[[nodiscard]] std::size_t code_count(const wye::ir::Program& program);

// An expression becomes the constant 0 (false) or 1 (true), in all components.
void make_constant(wye::ir::Code& code, wye::ir::ExprId id, bool one);
[[nodiscard]] bool is_constant(const wye::ir::Code& code,
                               wye::ir::ExprId id);  // a literal or splat of one

// Statements that use what is no longer declared go; such operands become zero. So does what
// cannot stand where it is: break and continue outside loops, statements behind those that leave.
void repair(wye::ir::Code& code);

// Takes a declaration out, with all uses: reads become zero, writes go. False: still needed.
bool drop_function(wye::ir::Program& program, std::size_t index);
bool drop_param(wye::ir::Program& program, std::size_t index);
bool drop_buffer(wye::ir::Program& program, std::size_t index);
bool drop_table(wye::ir::Program& program, std::size_t index);

// What a compound statement is made of takes its place: `otherwise` of an if, else the body once.
// False: it has no such part.
bool unwrap(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at, bool otherwise);

// A call of a function without statements becomes the function's result. False: it is no such call.
bool inline_call(wye::ir::Program& program, wye::ir::Code& code, wye::ir::ExprId id);
// Uses of a let become its value. False: it is none, or has an effect.
bool inline_let(wye::ir::Code& code, wye::ir::BlockId block, std::size_t at);

}  // namespace differential
