// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `ptxas-early-lanes`: where a subgroup must wait for lanes that still run a loop
// with atomics. ptxas writes YIELD into such a loop, and a lane that yields releases lanes that
// wait behind the loop. These overwrite uniform registers, of which the subgroup has one copy,
// while the loop still reads them (seen in machine code: `[UR4]` in the loop, `UMOV UR4` behind
// it).
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class EarlyLanes {
  public:
    EarlyLanes() = default;  // none
    explicit EarlyLanes(const ir::Program& program);

    // True if the subgroup enters and leaves this statement of main as a whole, lanes take
    // different paths inside, and an atomic there is in a loop (this statement, one inside, or one
    // around). False in programs without subgroup operations, where no fault was seen.
    [[nodiscard]] bool behind(ir::StmtId id) const { return id < found_.size() && found_[id]; }

  private:
    std::vector<bool> found_;  // by statement of main; empty: none
};

// For the quirk `ptxas-spinning-atomic`: true if the device has no instruction for this operation
// in shared memory, so the compiler writes a loop, in which lanes can be at different rounds.
[[nodiscard]] bool spins_in_shared(ir::Op op, ir::Kind kind);

}  // namespace wye::lower
