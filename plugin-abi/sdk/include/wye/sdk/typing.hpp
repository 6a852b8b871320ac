// SPDX-License-Identifier: Apache-2.0
//
// The table of typing rules: the operand types and the result type of each operation. The
// validator and callers of the wire reader use it. Pure; thread-safe; no ownership.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "wye/sdk/program.hpp"

namespace wye::ir {

// The result type, or the reason why there is none. `problem` is a sentence without its full stop
// ("`+` takes two values of one type, got f32 and i32"); `fix` begins with "Fix: ".
struct Typing {
    Type type;
    std::string problem;
    std::string fix;
    [[nodiscard]] bool ok() const { return problem.empty(); }
};

// Derives the type of one node from its operands' types. Indices in `expr` must be in range for
// `program` and `code`: run the structural checks first.
[[nodiscard]] Typing derive_type(const Program& program, const Code& code, const Expr& expr,
                                 std::span<const Type> operands);

// The remedy for operands that should have one type. `ids`: the operands; may be empty.
[[nodiscard]] std::string agreement_fix(const Code& code, std::span<const ExprId> ids,
                                        std::span<const Type> got);
// The remedy for a value of type `got` where `wanted` is needed. `id` may be kNone.
[[nodiscard]] std::string conversion_fix(const Code& code, ExprId id, Type got, Type wanted);
// The text of the literal `id` in the type `wanted`; empty: `id` is not a literal, or `wanted`
// cannot hold its value.
[[nodiscard]] std::string literal_as(const Code& code, ExprId id, Type wanted);
// The zero of a number type: "0u", "f32x2(0.0)".
[[nodiscard]] std::string zero(Type type);
// A condition on a number of this type: "x != 0u".
[[nodiscard]] std::string nonzero(Type type);

struct TypeProblem {
    std::uint32_t function = kNone;  // index of a function; kNone for main
    Place place;
    std::string problem;
    std::string fix;
};

// Sets Expr::type, and the Local::type of let, var and for, in every function and main, in text
// order. Calls `report` for each ill-typed node and statement operand (stores, conditions, bounds,
// returned values); skips nodes whose operands failed. Returns true if nothing was reported.
bool assign_types(Program& program, const std::function<void(const TypeProblem&)>& report);

}  // namespace wye::ir
