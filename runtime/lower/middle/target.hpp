// SPDX-License-Identifier: Apache-2.0
//
// Target: the words (operators and instructions) of a writer's language, and which loop forms suit
// its compilers. Plain data; the defaults describe a language with plain arithmetic only.
#pragma once

#include <array>
#include <cstdint>

#include "lower/target.hpp"

namespace wye::lower::middle {

// Operations whose native form may be inexact on some device.
enum class Rounded : std::uint8_t { F32Div, F32Sqrt, F32Fma, F64Div, F64Sqrt, F64Fma };

// The memory space of an array.
enum class Space : std::uint8_t { Global, Shared, Constant, Private };

struct Target {
    // Words besides arithmetic, logic, == and <.
    bool orders_integers = false;    // integer != <= > >=
    bool counts32 = false;           // popcount and clz of 32 bits; clz(0) is 32
    bool counts64 = false;           // popcount and clz of 64 bits
    bool reverses32 = false;         // reverse_bits
    bool multiplies_high32 = false;  // mul_hi
    bool multiplies_high64 = false;
    // Indexed by Rounded: whether the native form is correctly rounded.
    std::array<bool, 6> exact{};
    // FMA of f32 is exact unless an operand or the result is subnormal.
    bool fuses_normals = false;
    // RSQRT of a normal f32 is a word, with an error of at most 2 ulp. Quotients and roots of f32
    // that are not exact start from it.
    bool near_inverse_root = false;
    bool rounds_f32 = false;  // floor, ceil, trunc and rounding to even
    bool rounds_f64 = false;
    bool self_comparison = false;  // compilers keep `a != a` as a NaN test
    bool sign_by_word = false;     // the sign of a 64-bit integer is tested on its upper word
    // Rotations by literals have one form for each count, instead of one function for all.
    bool rotates_by_literals = false;
    std::uint32_t subgroup = 0;        // width of subgroups; 0 if the program uses none
    bool shuffles_words_only = false;  // shuffles move u32 only
    bool votes = false;                // subgroup_any, subgroup_all
    bool emulates = false;             // can call functions of the library of emulations
    bool f64 = true;
    // Whether atomic addition of floats is a word. If not, it is a compare-and-swap loop on their
    // bits.
    bool adds_f32 = false;
    bool adds_f64 = false;
    bool casts_pointers = false;  // can access a float in memory as an integer
    bool tables_of_bits = false;  // a table of floats contains their bits
    // A loop without a known end runs several iterations together, so that their loads are in
    // flight at the same time: at most `most_together` (1, 4 or 8) iterations, which have at most
    // `most_together_nodes` nodes in total.
    unsigned most_together = 1;
    std::size_t most_together_nodes = 0;
    // Whether compilers themselves unroll all loops with a literal step, not only those with
    // literal bounds.
    bool unrolls_literal_steps = false;
    // Whether compilers unroll `i < end` by computing the number of iterations with a division.
    bool unrolls_by_division = false;
    bool doubles_loops = false;    // loops whose end is loaded data are written twice
    bool unroll_marks = false;     // a loop can be marked to be unrolled
    bool workgroup_loops = false;  // a workgroup runs as a loop over its invocations
    QuirkSet quirks;               // the device's quirks that matter in the writer's format

    [[nodiscard]] bool is_exact(Rounded what) const {
        return exact[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] bool adds_floats(ir::Kind kind) const {
        return kind == ir::Kind::F64 ? adds_f64 : adds_f32;
    }
};

}  // namespace wye::lower::middle
