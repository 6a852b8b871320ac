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

// Identifies a form. The functions in forms.hpp make keys, such as operation() and conversion().
using FormKey = std::uint16_t;

using StepId = std::uint16_t;  // names an earlier step of the same form

inline constexpr std::size_t kMostParts = 5;

struct Step {
    enum class How : std::uint8_t {
        Operand,  // the operand with index `extra`
        Literal,  // the literal with the bits `extra`
        // The target's word (operator or instruction) for `op`: arithmetic, logic and comparisons,
        // SELECT, CONVERT, BITCAST (which keeps NaNs), and the operations that Target declares.
        Word,
        Form,   // another form, with the FormKey `extra`
        Call,   // a call of function `extra` of the library of emulations
        Hidden  // the operand, hidden from the compiler for the Quirk `extra`
    };
    How how = How::Word;
    ir::Op op = ir::Op::None;
    ir::Kind kind = ir::Kind::None;  // of the result; signed only where a word reads the sign
    ir::Kind from = ir::Kind::None;  // of the operands
    std::uint8_t count = 0;
    std::array<StepId, kMostParts> parts{};
    std::uint64_t extra = 0;
    const char* name = nullptr;  // used in generated text; null if unnamed
};

// The value of `extra` for a CONVERT between floats that is part of an arithmetic operation, such
// as an f32 quotient computed in f64.
inline constexpr std::uint64_t kOfArithmetic = 1;

inline constexpr std::size_t kMostSteps = 256;

struct Form {
    std::vector<Step> steps;  // the last step is the result
    unsigned operands = 0;
    bool function = false;  // whether the form is long, so that it is written as a function
    bool hides = false;
    bool repeats_operands = false;    // operands are names or literals: the text may repeat them
    std::string name;                 // names the function, such as "min_i32" or "f32_to_i32"
    ir::Kind kind = ir::Kind::None;   // of the operands
    std::array<ir::Kind, 3> takes{};  // of each operand

    [[nodiscard]] const Step& result() const { return steps.back(); }
};

}  // namespace wye::lower::middle
