// SPDX-License-Identifier: Apache-2.0
//
// What a writer says of the language that it writes, so that the middle form knows which words it
// has. Plain data; the defaults are a language with nothing but plain arithmetic.
#pragma once

#include <array>
#include <cstdint>

#include "lower/target.hpp"

namespace wye::lower::middle {

// Operations whose own form may be inexact on some device.
enum class Rounded : std::uint8_t { F32Div, F32Sqrt, F32Fma, F64Div, F64Sqrt, F64Fma };

struct Target {
    // Own words, besides arithmetic, logic, == and <.
    bool orders_integers = false;    // != <= > >= of the program stand for themselves
    bool counts32 = false;           // popcount, clz of 32 bits; clz(0) is 32
    bool counts64 = false;           // of 64 bits
    bool reverses32 = false;         // reverse_bits
    bool multiplies_high32 = false;  // mul_hi
    bool multiplies_high64 = false;
    std::array<bool, 6> exact{};  // by Rounded: correctly rounded
    bool rounds_f32 = false;      // floor, ceil, trunc, round to even
    bool rounds_f64 = false;
    bool self_comparison = false;      // only a NaN differs from itself: compilers keep to that
    bool sign_by_word = false;         // the sign of a 64-bit integer is asked of its upper word
    bool rotates_by_literals = false;  // a form of its own for each, in place of one function
    std::uint32_t subgroup = 0;        // width of subgroups; 0: the program uses none
    bool shuffles_words_only = false;  // of 32 bits, no floats
    bool votes = false;                // subgroup_any, subgroup_all
    bool emulates = false;             // functions of the library of emulations can be called
    bool f64 = true;
    QuirkSet quirks;  // those that its text can need

    [[nodiscard]] bool is_exact(Rounded what) const {
        return exact[static_cast<std::size_t>(what)];
    }
};

}  // namespace wye::lower::middle
