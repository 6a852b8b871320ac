// SPDX-License-Identifier: Apache-2.0
//
// Writes the statements of main or of one function. Vectors are separate scalars, so each scalar
// operation is written once. A let is a list of SSA ids; a var is one Function variable per
// component. Used by one thread, once.
#pragma once

#include <array>

#include "lower/analysis/launch_values.hpp"
#include "lower/quirks/deep_values.hpp"
#include "lower/spirv/builder.hpp"

namespace wye::lower {

// A value, with one id per component.
struct SpirvValue {
    std::array<Id, 4> c{};
    std::uint8_t lanes = 1;
};

class SpirvWriter {
  public:
    SpirvWriter(SpirvContext& context, SpirvSource& source, std::uint32_t function);

    // Writes main and returns its words.
    Words main(Id id);
    // Writes the function and returns its words.
    Words function(Id id);

  private:
    struct Loop {
        Id merge, next;
        Id flag = 0;  // tells whether the driver ended the loop; 0 if the loop is not watched
    };

    // Expressions (spirv/write_expr.cpp)
    SpirvValue value(ir::ExprId id);
    SpirvValue local(const ir::Expr& e);
    SpirvValue built_in(const ir::Expr& e, unsigned wanted);
    SpirvValue component(const ir::Expr& e);
    SpirvValue operation(const ir::Expr& e);
    SpirvValue branch(const ir::Expr& e);
    [[nodiscard]] bool branches(ir::ExprId id) const;
    SpirvValue bitcast(const ir::Expr& e);
    void hide_one(ir::Type to, ir::ExprId from, SpirvValue& v);
    SpirvValue call(const ir::Expr& e);

    // Memory (spirv/write_memory.cpp, spirv/write_atomic.cpp)
    struct Index {
        Id at = 0;  // u32, in range where `ok` is true; for loads 0 elsewhere
        Id ok = 0;  // 0 if the index is in range
    };
    SpirvArray held(const middle::Array& array);
    Index index(const middle::Access& access);
    Id element(const SpirvArray& array, Id at, unsigned component);
    std::array<Id, 4> read(const SpirvArray& array, Id at);
    // A component within a word of 32 bits.
    struct Part {
        Id word, shift;      // a pointer; bits
        std::uint32_t mask;  // before it is shifted
    };
    Part part(const SpirvArray& array, Id at, unsigned component);
    Id read_part(const SpirvArray& array, Id at, unsigned component);
    void write_part(const SpirvArray& array, Id at, unsigned component, Id bits);
    std::array<Id, 4> from_words(const middle::Array& form, Id words);
    Id in_words(const SpirvArray& array, std::span<const Id> parts);
    Id loaded(const SpirvArray& array, Id cell);
    SpirvValue load(const middle::Access& access);
    void store(const middle::Access& access, ir::ExprId value_id);
    void write(const SpirvArray& array, Id at, const SpirvValue& v, middle::FormKey stored);
    SpirvValue effect(ir::ExprId id);
    SpirvValue subgroup(const ir::Expr& e);
    Id atomic(ir::ExprId id);
    Id atomic_operation(ir::Op op, const middle::Array& form, Id pointer,
                        std::span<const Id> operands);
    Id float_add(const middle::Array& form, Id pointer, Id operand);

    // Statements (spirv/write_stmt.cpp)
    void block(ir::BlockId id);
    void statement(ir::StmtId id);
    void declare(const ir::Stmt& s);
    void assign(const ir::Stmt& s);
    void declare_array(const ir::Stmt& s);
    [[nodiscard]] bool leaves(ir::BlockId block) const;
    void if_statement(const ir::Stmt& s);
    void while_statement(const ir::Stmt& s);
    void trap(std::uint32_t code);
    void zero_shared();
    void zero_own(const SpirvArray& array, const SharedStart& start);
    void leave_surplus_workgroups();
    void leave_surplus_lanes();
    void leave_if(Id surplus);
    // Stores zeros. `first` is the number of this invocation, which is below the stride.
    void fill(const SpirvArray& array, Id first, const middle::Fill& fill);
    SpirvValue right_side(ir::ExprId id) {
        return ir::op_effect(code_.exprs[id].op) ? effect(id) : value(id);
    }
    // Counted loops (spirv/write_loop.cpp)
    struct Counted {
        Id first, end, step;  // the step is at least 1
    };
    void for_statement(ir::StmtId id);
    [[nodiscard]] std::uint32_t loop_control(const ir::Stmt& loop) const;
    Id loop_value(middle::FormKey key, std::initializer_list<Id> operands);
    Id groups_of_rounds(const ir::Stmt& s, const middle::Loop& form, const Counted& counted);
    void counted_loop(const ir::Stmt& s, const middle::Loop& form, const Counted& counted);
    // Loops that the driver may end (spirv/write_watch.cpp)
    Id watch();                                // before the loop; returns its flag
    Id way_out(const Loop& loop);              // the block to branch to when the loop's test fails
    void leave(const Loop& loop, Id way_out);  // writes that block
    void leave(const Loop& loop);              // leaves from inside the loop's body
    void close(const Loop& loop);              // opens the block after the loop
    [[nodiscard]] Id zero(ir::Kind kind) { return module_.literal(kind, 0); }

    SpirvContext& context_;
    SpirvSource& source_;
    SpirvModule& module_;
    // Returns a component of the value of `id`. If the value is deep (see DeepValues) or `always`
    // is set, the driver's search is made to end there.
    Id shallow(ir::ExprId id, Id component, bool always = false);
    void hide_literals(ir::Kind kind, SpirvValue& v);
    // Returns the value to store to memory or a variable. `known`: the driver's search is always
    // made to end there.
    SpirvValue stored_value(ir::ExprId id, bool known = false);

    const std::uint32_t function_;
    const ir::Code& code_;
    middle::CodeForm form_;
    const DeepValues deep_;
    const LaunchValues launch_values_;
    SpirvBuilder b_;
    std::vector<SpirvValue> locals_;  // by local: its value, or the variables of a var or array

    std::vector<Loop> loops_;
};

// Returns the id of a function, which is written at the first call. Its callees are already
// written, or are in the library, whose calls do not nest deeply.
[[nodiscard]] Id spirv_function(SpirvContext& context, SpirvSource& source, std::uint32_t index);

}  // namespace wye::lower
