// SPDX-License-Identifier: Apache-2.0
//
// Finds redundant range checks, by intervals of integer values and by conditions that hold at an
// access, such as `i < len(b)`. Where possible, a check that the text does not prove redundant
// becomes a precondition of launches. Shared by all lowerings. Pure; thread-safe once constructed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lower/analysis/preconditions.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

struct CodeRanges {
    // By ExprId: whether the index of an access is in range. Accesses are LOAD*, atomics and
    // WORKGROUP_UNIFORM_LOAD.
    std::vector<bool> accesses;
    // By ExprId: whether a SELECT must become a branch, since an access in one of its arms is in
    // range only if that arm is taken.
    std::vector<bool> guarded;
    // By StmtId: whether a STORE or STORE_ARRAY is in range, and whether the counter of a FOR
    // cannot overflow when it is stepped.
    std::vector<bool> stores, plain_loops;
    // By ExprId and by StmtId: whether the access must be checked even if the preconditions hold.
    std::vector<bool> always_checked_accesses, always_checked_stores;
};

class Ranges {
  public:
    // `program` is valid and typed; `workgroup` is the workgroup size of launches. With `assume`,
    // accesses that the preconditions prove count as proven.
    Ranges(const ir::Program& program, std::array<std::uint32_t, 3> workgroup, bool assume = false);

    // `function` is a function index, or ir::kNone for main.
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
