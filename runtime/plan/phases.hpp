// SPDX-License-Identifier: Apache-2.0
//
// Splits programs with grid barriers: main is cut at the barriers, and each phase becomes a launch
// of its own. Loops with grid barriers are stepped here, so their bounds must follow from integer
// parameters, lengths, workgroup counts, tables and literals.
//
// A phase runs one or more segments in a row, such as the statements before a loop and the first
// part of its first round. The program of a phase has only its segments; counters of the loops
// around them are parameters after the program's own, and lets of level 0 are computed again. Pure;
// thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

inline constexpr std::size_t kMaxPhases = 65536;  // of one launch

// Statements [first, last) of a block of main; none is a grid barrier or holds one.
struct Segment {
    ir::BlockId block = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend auto operator<=>(const Segment&, const Segment&) = default;
};
using Path = std::vector<Segment>;

struct Phase {
    Path path;
    std::vector<std::uint64_t> counters;  // bits of its program's additional parameters
};

// The phases of a launch, in order; those without statements are left out. UNSUPPORTED for a loop
// bound that only the device can compute; LIMIT_EXCEEDED beyond kMaxPhases.
[[nodiscard]] Result<std::vector<Phase>> phases(const ProgramPlan& plan, const Launch& launch);

// The program of all phases with this path: the same buffers, and for each segment the counters of
// the loops around it, outermost first, as parameters. LIMIT_EXCEEDED if those are more parameters
// than a program may have.
[[nodiscard]] Result<ir::Program> phase_program(const ir::Program& program, const Path& path);

}  // namespace wye::plan
