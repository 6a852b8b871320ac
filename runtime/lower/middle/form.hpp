// SPDX-License-Identifier: Apache-2.0
//
// The middle form of a scalar operation: what a total operation of the language means, written out
// in steps that a target has a plain word for. A step's operands are always in its domain (no
// divisor is zero, no shift is too far, no conversion out of range), so a writer spells it and
// decides nothing. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// Which form: one of operation(), exact_operation(), conversion(), stored(), loaded() and
// bitcast_part().
using FormKey = std::uint16_t;

using StepId = std::uint16_t;  // of an earlier step of the same form

struct Step {
    enum class How : std::uint8_t {
        Operand,  // `extra`: which one
        Literal,  // `extra`: its bits
        // The target's own word for `op`: arithmetic, logic and comparisons, SELECT, CONVERT,
        // BITCAST (which leaves NaNs alone), and the operations that Target says it has.
        Word,
        Form,   // `extra`: the FormKey
        Call,   // `extra`: a function of the library of emulations
        Hidden  // `extra`: the Quirk; the same value, which a compiler must not see through
    };
    How how = How::Word;
    ir::Op op = ir::Op::None;
    ir::Kind kind = ir::Kind::None;  // of the result; integers are signed only where a word asks
    ir::Kind from = ir::Kind::None;  // of the operands
    std::uint8_t count = 0;
    std::array<StepId, 3> parts{};
    std::uint64_t extra = 0;
    const char* name = nullptr;  // for readers of text; null: it needs none
};

// A CONVERT between floats with this in `extra` is a part of arithmetic (a quotient of f32 by way
// of f64), as its operand and its result are.
inline constexpr std::uint64_t kOfArithmetic = 1;

inline constexpr std::size_t kMostSteps = 256;

struct Form {
    std::vector<Step> steps;  // the last one is the result
    unsigned operands = 0;
    bool function = false;            // long: better a function than code at every use
    bool hides = false;               // some step is Hidden
    std::string name;                 // "min_i32", "f32_to_i32": for functions
    ir::Kind kind = ir::Kind::None;   // of the operands
    std::array<ir::Kind, 3> takes{};  // of each operand

    [[nodiscard]] const Step& result() const { return steps.back(); }
};

}  // namespace wye::lower::middle
