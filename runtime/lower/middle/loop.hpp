// SPDX-License-Identifier: Apache-2.0
//
// The form of a counted loop. Its counter i takes the values first, first + step, ... that are less
// than the end. Plain data.
#pragma once

#include "lower/analysis/loop_lengths.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

struct Loop {
    ir::Kind kind = ir::Kind::U32;  // of the counter
    // The step, or 0 if it is an expression, to which LoopPart::AtLeastOne is applied.
    std::uint64_t step = 0;
    enum class Test : std::uint8_t {
        Counter,  // tests i < end, since no step can overflow
        Rounds,   // counts iterations up to loop_rounds()
        End       // after the iteration for which LoopPart::Last is true, i is set to the end
    } test = Test::Counter;
    // If above 1: this many iterations run together while i < group_stop(); a second loop runs the
    // remaining iterations.
    unsigned together = 1;
    // Arrays, and accesses to them at the counter. The accesses are in range while the counter is
    // below the lengths of these arrays (and not negative). Groups of iterations stop before the
    // shortest length. Without groups the loop is written twice: a version without range checks,
    // for an end that is at most the lengths, and a version with range checks.
    LoopLengths lengths = {};
    enum class Unroll : std::uint8_t { Free, All, Never } unroll = Unroll::Free;

    [[nodiscard]] bool twice() const { return together == 1 && !lengths.empty(); }
    [[nodiscard]] bool signed_counter() const { return ir::Type{kind, 1}.signed_integer(); }
};

}  // namespace wye::lower::middle
