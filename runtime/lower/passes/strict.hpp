// SPDX-License-Identifier: Apache-2.0
//
// The strict pass replaces math operations by calls of functions written in the language, so every
// target computes them with the same exact operations, and plugins need no math functions. Runs
// before every lowering. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::lower {

// The definitions of `rsqrt` on f32, which give the same bytes.
enum class RootWay : std::uint8_t {
    ThroughF64,  // in f64, rounded once
    InWords,     // in f32 and 32-bit integers
    FromStart,   // from the target's own inverse square root, by fma; seldom in words
    Form         // none: the operation stays, and is a middle form of the target
};
// How a device computes what has several definitions, which give the same bytes.
struct MathWays {
    RootWay root = RootWay::ThroughF64;
    // `math2_mad` is the device's fma on f64; else a product and a sum.
    bool fused = false;
    // Nothing has 64 bits: for f32 only (in_words.hpp).
    bool words = false;
    // `math2_quotient` and `math2_root` are the device's `/` and sqrt on f64; else those in steps.
    bool divides = true;
    NativeSet fast = 0;  // functions with a fast definition
};
// Returns the definitions that are the fastest on a device and need nothing that it lacks.
[[nodiscard]] MathWays math_ways(std::string_view format, const TargetFacts& facts);

// Whether `expand_for` changes the program.
[[nodiscard]] bool expands_for(std::string_view format, const ir::Program& program,
                               NativeSet natives);
// As expand_math, with the ways of a device. Of the functions in `natives`, those that the format
// has stay, and the others get their fast definitions.
[[nodiscard]] Result<ir::Program> expand_for(std::string_view format, const TargetFacts& facts,
                                             const ir::Program& program, NativeSet natives);

// Whether the program uses a math function other than those in `stay`.
[[nodiscard]] bool uses_math(const ir::Program& program, NativeSet stay = 0);

// Returns the same program with the required definitions, those of its math set, before its own
// functions, and their tables before its own. Errors: LIMIT_EXCEEDED if program and definitions
// together exceed a limit of the language. Never INVALID_PROGRAM if `program` is valid.
[[nodiscard]] Result<ir::Program> expand_math(const ir::Program& program, NativeSet stay = 0,
                                              const MathWays& ways = {});

}  // namespace wye::lower
