// SPDX-License-Identifier: Apache-2.0
//
// The form of a counted loop: i is first, first + step, ... while less than the end. Plain data.
#pragma once

#include "lower/analysis/loop_lengths.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

struct Loop {
    ir::Kind kind = ir::Kind::U32;  // of the counter
    // The step; 0: given by an expression, to which LoopPart::AtLeastOne is applied.
    std::uint64_t step = 0;
    enum class Test : std::uint8_t {
        Counter,  // i < end: a step cannot overflow
        Rounds,   // rounds are counted, up to loop_rounds()
        End       // i becomes the end after the round that is LoopPart::Last
    } test = Test::Counter;
    // Above 1: so many rounds run at a time while i < group_stop(), then the loop for the others.
    unsigned together = 1;
    // Accesses that are in range in all rounds if the counter is below these lengths (and a signed
    // counter is not negative). Groups of rounds stop before the shortest; without groups, the loop
    // is written twice, without these checks if the end is at most the lengths, else with them.
    LoopLengths lengths = {};
    enum class Unroll : std::uint8_t { Free, All, Never } unroll = Unroll::Free;

    [[nodiscard]] bool twice() const { return together == 1 && !lengths.empty(); }
    [[nodiscard]] bool signed_counter() const { return ir::Type{kind, 1}.signed_integer(); }
};

}  // namespace wye::lower::middle
