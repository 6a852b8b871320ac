// SPDX-License-Identifier: Apache-2.0
//
// The middle form of a scalar operation: an operation of the language, which is defined for all
// operands, written as steps for which the target has words. The operands of a step are always in
// its domain (divisors are not zero, shifts and conversions are in range), so a writer only spells
// the steps. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// The name of a form: from operation(), exact_operation(), conversion(), stored(), loaded(),
// bitcast_part() or subgroup().
using FormKey = std::uint16_t;

using StepId = std::uint16_t;  // of an earlier step of the same form

struct Step {
    enum class How : std::uint8_t {
        Operand,  // `extra`: its index
        Literal,  // `extra`: its bits
        // The target's word (operator or instruction) for `op`: arithmetic, logic and comparisons,
        // SELECT, CONVERT, BITCAST (which keeps NaNs), and the operations that Target declares.
        Word,
        Form,   // `extra`: the FormKey
        Call,   // `extra`: a function of the library of emulations
        Hidden  // the operand, hidden from the compiler; `extra`: the Quirk
    };
    How how = How::Word;
    ir::Op op = ir::Op::None;
    ir::Kind kind = ir::Kind::None;  // of the result; signed only where a word reads the sign
    ir::Kind from = ir::Kind::None;  // of the operands
    std::uint8_t count = 0;
    std::array<StepId, 3> parts{};
    std::uint64_t extra = 0;
    const char* name = nullptr;  // for generated text; null: unnamed
};

// The value of `extra` for a CONVERT between floats that is part of an arithmetic operation (an f32
// quotient computed in f64), as its operand and result are.
inline constexpr std::uint64_t kOfArithmetic = 1;

inline constexpr std::size_t kMostSteps = 256;

struct Form {
    std::vector<Step> steps;  // the last one is the result
    unsigned operands = 0;
    bool function = false;  // it is long, so it is written as a function
    bool hides = false;
    bool repeats_operands = false;    // operands are names or literals
    std::string name;                 // "min_i32", "f32_to_i32": for functions
    ir::Kind kind = ir::Kind::None;   // of the operands
    std::array<ir::Kind, 3> takes{};  // of each operand

    [[nodiscard]] const Step& result() const { return steps.back(); }
};

}  // namespace wye::lower::middle
