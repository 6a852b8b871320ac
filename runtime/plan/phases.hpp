// SPDX-License-Identifier: Apache-2.0
//
// Splits programs with grid barriers: main is cut at the barriers, and each phase becomes a
// separate launch. Loops that contain grid barriers are iterated here, on the host, so their bounds
// must depend only on integer parameters, lengths, workgroup counts, tables and literals.
//
// A phase runs one or more consecutive segments, such as the statements before a loop and the first
// part of its first iteration. The program of a phase consists of its segments; the counters that
// they use of the loops around them become parameters after the program's own, and lets of level 0
// are computed again. Pure; thread-safe.
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
    std::vector<std::uint64_t> literals = {};  // values of its counters that are no parameters
    friend auto operator<=>(const Segment&, const Segment&) = default;
};
using Path = std::vector<Segment>;

struct Phase {
    Path path;
    std::vector<std::uint64_t> counters;  // bits of the additional parameters of its program
};

// Returns the phases of a launch in order, without empty ones. Between two barriers there is one
// phase, unless its parameters would exceed WYE_LIMIT_PARAMS: then it is cut between segments, or
// further counters become literals of its program if that has `shared` arrays, which a cut would
// lose. Errors: UNSUPPORTED for a loop bound that only the device can compute; LIMIT_EXCEEDED for
// more than kMaxPhases.
[[nodiscard]] Result<std::vector<Phase>> phases(const ProgramPlan& plan, const Launch& launch);

// Makes the program for all phases with this path. It has the same buffers. Its additional
// parameters are, for each segment without literals, the counters that it uses of the loops around
// it, outermost first.
[[nodiscard]] ir::Program phase_program(const ir::Program& program, const Path& path);

// Returns the bytes of parameters that a device needs for each phase of a program with grid
// barriers. Error: LIMIT_EXCEEDED if a segment alone has too many parameters.
[[nodiscard]] Result<std::uint32_t> phase_params_bytes(const ir::Program& program);

}  // namespace wye::plan
