// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `ptxas-early-lanes`: finds where a subgroup must wait for lanes that still run a
// loop with atomics. ptxas emits YIELD in such a loop, and a lane that yields releases lanes that
// wait after the loop. The released lanes overwrite uniform registers, of which the subgroup has
// one copy, while lanes in the loop still read them (seen in machine code: `[UR4]` in the loop,
// `UMOV UR4` after it).
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class EarlyLanes {
  public:
    EarlyLanes() = default;  // no waits
    explicit EarlyLanes(const ir::Program& program);

    // Whether a wait is needed after this statement of main. A wait is needed if the subgroup
    // enters and leaves the statement as a whole, lanes take different paths inside, and an atomic
    // inside is in a loop (the statement itself, or a loop inside or around it). False in programs
    // without subgroup operations, where no fault was seen.
    [[nodiscard]] bool behind(ir::StmtId id) const { return id < found_.size() && found_[id]; }

  private:
    std::vector<bool> found_;  // by statement of main; empty if no wait is needed
};

// For the quirk `ptxas-spinning-atomic`: whether the device lacks an instruction for this operation
// in shared memory. The compiler then emits a loop, which lanes can leave in different iterations.
[[nodiscard]] bool spins_in_shared(ir::Op op, ir::Kind kind);

}  // namespace wye::lower
