// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `ptxas-early-lanes`: finds where a subgroup must wait for lanes that still run a
// loop with atomics. ptxas emits YIELD in such a loop, and a lane that yields releases lanes that
// wait after the loop. These overwrite uniform registers, of which the subgroup has one copy, while
// the loop still reads them (seen in machine code: `[UR4]` in the loop, `UMOV UR4` after it).
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class EarlyLanes {
  public:
    EarlyLanes() = default;  // none
    explicit EarlyLanes(const ir::Program& program);

    // Whether a wait is needed after this statement of main: the subgroup enters and leaves it as a
    // whole, lanes take different paths inside, and an atomic there is in a loop (this statement,
    // one inside, or one around). False in programs without subgroup operations, where no fault was
    // seen.
    [[nodiscard]] bool behind(ir::StmtId id) const { return id < found_.size() && found_[id]; }

  private:
    std::vector<bool> found_;  // by statement of main; empty: none
};

// For the quirk `ptxas-spinning-atomic`: whether the device lacks an instruction for this operation
// in shared memory, so that the compiler emits a loop, whose rounds lanes can leave at different
// times.
[[nodiscard]] bool spins_in_shared(ir::Op op, ir::Kind kind);

}  // namespace wye::lower
