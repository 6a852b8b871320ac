// SPDX-License-Identifier: Apache-2.0
//
// For loops whose end comes from data (`for j in row[r]..row[r + 1] { ... col[j] ... }`): finds the
// accesses indexed by the counter that neither the text nor preconditions prove in range. All these
// accesses are in range if the loop's end is at most the lengths of the accessed arrays (and a
// signed start is not negative). A writer may test this condition once, before the loop. Shared by
// all lowerings. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "lower/analysis/ranges.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

struct LoopLengths {
    std::set<std::uint32_t> buffers, tables;  // arrays whose lengths the end must not exceed
    std::vector<ir::ExprId> accesses;         // loads and atomics
    std::vector<ir::StmtId> stores;

    [[nodiscard]] bool empty() const { return accesses.empty() && stores.empty(); }
};

class DataLoops {
  public:
    DataLoops(const ir::Program& program, const ir::Code& code);

    // Returns the lengths for `loop`, which is a FOR. Empty if a check before the loop gains
    // nothing, or if the loop cannot be written twice because it is too long or contains loops,
    // barriers or subgroup operations.
    [[nodiscard]] LoopLengths lengths(const CodeRanges& ranges, const ir::Stmt& loop) const;

  private:
    [[nodiscard]] bool from_data(ir::ExprId id) const;

    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // whether each let depends on loaded values
};

// Marks the accesses in `lengths` as in range, or removes that mark.
void set_in_range(CodeRanges& ranges, const LoopLengths& lengths, bool in_range);

}  // namespace wye::lower
