// SPDX-License-Identifier: Apache-2.0
//
// The middle form of statements: what is decided about each access and loop of a program, for all
// writers. A writer walks the program's statements and spells the decisions.
#pragma once

#include <vector>

#include "lower/analysis/ranges.hpp"
#include "lower/middle/memory.hpp"

namespace wye::lower::middle {

// Of a whole program. Borrows the program. Immutable; thread-safe.
class ProgramForm {
  public:
    // `program` is valid and typed; `workgroup` is the effective size. `check_free`: as in Options.
    ProgramForm(const ir::Program& program, std::array<std::uint32_t, 3> workgroup,
                const Target& target, bool check_free);

    const ir::Program& program;
    const std::array<std::uint32_t, 3> workgroup;
    const Ranges ranges;

    [[nodiscard]] const Array& buffer(std::uint32_t number) const { return buffers_[number]; }
    [[nodiscard]] const Array& table(std::uint32_t number) const { return tables_[number]; }
    // Workgroup memory of all `shared` arrays.
    [[nodiscard]] std::uint32_t shared_bytes() const;

  private:
    std::vector<Array> buffers_, tables_;
};

// Of main or of one function. Borrows the program's. Used by one thread.
class CodeForm {
  public:
    // `function`: its index; ir::kNone: main.
    CodeForm(const ProgramForm& program, std::uint32_t function);

    const ir::Code& code;

    // A LOAD, LOAD_TABLE, LOAD_ARRAY, WORKGROUP_UNIFORM_LOAD or atomic operation.
    [[nodiscard]] Access access(ir::ExprId id) const;
    // A STORE or STORE_ARRAY.
    [[nodiscard]] Access store(ir::StmtId id) const;
    [[nodiscard]] Array local_array(std::uint32_t local) const;
    // A SELECT that is a branch, since accesses in its arms are in range only in the arm that is
    // taken.
    [[nodiscard]] bool branches(ir::ExprId select) const { return ranges.guarded[select]; }

    CodeRanges ranges;  // for the version of a loop that is being written

  private:
    [[nodiscard]] Access checked(const Array& array, ir::ExprId index, bool proven,
                                 Access::Check check) const;

    const ProgramForm& program_;
};

}  // namespace wye::lower::middle
