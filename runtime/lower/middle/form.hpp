// SPDX-License-Identifier: Apache-2.0
//
// The middle form of a scalar operation: a total operation of the language, written as steps that a
// target has words for. Operands of a step are always in its domain (divisors are not zero, shifts
// and conversions are in range), so a writer spells steps and decides nothing. Plain data.
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
        // The target's word for `op`: arithmetic, logic and comparisons, SELECT, CONVERT, BITCAST
        // (which keeps NaNs), and the operations that Target declares.
        Word,
        Form,   // `extra`: the FormKey
        Call,   // `extra`: a function of the library of emulations
        Hidden  // `extra`: the Quirk; the operand, hidden from the compiler
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

// Marks, in `extra`, a CONVERT between floats that is part of arithmetic (an f32 quotient through
// f64), like its operand and result.
inline constexpr std::uint64_t kOfArithmetic = 1;

inline constexpr std::size_t kMostSteps = 256;

struct Form {
    std::vector<Step> steps;  // the last one is the result
    unsigned operands = 0;
    bool function = false;  // long: written as a function
    bool hides = false;
    bool repeats_operands = false;    // they are names or literals, so a text may repeat them
    std::string name;                 // "min_i32", "f32_to_i32": for functions
    ir::Kind kind = ir::Kind::None;   // of the operands
    std::array<ir::Kind, 3> takes{};  // of each operand

    [[nodiscard]] const Step& result() const { return steps.back(); }
};

}  // namespace wye::lower::middle
