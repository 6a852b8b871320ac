// SPDX-License-Identifier: Apache-2.0
//
// Which range checks are redundant, proven by intervals of integer values and by facts such as a
// dominating `i < len(b)`. Where possible, what the text does not prove becomes a precondition of
// launches. Shared by all lowerings. Pure; a value; thread-safe once made.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lower/analysis/preconditions.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

struct CodeRanges {
    // By ExprId: an access (LOAD*, atomics, WORKGROUP_UNIFORM_LOAD) whose index is in range.
    std::vector<bool> accesses;
    // By ExprId: a SELECT that must become a branch, since accesses in its arms are in range only
    // if the arm is taken.
    std::vector<bool> guarded;
    // By StmtId: STORE and STORE_ARRAY in range; FOR whose variable cannot overflow when stepped.
    std::vector<bool> stores, plain_loops;
    // By ExprId and by StmtId: not proven by preconditions either.
    std::vector<bool> always_checked_accesses, always_checked_stores;
};

class Ranges {
  public:
    // `program` is valid and typed; `workgroup` is the effective size. With `assume`, accesses that
    // the preconditions prove count as proven.
    Ranges(const ir::Program& program, std::array<std::uint32_t, 3> workgroup, bool assume = false);

    // By function index, or ir::kNone for main.
    [[nodiscard]] const CodeRanges& of(std::uint32_t function) const {
        return function == ir::kNone ? main_ : functions_[function];
    }
    [[nodiscard]] const Preconditions& preconditions() const { return preconditions_; }

  private:
    CodeRanges main_;
    std::vector<CodeRanges> functions_;
    Preconditions preconditions_;
};

}  // namespace wye::lower
