// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program to a Routine. Expressions are split into operations on one component; uniform
// values are computed by scalar instructions, integer constants are folded, functions are inlined,
// short chains are fused, and `global_id.x + uniform` stays symbolic, so that loads and stores at
// this index are contiguous. Floats are never folded or reordered.
//
// A Compiler is used once, by one thread, on a program that the host has validated. Errors:
// LIMIT_EXCEEDED if registers or call nesting exceed a limit of this plugin, INTERNAL if an
// invariant fails. Sources: emit (instructions), builtins, memory, expressions, statements, ramps,
// subgroups.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu/compile/registers.hpp"
#include "cpu/compile/routine.hpp"
#include "cpu/compile/uniform.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::cpu {

// Fails with UNSUPPORTED if this plugin does not run a construct of the program. The error names
// the first such construct.
[[nodiscard]] Result<void> supported(const ir::Program& program);

// Whether the program uses subgroups, so that the subgroup width matters.
[[nodiscard]] bool uses_subgroups(const ir::Program& program);
// Whether the program has floating-point values.
[[nodiscard]] bool uses_floats(const ir::Program& program);
// Whether each block must be a whole workgroup.
[[nodiscard]] bool needs_group(const ir::Program& program);

struct CompileOptions {
    Geometry geometry = Geometry::Row;
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t subgroup = 0;  // the subgroup width, for programs that use subgroups
    const KernelSet* kernels = nullptr;
};
[[nodiscard]] Result<Routine> compile(const ir::Program& program, const CompileOptions& options);

// The index of a table in Frame::bound, which has buffers in binding order (`shared` included),
// then tables.
[[nodiscard]] inline std::uint32_t table_array(const ir::Program& program, std::uint32_t table) {
    return static_cast<std::uint32_t>(program.buffers.size()) + table;
}

// The type in which components of values of this kind are computed; bf16 elements are f32 values.
[[nodiscard]] constexpr Num num_of(ir::Kind kind) {
    switch (kind) {
        case ir::Kind::BOOL:
            return Num::Bool;
        case ir::Kind::I32:
        case ir::Kind::I8:
        case ir::Kind::I16:
            return Num::I32;
        case ir::Kind::I64:
            return Num::I64;
        case ir::Kind::U64:
            return Num::U64;
        case ir::Kind::F32:
        case ir::Kind::BF16:
            return Num::F32;
        case ir::Kind::F16:
            return Num::F16;
        case ir::Kind::F64:
            return Num::F64;
        default:
            return Num::U32;
    }
}

class Compiler {
  public:
    Compiler(const ir::Program& program, const CompileOptions& options, std::uint32_t lanes);
    Result<Routine> run();

  private:
    // The destination of a result: a variable's register. `masked`: only active lanes are written.
    struct Target {
        Held held;
        bool masked = false;
    };
    using Targets = std::array<Target, 4>;

    struct LocalArray {
        Held held;
        std::uint32_t count = 0;
        ir::Type type;
    };
    struct Local {
        Values values;
        LocalArray array;
        std::size_t depth = 0;  // size of control_ at the local's declaration
    };
    // For each statement, the locals that are dead after it.
    using LastUses = std::map<ir::StmtId, std::vector<std::uint32_t>>;
    // The code being compiled: main, or an inlined function.
    struct Context {
        const ir::Code* code = nullptr;
        const Uniformity* uniformity = nullptr;
        const LastUses* last_uses = nullptr;
        std::vector<Local> locals;
    };

    struct Label {
        std::vector<std::uint32_t> uses;
        std::uint32_t at = kNoSlot;
    };
    struct Mask {
        Held lanes;
        Held count;
    };
    struct Loop {
        Mask exit;
        Mask again;  // lanes that took `continue`
    };

    // -- emit: one operation on one component
    Instr& emit(Step step, Kernel kernel);
    void use(Label& label) { label.uses.push_back(here() - 1); }
    void bind(Label& label);
    [[nodiscard]] std::uint32_t here() const {
        return static_cast<std::uint32_t>(code_.instrs.size());
    }
    Held new_lanes(std::uint64_t bytes, bool variable = false);
    Held new_view(std::uint64_t bytes);
    Held new_scalar(bool variable = false);
    Held outside_scalar();  // for values that the runner sets before the program starts
    Value constant(Num num, std::uint64_t bits);
    std::uint32_t scalar(const Value& value);  // the value's index in Frame::scalars
    std::uint32_t scalar_constant(std::uint64_t bits);
    Value to_lanes(const Value& value);
    Value spread(const Value& value, const Target* to);
    Value result(Num num, Held held) const;
    Value emit_lanes(Num num, Kernel kernel, const Instr& operands, const Target* to);
    Value emit_scalar(Num num, Kernel kernel, const Instr& operands);
    Value fold(Num num, Kernel kernel, std::array<std::uint64_t, 3> operands);
    void move(const Value& value, const Target& to);
    void move_scalar(const Value& value, const Held& to);
    Value lasting(Value value);  // copies the value if it is a variable
    Value unary(Unary op, Num to, const Value& a, const Target* target = nullptr);
    Value binary(Binary op, const Value& a, const Value& b, const Target* target = nullptr);
    Value binary_lanes(Binary op, Num num, Value a, Value b, const Target* target);
    std::optional<Value> fuse(Binary op, const Value& a, const Value& b, const Target* target);
    std::optional<Value> fuse_onto(Second op, const Value& first, const Value& other,
                                   const Target* target);
    Value convert(Num to, const Value& a, const Target* target = nullptr);
    Value select(const Value& c, const Value& a, const Value& b, const Target* target = nullptr);
    Value relabel(Value value, Num num);
    // Makes a ramp of a comparison of an affine index with a uniform value; nullopt for other
    // operands.
    std::optional<Value> ramp(Binary op, const Value& a, const Value& b);
    Value ramp_not(const Value& a);
    std::optional<Value> ramp_and(const Value& a, const Value& b);
    static void set_ramps(Instr& instr, const Value& condition);

    // -- expressions
    void deeper();  // enters a level of recursion; fails beyond kDepth
    Values expr(Context& cx, ir::ExprId id, const Targets* targets = nullptr);
    Values expr_inside(Context& cx, ir::ExprId id, const Targets* targets);
    Values elementwise(Context& cx, const ir::Expr& e, const Targets* targets);
    Value operation(const ir::Expr& e, const std::array<Value, 3>& operands, const Target* target);
    Value fma(const std::array<Value, 3>& operands, const Target* target);
    Values call(Context& cx, const ir::Expr& e, const Targets* targets);
    Values bitcast(const ir::Expr& e, const Values& from);
    Value parameter(std::uint32_t index);
    unsigned turn(const Context& cx, ir::ExprId id) const;

    // -- memory
    Values load(std::uint32_t array, ir::Type element, const Value& index, const Targets* targets);
    [[nodiscard]] bool read_only(std::uint32_t array) const;
    Value view(Num num, const Instr& operands, const Value& index);
    Values load_local(const LocalArray& array, const Value& index, const Targets* targets);
    void store(std::uint32_t array, ir::Type element, const Value& index, Values values);
    bool make_direct(const Value& value, Elem& elem);
    void store_local(const LocalArray& array, const Value& index, const Values& values);
    Values atomic(Context& cx, const ir::Expr& e, const Targets* targets);
    Value length(std::uint32_t array, bool wide);

    // -- subgroups
    Values subgroup(Context& cx, const ir::Expr& e);
    Value subgroup_builtin(std::uint32_t index);

    // -- builtins
    Values builtin(std::uint32_t index);
    Value global_id(unsigned axis);
    Value local_id(unsigned axis);
    Value workgroup_id(unsigned axis);
    Value local_index();
    Value coordinate(std::uint32_t& slot);
    Value coordinate_lanes(unsigned axis);
    Value affine(std::uint32_t& slot);

    // -- statements. `end`: jump target when the block has no active lane left.
    void block(Context& cx, ir::BlockId id, Label& end);
    static void release(Context& cx, ir::StmtId id);
    void statement(Context& cx, ir::StmtId id, Label& end);
    void let(Context& cx, const ir::Stmt& s);
    void variable(Context& cx, const ir::Stmt& s);
    void local_array(Context& cx, const ir::Stmt& s);
    void assign(Context& cx, const ir::Stmt& s);
    void if_lanes(Context& cx, const ir::Stmt& s, const Value& condition);
    void if_uniform(Context& cx, const ir::Stmt& s, const Value& condition);
    void while_statement(Context& cx, ir::StmtId id);
    void for_uniform(Context& cx, ir::StmtId id, const std::array<Value, 3>& range);
    void for_lanes(Context& cx, ir::StmtId id, const std::array<Value, 3>& range);
    Mask new_mask();
    void mask_step(Step step, const Mask& mask);
    void loop_begin(Context& cx, ir::StmtId id, bool tested_by_lanes);
    void loop_body(Context& cx, ir::StmtId id);
    void loop_test(const Value& condition, Label& end);
    void loop_end(Label& end);
    // Whether a statement in the block makes lanes leave the block for good. `loop`: whether a
    // `break` or `continue` outside nested loops counts.
    static bool leaves(const ir::Code& code, ir::BlockId id, bool loop);
    // Whether the block contains an `op` outside nested loops. A `break` or `continue` there
    // belongs to the loop whose body is this block.
    static bool holds(const ir::Code& code, ir::BlockId id, ir::Op op);
    [[nodiscard]] bool divergent_since(std::size_t depth) const;
    static bool mentions(const ir::Code& code, ir::ExprId id, std::uint32_t local);
    const LastUses& last_uses(const ir::Code& code);
    void fail(wye::Code code, std::string message, std::string fix);

    // The last instruction, if it may be fused with the next operation.
    struct Fusible {
        std::uint32_t at = kNoSlot;
        First first = First::Count;
        ChainType type = ChainType::Count;
        Instr instr;
        bool scalar_b = false;
        std::uint64_t result = 0;  // the register of the result
    };

    const ir::Program& program_;
    CompileOptions options_;
    Routine code_;
    Uniformities uniformities_;
    std::unique_ptr<Room> lane_room_;
    std::unique_ptr<Room> view_room_;
    std::unique_ptr<Room> scalar_room_;
    std::map<std::uint64_t, Held> constants_;
    std::map<std::uint32_t, Held> params_;
    std::map<std::pair<std::uint32_t, bool>, Held> lengths_;
    std::map<const ir::Code*, LastUses> last_uses_;
    std::vector<Held> kept_;  // registers that live as long as the program
    std::array<Held, 3> coordinate_lanes_;
    Held mask_;
    // For each construct around the current statement: whether lanes diverge in it.
    std::vector<bool> control_;
    std::vector<Loop> loops_;
    Fusible fusible_;
    // Instructions before this one are not fused with later ones, since a label is between them.
    std::uint32_t fuse_from_ = 0;
    std::uint32_t behind_load_ = 0;  // one past the last instruction that reads an array
    unsigned depth_ = 0;             // levels of recursion, see deeper()
    std::optional<Error> error_;
};

}  // namespace wye::cpu
