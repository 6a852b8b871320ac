// SPDX-License-Identifier: Apache-2.0
//
// The words of a writer's language. Plain data; the defaults are a language with plain arithmetic
// only.
#pragma once

#include <array>
#include <cstdint>

#include "lower/target.hpp"

namespace wye::lower::middle {

// Operations whose native form may be inexact on some device.
enum class Rounded : std::uint8_t { F32Div, F32Sqrt, F32Fma, F64Div, F64Sqrt, F64Fma };

// Where an array lies.
enum class Space : std::uint8_t { Global, Shared, Constant, Private };

struct Target {
    // Words besides arithmetic, logic, == and <.
    bool orders_integers = false;    // spells the program's integer != <= > >= as they are
    bool counts32 = false;           // popcount, clz of 32 bits; clz(0) is 32
    bool counts64 = false;           // of 64 bits
    bool reverses32 = false;         // reverse_bits
    bool multiplies_high32 = false;  // mul_hi
    bool multiplies_high64 = false;
    std::array<bool, 6> exact{};  // by Rounded: the native form is correctly rounded
    bool rounds_f32 = false;      // floor, ceil, trunc, round to even
    bool rounds_f64 = false;
    bool self_comparison = false;      // `a != a` is a NaN test that compilers keep
    bool sign_by_word = false;         // test the sign of a 64-bit integer on its upper word
    bool rotates_by_literals = false;  // a form for each literal count, not one function
    std::uint32_t subgroup = 0;        // width of subgroups; 0: the program uses none
    bool shuffles_words_only = false;  // shuffles only u32
    bool votes = false;                // subgroup_any, subgroup_all
    bool emulates = false;             // can call functions of the library of emulations
    bool f64 = true;
    // Atomic addition of floats. Without it, compare and swap of their bits in a loop.
    bool adds_f32 = false;
    bool adds_f64 = false;
    bool casts_pointers = false;  // can access a float in memory as an integer
    bool tables_of_bits = false;  // a table of floats contains their bits
    // Loops without a known end run several rounds at a time, so that their loads are in flight
    // together: so many, 1, 4 or 8, for bodies of at most so many nodes in all rounds.
    unsigned most_together = 1;
    std::size_t most_together_nodes = 0;
    // Its compilers unroll loops with a literal step themselves; else only those with literal
    // bounds.
    bool unrolls_literal_steps = false;
    bool unrolls_by_division = false;  // they count the rounds of `i < end` with a division
    bool doubles_loops = false;        // loops over a range in the data are written twice
    bool unroll_marks = false;         // a loop can be marked to be unrolled
    bool workgroup_loops = false;      // a workgroup runs as a loop over its invocations
    QuirkSet quirks;                   // those that its format can need

    [[nodiscard]] bool is_exact(Rounded what) const {
        return exact[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] bool adds_floats(ir::Kind kind) const {
        return kind == ir::Kind::F64 ? adds_f64 : adds_f32;
    }
};

}  // namespace wye::lower::middle
