// SPDX-License-Identifier: Apache-2.0
//
// Loops whose end only the data tells (`for j in row[r]..row[r + 1] { ... col[j] ... }`): the
// accesses at the counter itself that neither the text nor a launch shows to be in range. They all
// are where the end is at most the lengths of what they access (and a signed start is not
// negative), so that a writer may ask once, before the loop. Shared by all lowerings. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "lower/analysis/ranges.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

struct LoopLengths {
    std::set<std::uint32_t> buffers, tables;  // whose lengths the end is compared with
    std::vector<ir::ExprId> accesses;         // loads and atomics
    std::vector<ir::StmtId> stores;

    [[nodiscard]] bool empty() const { return accesses.empty() && stores.empty(); }
};

class DataLoops {
  public:
    DataLoops(const ir::Program& program, const ir::Code& code);

    // Of `loop`, a FOR. Empty where asking gains nothing, and for a loop that cannot well stand
    // twice: with loops, barriers or subgroup operations inside, or too long.
    [[nodiscard]] LoopLengths lengths(const CodeRanges& ranges, const ir::Stmt& loop) const;

  private:
    [[nodiscard]] bool from_data(ir::ExprId id) const;

    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // lets that are worked out from what was loaded
};

// Marks them as in range, or takes that back.
void set_in_range(CodeRanges& ranges, const LoopLengths& lengths, bool in_range);

}  // namespace wye::lower
