// SPDX-License-Identifier: Apache-2.0
//
// The middle form of statements: the decisions about each access and loop of a program, shared by
// all writers. A writer walks the program's statements and spells these decisions in its language.
#pragma once

#include <optional>
#include <vector>

#include "lower/analysis/ranges.hpp"
#include "lower/middle/loop.hpp"
#include "lower/middle/memory.hpp"
#include "lower/middle/regions.hpp"
#include "lower/middle/zero.hpp"

namespace wye::lower::middle {

// The decisions for a whole program, which must outlive them. Immutable; thread-safe.
class ProgramForm {
  public:
    // `program` is valid and typed; `workgroup` is the workgroup size of launches. `check_free`: as
    // in Options.
    ProgramForm(const ir::Program& program, std::array<std::uint32_t, 3> workgroup,
                const Target& target, bool check_free);

    const ir::Program& program;
    const Target target;
    const std::array<std::uint32_t, 3> workgroup;
    const Ranges ranges;
    // Whether one invocation of the device runs a whole workgroup (see Regions).
    const bool whole_workgroups;

    [[nodiscard]] const Array& buffer(std::uint32_t number) const { return buffers_[number]; }
    [[nodiscard]] const Array& table(std::uint32_t number) const { return tables_[number]; }
    // Returns how main zeroes `shared` arrays at its start. `used` tells, by buffer index, which
    // arrays the code uses; the others are not zeroed.
    [[nodiscard]] SharedZeros zeros(const std::vector<bool>& used) const;
    // The size of all `shared` arrays together, in bytes.
    [[nodiscard]] std::uint32_t shared_bytes() const;

  private:
    void find_additions();

    std::vector<Array> buffers_, tables_;
};

// The form of a BITCAST. Components keep their width, or one component becomes two, or two become
// one.
struct Bitcast {
    FormKey canonical = kNoKey;  // applied to each operand component first
    // The forms that make each component of the result from all components of the operand. kNoKey:
    // each component is the plain bitcast of the same component.
    std::array<FormKey, 2> parts = {kNoKey, kNoKey};

    [[nodiscard]] bool plain() const { return parts[0] == kNoKey; }
};

// The decisions for main or one function. The ProgramForm must outlive them. Used by one thread.
class CodeForm {
  public:
    // `function` is a function index, or ir::kNone for main.
    CodeForm(const ProgramForm& program, std::uint32_t function);
    CodeForm(const CodeForm&) = delete;
    CodeForm& operator=(const CodeForm&) = delete;

    const ir::Code& code;
    const Regions regions;  // empty unless one invocation runs a whole workgroup

    // The form of a LOAD, LOAD_TABLE, LOAD_ARRAY, WORKGROUP_UNIFORM_LOAD or atomic operation.
    [[nodiscard]] Access access(ir::ExprId id) const;
    // The form of a STORE or STORE_ARRAY.
    [[nodiscard]] Access store(ir::StmtId id) const;
    [[nodiscard]] Array local_array(std::uint32_t local) const;
    // Whether a SELECT must be a branch, since accesses in its arms are in range only in the arm
    // that is taken.
    [[nodiscard]] bool branches(ir::ExprId select) const { return ranges_->guarded[select]; }

    [[nodiscard]] Bitcast bitcast(const ir::Expr& e) const;
    // The form of a FOR.
    [[nodiscard]] Loop loop(ir::StmtId id) const;
    // The lengths of the arrays in Loop::lengths, without repetitions.
    [[nodiscard]] std::vector<Leaf> least_lengths(const Loop& loop) const;
    // Sets whether the accesses in `lengths` count as in range, until the next call.
    void assume(const LoopLengths& lengths, bool in_range) {
        if (!version_) ranges_ = &version_.emplace(*ranges_);
        set_in_range(*version_, lengths, in_range);
    }

  private:
    [[nodiscard]] std::optional<std::uint64_t> literal(ir::ExprId id) const;
    [[nodiscard]] unsigned rounds_together(const ir::Stmt& s) const;
    [[nodiscard]] Loop::Unroll unrolling(const ir::Stmt& s) const;
    [[nodiscard]] bool steps_may_wrap(ir::Type type, std::uint64_t step) const;
    [[nodiscard]] Access checked(const Array& array, ir::ExprId index, bool proven,
                                 Access::Check check) const;

    const ProgramForm& program_;
    const CodeRanges* ranges_;  // the program's, or `version_`
    // The ranges for the loop that is being written, if `assume` changed them.
    std::optional<CodeRanges> version_;
    // These two members are made for the first loop.
    mutable std::vector<ir::ExprId> lets_;  // by local: the value of a let, or ir::kNone
    mutable std::optional<DataLoops> data_loops_;
};

}  // namespace wye::lower::middle
