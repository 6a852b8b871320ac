// SPDX-License-Identifier: Apache-2.0
//
// Writes the statements of main or of one function as C. Vectors are written as separate scalars
// (`v3x`, `v3y`), so dialects need only scalar operators. Used by one thread, once.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lower/analysis/launch_values.hpp"
#include "lower/c/words.hpp"
#include "lower/middle/walk.hpp"
#include "lower/quirks/early_lanes.hpp"
#include "lower/quirks/negations.hpp"
#include "lower/quirks/powers.hpp"

namespace wye::lower {

// A value as C expressions. Deeply nested expressions are split by named temporaries.
using CValue = middle::Value<std::string>;

// The region of main being written.
struct OpenRegion {
    std::size_t start = 0;         // position in the text
    OuterSet ids;                  // invocation ids that the region uses
    std::set<std::uint32_t> lets;  // lets that the region computes again
    bool left = false;             // whether an invocation may jump to the region's end
};

// A mark in main's text where `shared` arrays become zero again. The caller of main() replaces the
// mark.
inline constexpr std::string_view kZeroShared = "@zero@\n";
// The kernel's argument for WYE_SLOT_GRID_BARRIER.
inline constexpr const char* kGridBarrier = "gb";

class CWriter : public middle::Walk<CWriter, std::string> {
    friend Walk;

  public:
    // `function` is a function index, or ir::kNone for main. If the code has regions, one
    // invocation runs the whole workgroup.
    CWriter(CModule& module, std::uint32_t function);

    void main();
    void block(ir::BlockId id);
    // Writes the function's return statement.
    void return_result();

    [[nodiscard]] const std::string& text() const { return out_; }
    [[nodiscard]] const OuterSet& outer() const { return outer_; }
    // The f64 constants that the text reads from an array of this name.
    [[nodiscard]] const std::vector<std::uint64_t>& constants() const { return constants_; }
    [[nodiscard]] std::string constants_name() const { return "k" + std::to_string(function_); }
    [[nodiscard]] bool has_grid_barrier() const { return has_grid_barrier_; }
    std::string local_name(std::uint32_t local, unsigned component);

  private:
    using Operands = std::span<const std::string>;

    // Expressions (c/write_expr.cpp)
    std::string leaf(const middle::Leaf& leaf);
    CValue local(const ir::Expr& e);
    CValue branch(const ir::Expr& e);
    CValue call(const ir::Expr& e);
    std::string form(middle::FormKey key, Operands operands) {
        return c_form(module_, key, operands);
    }
    std::string operate(ir::Op op, ir::Kind kind, Operands operands) {
        return scalar_operation(module_, op, kind, operands);
    }
    static std::string select(const std::string& condition, const std::string& yes,
                              const std::string& no) {
        return "(" + condition + " ? " + yes + " : " + no + ")";
    }
    static std::string any_or_all(ir::Op op, const CValue& v);
    std::string bits(ir::Kind from, ir::Kind to, const std::string& text);
    bool written(ir::ExprId id, CValue& v) { return moved_bytes(id, v) || hide_value(id, v); }
    bool moved_bytes(ir::ExprId id, CValue& v);

    // Constants (c/write_hidden.cpp)
    std::string late_zero(ir::Type type);
    void hide_operands(const ir::Expr& e, Operation& made);
    static void hide_integer(CValue& v, const std::string& zero);
    void hide_float(CValue& v, ir::Kind kind);
    bool hide_value(ir::ExprId id, CValue& v);
    void hide_zero(ir::ExprId id, CValue& v);
    bool by_reciprocal(ir::ExprId id, CValue& divisor);
    void hide_negated_bits(std::span<const ir::ExprId> ids, Operation& made);
    void hide_constants(std::span<const ir::ExprId> ids, Operation& made);

    // Memory (c/write_memory.cpp)
    struct Index {
        std::string array;  // a pointer to the array's first component or packed element
        std::string at;     // a valid subscript where `ok` is true; for loads 0 elsewhere
        std::string ok;     // empty if the index is in range
    };
    std::string name_of_array(const middle::Array& array);
    Index index(const middle::Access& access);
    std::string element(const middle::Array& array, const Index& index, unsigned component) const;
    std::string loaded(const middle::Array& array, const std::string& cell);
    CValue load(const middle::Access& access);
    void store(const middle::Access& access, ir::ExprId value_id);
    std::string stored(const middle::Access& access, const std::string& text);
    std::string atomic(ir::ExprId id, bool wanted);
    std::string add_float(const middle::Array& array, const std::string& pointer,
                          const std::string& value);
    void ballot(CValue& v, const std::string& condition);

    // Statements (c/write_stmt.cpp)
    void begin(const ir::Stmt& s) { place_ = s.place; }
    void declare(const ir::Stmt& s);
    void assign(const ir::Stmt& s);
    void declare_array(const ir::Stmt& s);
    void if_statement(const ir::Stmt& s);
    // Returns a test such as "wg0 * 64u + 63u < n2" which shows that the condition of `s` holds for
    // the whole workgroup, or an empty string if there is no such test.
    std::string whole_workgroup(const ir::Stmt& s);
    void while_statement(const ir::Stmt& s);
    void barrier();
    void other(const ir::Stmt& s);

    // Counted loops (c/write_loop.cpp)
    struct Counted {
        std::string first, end, step;
    };
    void for_statement(ir::StmtId id);
    std::string loop_value(middle::FormKey key, ir::Kind kind,
                           const std::vector<std::string>& operands);
    std::string less(const middle::Loop& loop, const std::string& a, const std::string& b);
    void groups_of_rounds(const ir::Stmt& s, const middle::Loop& loop, const Counted& counted);
    void counted_loop(const ir::Stmt& s, const middle::Loop& loop, const Counted& counted);
    std::string in_range(const middle::Loop& loop, const Counted& counted);

    // Blocks, regions and jumps (c/write_flow.cpp)
    void inner_block(ir::BlockId id);
    void jump(ir::Op op);
    void trap(ir::StmtId id);
    void part(ir::StmtId id);
    void before_region(ir::StmtId id);
    void open_region();
    void close_region();
    std::string region_head();
    void define_kept();
    void check_stack();
    [[nodiscard]] bool unchanging(ir::ExprId id) const;

    // Text
    void line(const std::string& text);
    std::string temporary(ir::Kind kind, const std::string& text);
    std::string atom(ir::Kind kind, const std::string& text);
    std::string outer(Outer::Kind kind, std::uint32_t index = 0);
    [[nodiscard]] std::string base_name(std::uint32_t local, unsigned component) const;
    std::string comment(const std::string& name) const;

    CModule& module_;
    std::uint64_t kept_bytes_ = 0;  // set by define_kept
    const LaunchValues launch_values_;
    const Negations negations_;
    const Powers powers_;
    const EarlyLanes early_lanes_;
    OuterSet outer_;
    std::vector<std::uint64_t> constants_;
    std::string out_;
    unsigned indent_ = 1;
    unsigned temporaries_ = 0;
    ir::Place place_;  // of the statement being written

    const middle::Regions& regions_;
    std::optional<OpenRegion> region_;
    unsigned region_count_ = 0;
    // The number of enclosing blocks that the workgroup runs together, without main's block.
    unsigned blocks_together_ = 0;
    bool has_grid_barrier_ = false;
    bool some_ended_ = false;  // whether an invocation may end while others continue
};

extern template class middle::Walk<CWriter, std::string>;

// Whether the text is a name or a number, which can be repeated at no cost.
[[nodiscard]] bool is_atom(const std::string& text);
// Returns the text without an outer pair of parentheses.
[[nodiscard]] std::string bare(const std::string& text);

}  // namespace wye::lower
