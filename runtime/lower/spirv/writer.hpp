// SPDX-License-Identifier: Apache-2.0
//
// Writes the statements of main or of one function. Vectors are separate scalars, so each scalar
// operation is written once. A let is a list of SSA ids; a var is one Function variable per
// component. Used by one thread, once.
#pragma once

#include <array>

#include "lower/analysis/launch_values.hpp"
#include "lower/middle/walk.hpp"
#include "lower/quirks/deep_values.hpp"
#include "lower/spirv/words.hpp"

namespace wye::lower {

using SpirvValue = middle::Value<Id>;

class SpirvWriter : public middle::Walk<SpirvWriter, Id> {
    friend Walk;

  public:
    SpirvWriter(SpirvContext& context, SpirvSource& source, std::uint32_t function);

    // Writes main and returns its words.
    Words main(Id id);
    // Writes the function and returns its words.
    Words function(Id id);

  private:
    struct Loop {
        Id merge, next;  // the blocks after the loop, and after each iteration
        Id flag = 0;     // tells whether the driver ended the loop; 0 if it is not watched
        Id before = 0, header = 0, body = 0;  // blocks
    };

    // Expressions (spirv/write_expr.cpp)
    Id leaf(const middle::Leaf& leaf) { return b_.leaf(leaf); }
    SpirvValue local(const ir::Expr& e);
    SpirvValue branch(const ir::Expr& e);
    [[nodiscard]] bool branches(ir::ExprId id) const;
    SpirvValue call(const ir::Expr& e);
    Id form(middle::FormKey key, std::span<const Id> operands) {
        return spirv_form(b_, key, operands);
    }
    Id operate(ir::Op op, ir::Kind kind, std::span<const Id> operands) {
        // The device's fma on f32 may treat subnormal numbers as zero. In definitions of math
        // functions, this does not change a result.
        if (op == ir::Op::FMA && kind == Kind::F32 && code_.math_definition)
            return b_.exact_glsl(GLSLstd450Fma, kind, {operands[0], operands[1], operands[2]});
        return spirv_operation(b_, op, kind, operands);
    }
    Id select(Id condition, Id yes, Id no) { return b_.select(condition, yes, no); }
    Id any_or_all(ir::Op op, const SpirvValue& v);
    Id bits(ir::Kind, ir::Kind to, Id value) { return b_.bitcast(value, module_.value_type(to)); }
    void hide_result(const ir::Expr& e, SpirvValue& v);

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
        Id word, shift;      // pointer to the word; shift in bits
        std::uint32_t mask;  // the component's bits, before the shift
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
    void ballot(SpirvValue& v, Id condition);
    Id atomic(ir::ExprId id, bool wanted);
    Id atomic_operation(ir::Op op, const middle::Array& form, Id pointer,
                        std::span<const Id> operands);
    Id float_add(const middle::Array& form, Id pointer, Id operand);

    // Statements (spirv/write_stmt.cpp)
    void declare(const ir::Stmt& s);
    void assign(const ir::Stmt& s);
    void declare_array(const ir::Stmt& s);
    [[nodiscard]] bool leaves(ir::BlockId block) const;
    void if_statement(const ir::Stmt& s);
    void while_statement(const ir::Stmt& s);
    void barrier() { b_.barrier(); }
    void jump(ir::Op op);
    void trap(ir::StmtId id);
    void record_trap(std::uint32_t code);
    void other(const ir::Stmt& s) { context_.refuse(ir::op_text(s.op)); }
    void zero_shared();
    void zero_own(const SpirvArray& array, const SharedStart& start);
    void leave_surplus_workgroups();
    void leave_surplus_lanes();
    void leave_if(Id surplus) {
        when(surplus, [&] { jump(ir::Op::RETURN); });
    }
    // Stores zeros. `first` is the number of this invocation, which is below the stride.
    void fill(const SpirvArray& array, Id first, const middle::Fill& fill);
    // Counted loops (spirv/write_loop.cpp)
    struct Counted {
        Id first, end, step;  // the step is at least 1
    };
    void for_statement(ir::StmtId id);
    [[nodiscard]] std::uint32_t loop_control(const ir::Stmt& loop) const;
    Id loop_value(middle::FormKey key, std::initializer_list<Id> operands);
    Id groups_of_rounds(const ir::Stmt& s, const middle::Loop& form, const Counted& counted);
    void counted_loop(const ir::Stmt& s, const middle::Loop& form, const Counted& counted);
    // Loops, which are watched if the driver may end them (spirv/write_watch.cpp)
    Loop open_loop(bool has_body = true);  // opens the header
    // The value of a counter in the header: `first`, and after each iteration `next`.
    Id counter(const Loop& loop, Id first, Id next);
    // Ends the header, whose OpLoopMerge is written already, and opens the body, which runs if
    // `goes_on`.
    void open_body(const Loop& loop, Id goes_on);
    void end_body(const Loop& loop);                 // opens the continue block
    void body(const Loop& loop, ir::BlockId block);  // writes the body and ends it
    Id watch();                                      // sets a flag before the loop; returns it
    Id way_out(const Loop& loop);              // the block to branch to when the loop's test fails
    void leave(const Loop& loop, Id way_out);  // writes the block way_out
    void leave(const Loop& loop);              // leaves from inside the loop's body
    void close(const Loop& loop);  // from the continue block: opens the block after the loop
    // Writes a block that runs if the condition holds.
    template <typename Act>
    void when(Id condition, const Act& act) {
        const Id inside = module_.fresh();
        const Id after = module_.fresh();
        b_.selection(condition, inside, after, after);
        b_.open(inside);
        act();
        if (!b_.ended()) b_.branch(after);
        b_.open(after);
    }
    [[nodiscard]] Id zero(ir::Kind kind) { return module_.literal(kind, 0); }

    SpirvContext& context_;
    SpirvSource& source_;
    SpirvModule& module_;
    // Returns a component of the value of `id`. If the value is deep (see DeepValues) or `always`
    // is set, the component is hidden, so that the driver's search ends there.
    Id shallow(ir::ExprId id, Id component, bool always = false);
    void hide_literals(ir::Kind kind, SpirvValue& v);
    // Returns the value to store to memory or a variable. `known`: the value is always hidden, so
    // that the driver's search ends there.
    SpirvValue stored_value(ir::ExprId id, bool known = false);

    const DeepValues deep_;
    const LaunchValues launch_values_;
    SpirvBuilder b_;
    std::vector<SpirvValue> locals_;  // by local: its value, or the variables of a var or array

    std::vector<Loop> loops_;
};

extern template class middle::Walk<SpirvWriter, Id>;

// Returns the id of a function. Writes the function when its id is first asked for. This does not
// recurse deeply: callees are written before their callers, or are in the library, whose calls do
// not nest deeply.
[[nodiscard]] Id spirv_function(SpirvContext& context, SpirvSource& source, std::uint32_t index);

}  // namespace wye::lower
