// SPDX-License-Identifier: Apache-2.0
//
// Determines which components of variables may differ between the lanes of a block, and which
// loops have lanes that leave at different times. The analysis decides only which values are
// computed once per block. It is more precise than the language's own analysis: it works by
// component, and ignores divergence that already exists where a variable is declared.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cpu/compile/routine.hpp"
#include "wye/sdk/program.hpp"

namespace wye::cpu {

using Lanes = std::uint8_t;  // bit c: component c may differ between lanes

struct Uniformity {
    std::vector<Lanes> exprs;   // indexed by ExprId
    std::vector<Lanes> locals;  // indexed by local number
    // Indexed by StmtId: whether lanes leave this FOR or WHILE at different times.
    std::vector<bool> loops;
    Lanes result = 0;  // for a function: its returned value
};

// Analyses main, and each function once for each set of argument components that differ between
// lanes. Keeps the results, and references to them stay valid. Used by one thread.
class Uniformities {
  public:
    Uniformities(const ir::Program& program, Geometry geometry,
                 const std::array<std::uint32_t, 3>& workgroup)
        : program_(program), geometry_(geometry), workgroup_(workgroup) {}

    const Uniformity& main();
    const Uniformity& function(std::uint32_t index, const std::vector<Lanes>& arguments);

  private:
    // Calls that nest deeper are not analysed, to bound the stack: all their values count as
    // differing.
    static constexpr unsigned kNesting = 32;
    const ir::Program& program_;
    unsigned nesting_ = 0;
    Geometry geometry_;
    std::array<std::uint32_t, 3> workgroup_;
    std::map<std::pair<std::uint32_t, std::vector<Lanes>>, Uniformity> known_;
};

// Which components of a built-in value differ between the lanes of a block.
[[nodiscard]] Lanes builtin_lanes(Geometry geometry, const std::array<std::uint32_t, 3>& workgroup,
                                  std::uint32_t builtin);

}  // namespace wye::cpu
