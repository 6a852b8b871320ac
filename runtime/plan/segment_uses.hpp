// SPDX-License-Identifier: Apache-2.0
//
// SegmentUses: finds the loop counters and lets that a segment of a program with grid barriers uses
// but does not declare. The program of a phase gets the counters as parameters, and computes the
// lets again. Borrows the code. Used by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/phases.hpp"

namespace wye::plan {

// Whether an expression of this kind names a local, in its member `extra`.
[[nodiscard]] bool names_local(ir::Op op);

// Whether a statement of this kind declares a local.
[[nodiscard]] bool declares(ir::Op op);

class SegmentUses {
  public:
    struct Names {
        std::vector<ir::StmtId> counters;  // loops whose counters the segment uses, outermost first
        std::vector<ir::StmtId> lets;      // in text order
    };

    explicit SegmentUses(const ir::Code& code);

    [[nodiscard]] Names of(const Segment& segment);

    // The segments of main in text order, without empty ones.
    [[nodiscard]] std::vector<Segment> segments() const;
    // Whether the statement is a loop that contains a grid barrier.
    [[nodiscard]] bool is_phase_loop(ir::StmtId id) const { return phase_loop_[id]; }

  private:
    void add_segments(ir::BlockId block, std::vector<Segment>& out) const;
    void look_at(ir::StmtId id);
    void look_into(ir::ExprId root);

    const ir::Code& code_;
    std::vector<bool> phase_loop_;         // by StmtId
    std::vector<ir::StmtId> definitions_;  // by local: its LET or FOR statement
    std::vector<bool> declared_;           // by local: whether the segment declares it
    std::vector<bool> needed_;             // by local: whether the segment uses it
};

}  // namespace wye::plan
