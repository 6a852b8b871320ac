// SPDX-License-Identifier: Apache-2.0
//
// Splits programs with grid barriers: main is cut at the barriers, and each phase becomes a
// separate launch. Loops that contain grid barriers are iterated here, on the host, so their bounds
// must depend only on integer parameters, lengths, workgroup counts, tables and literals.
//
// A phase runs one or more consecutive segments, such as the statements before a loop and the first
// part of the loop's first iteration. The program of a phase consists of the segments of that
// phase. Counters of enclosing loops that the segments use become parameters, after the program's
// own parameters. Earlier lets that the segments use are computed again. Pure; thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

inline constexpr std::size_t kMaxPhases = 65536;  // in one launch

// Statements [first, last) of a block of main. None of them is or contains a grid barrier.
struct Segment {
    ir::BlockId block = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::vector<std::uint64_t> literals = {};  // values of loop counters that are not parameters
    friend auto operator<=>(const Segment&, const Segment&) = default;
};
using Path = std::vector<Segment>;

struct Phase {
    Path path;
    std::vector<std::uint64_t> counters;  // bits of the additional parameters of its program
};

// Returns the phases of a launch in order, without empty ones. Between two barriers there is one
// phase, unless it would have more than WYE_LIMIT_PARAMS parameters. Then it is cut between
// segments. A cut would lose the contents of `shared` arrays, so programs with such arrays are not
// cut: further counters become literals of the phase's program. Errors: UNSUPPORTED for a loop
// bound that only the device can compute; LIMIT_EXCEEDED for more than kMaxPhases.
[[nodiscard]] Result<std::vector<Phase>> phases(const ProgramPlan& plan, const Launch& launch);

// Makes the program for all phases with this path. It has the same buffers as `program`. Its
// additional parameters are, for each segment without literals, the counters of enclosing loops
// that the segment uses, outermost loop first.
[[nodiscard]] ir::Program phase_program(const ir::Program& program, const Path& path);

// Returns the number of parameter bytes that a device must take to run a program with grid barriers
// in phases. Error: LIMIT_EXCEEDED if a segment alone has too many parameters.
[[nodiscard]] Result<std::uint32_t> phase_params_bytes(const ir::Program& program);

}  // namespace wye::plan
