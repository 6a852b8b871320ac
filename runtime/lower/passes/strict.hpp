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

// The definitions of `rsqrt` on f32. All of them give the same bytes.
enum class RootWay : std::uint8_t {
    ThroughF64,  // in f64, rounded once
    InWords,     // in f32 and 32-bit integers
    FromStart,   // from the target's own inverse square root, by fma; if unsure, in words
    Form         // none: the operation stays, and is a middle form of the target
};
// A device's choice among definitions that give the same bytes.
struct MathWays {
    RootWay root = RootWay::ThroughF64;
    // Whether `math2_mad` is the device's fma on f64; else it is a product and a sum.
    bool fused = false;
    // Whether the definitions use no type of 64 bits (in_words.hpp). For f32 functions only.
    bool words = false;
    // Whether most f32 functions of math set 2 are computed in pairs of f32, and again by
    // `math2_OP_f32` for the few arguments that a pair does not decide (../math/pairs.wye).
    bool pairs = false;
    // Whether pairs use the device's fma on f32, which may treat subnormal numbers as zero.
    bool fused_f32 = false;
    // Whether `math2_quotient` is the device's `/` on f64, and `math2_root` its sqrt; else they are
    // the functions `..._by_steps`.
    bool divides = true;
    bool roots = true;
    NativeSet fast = 0;  // functions that get their fast definition
};
// Returns the definitions that are the fastest on a device, among those that it can run.
[[nodiscard]] MathWays math_ways(std::string_view format, const TargetFacts& facts);

// Whether `expand_for` changes the program.
[[nodiscard]] bool expands_for(std::string_view format, const ir::Program& program,
                               NativeSet natives);
// As `expand_math`, with the definitions that math_ways() returns for a device. A function in
// `natives` stays if the format has a native form of it, else it gets its fast definition.
[[nodiscard]] Result<ir::Program> expand_for(std::string_view format, const TargetFacts& facts,
                                             const ir::Program& program, NativeSet natives);

// Whether the program uses a math function other than those in `stay`.
[[nodiscard]] bool uses_math(const ir::Program& program, NativeSet stay = 0);

// Returns the program with the required definitions of its math set added: the functions before the
// program's own functions, the tables after its own tables. Errors: LIMIT_EXCEEDED if program and
// definitions together exceed a limit of the language. Never INVALID_PROGRAM if `program` is valid.
[[nodiscard]] Result<ir::Program> expand_math(const ir::Program& program, NativeSet stay = 0,
                                              const MathWays& ways = {});

}  // namespace wye::lower
