// SPDX-License-Identifier: Apache-2.0
//
// The walk over the statements and expressions of main or of one function, shared by all writers:
// the order in which parts are evaluated, and which form is applied to which lane. A writer derives
// from it and spells scalars, memory and control flow. Used by one thread, once.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "lower/middle/code.hpp"

namespace wye::lower::middle {

// A value of the program: a scalar of the writer's language for each lane.
template <typename Scalar>
struct Value {
    std::array<Scalar, 4> c{};
    std::uint8_t lanes = 1;
    unsigned depth = 0;  // number of nested operations
};

// An operation, conversion or bitcast whose operands are evaluated, and which is still to be
// applied to each lane.
template <typename Scalar>
struct Operation {
    ir::Op op = ir::Op::None;
    std::size_t count = 0;  // number of operands
    std::array<Value<Scalar>, 4> operands{};
};

// `Writer` derives from Walk<Writer, Scalar> and has these members:
// - local, load, call, branch (a SELECT whose arms must not both be evaluated): spell a value;
// - leaf, form (applies a form), operate (an operation, native ones included), select, any_or_all,
//   bits (a bitcast), atomic: spell a scalar;
// - barrier, trap, jump (BREAK, CONTINUE, RETURN), declare, declare_array, assign, store, ballot,
//   if_statement, for_statement, while_statement, other: write a statement.
// A writer may replace the members under "Choices" by its own.
template <typename Writer, typename Scalar>
class Walk {
  protected:
    using Kind = ir::Kind;
    using Op = ir::Op;
    using Value = middle::Value<Scalar>;
    using Operation = middle::Operation<Scalar>;

    // `function` is a function index, or ir::kNone for main. `form` must outlive the walk.
    Walk(const ProgramForm& form, std::uint32_t function, const Sizes& sizes)
        : program_(form.program),
          function_(function),
          form_(form, function),
          code_(form_.code),
          sizes_(sizes) {}

    // ---- Choices ------------------------------------------------------------------------------

    void begin(const ir::Stmt&) {}  // called before each statement
    // Returns a scalar that can be repeated at no cost.
    Scalar atom(Kind, const Scalar& scalar) { return scalar; }
    // Writes an expression in the writer's own way. Returns false if nothing was written.
    bool written(ir::ExprId, Value&) { return false; }
    // Change operands or the result for quirks.
    void hide_operands(const ir::Expr&, Operation&) {}
    void hide_result(const ir::Expr&, Value&) {}

    // ---- Expressions: pure and total, so any part may be computed before its statement ----------

    Value value(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        Value v;
        if (is_leaf(e.op)) {
            v.c[0] = self().leaf(leaf_of(program_, code_, e));
            return v;
        }
        switch (e.op) {
            case Op::LOCAL:
                return self().local(e);
            case Op::BUILTIN:
                return built_in(e, ~0U);
            case Op::LOAD:
            case Op::LOAD_TABLE:
            case Op::LOAD_ARRAY:
                v = self().load(form_.access(id));
                break;
            case Op::CALL:
                v = self().call(e);
                break;
            case Op::COMPONENT:
                v = component(e);
                break;
            case Op::BITCAST:
                v = bitcast(e);
                break;
            default:
                if (self().written(id, v)) break;
                v = form_.branches(id) ? self().branch(e) : operation(e);
                break;
        }
        if (v.depth > kMostDepth) settle(v, e.type);
        return v;
    }

    // The value of a statement's right side: an effect or an expression.
    Value right_side(ir::ExprId id) {
        return ir::op_effect(code_.exprs[id].op) ? effect(id, true) : value(id);
    }

    // An operation or a conversion.
    Value operation(const ir::Expr& e) {
        Operation made = evaluated(e);
        const auto part = [&](std::size_t operand, unsigned lane) -> Scalar& {
            Value& from = made.operands[operand];
            return from.c[from.lanes == 1 ? 0 : lane];
        };
        const Kind kind = operand_kind(e);
        Value v;
        v.lanes = e.type.lanes;
        for (const Value& each : made.operands) v.depth = std::max(v.depth, each.depth + 1);
        switch (made.op) {
            case Op::CONSTRUCT:
                for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = part(k, 0);
                return v;
            case Op::SPLAT:
                part(0, 0) = self().atom(kind, part(0, 0));
                for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = part(0, 0);
                return v;
            case Op::SELECT:
                if (v.lanes > made.operands[0].lanes)
                    part(0, 0) = self().atom(Kind::BOOL, part(0, 0));
                for (unsigned k = 0; k < v.lanes; ++k)
                    v.c[k] = self().select(part(0, k), part(1, k), part(2, k));
                return v;
            case Op::ANY:
            case Op::ALL:
                v.c[0] = self().any_or_all(made.op, made.operands[0]);
                return v;
            default:
                break;
        }
        for (unsigned k = 0; k < v.lanes; ++k) {
            std::array<Scalar, 3> all{};
            for (std::size_t i = 0; i < made.count; ++i)
                all[i] = v.lanes == 1 ? std::move(part(i, k)) : part(i, k);
            const auto parts = std::span<const Scalar>(all).first(made.count);
            v.c[k] = made.op == Op::CONVERT ? self().form(conversion(kind, e.type.kind), parts)
                                            : self().operate(made.op, kind, parts);
        }
        self().hide_result(e, v);
        return v;
    }

    // Replaces every component by a scalar that can be repeated at no cost.
    void settle(Value& v, ir::Type type) {
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = self().atom(type.kind, v.c[k]);
        v.depth = 0;
    }

    // ---- Effects and statements ---------------------------------------------------------------

    Value effect(ir::ExprId id, bool wanted) {
        const ir::Expr& e = code_.exprs[id];
        Value v;
        if (ir::op_atomic(e.op)) {
            v.c[0] = self().atomic(id, wanted);
        } else if (e.op == Op::WORKGROUP_UNIFORM_LOAD) {
            self().barrier();
            v = self().load(form_.access(id));
            settle(v, e.type);
            self().barrier();
        } else {
            v = subgroup(e);
        }
        return v;
    }

    void block(ir::BlockId id) {
        for (const ir::StmtId each : code_.blocks[id]) statement(each);
    }

    void statement(ir::StmtId id) {
        const ir::Stmt& s = code_.stmts[id];
        self().begin(s);
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
            case Op::VAR_ZERO:
                return self().declare(s);
            case Op::VAR_ARRAY:
                return self().declare_array(s);
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
                return self().assign(s);
            case Op::STORE:
            case Op::STORE_ARRAY:
                return self().store(form_.store(id), s.args[1]);
            case Op::EFFECT:
                effect(s.args[0], false);
                return;
            case Op::IF:
                return self().if_statement(s);
            case Op::FOR:
                return self().for_statement(id);
            case Op::WHILE:
                return self().while_statement(s);
            case Op::BREAK:
            case Op::CONTINUE:
            case Op::RETURN:
                return self().jump(s.op);
            case Op::BARRIER:
                return self().barrier();
            case Op::TRAP:
                return self().trap(id);
            default:
                return self().other(s);
        }
    }

    const ir::Program& program_;
    const std::uint32_t function_;
    CodeForm form_;
    const ir::Code& code_;
    const Sizes sizes_;

  private:
    // The maximum depth of a Value. Each operation nests a few parentheses; compilers fail at 256.
    static constexpr unsigned kMostDepth = 16;

    Writer& self() { return static_cast<Writer&>(*this); }
    [[nodiscard]] Kind operand_kind(const ir::Expr& e) const {
        return code_.exprs[code_.operands_of(e)[0]].type.kind;
    }

    // Makes the components in `wanted` (one bit each). The other components stay empty and count as
    // unused.
    Value built_in(const ir::Expr& e, unsigned wanted) {
        Value v;
        v.lanes = e.type.lanes;
        for (unsigned k = 0; k < v.lanes; ++k)
            if ((wanted >> k & 1U) != 0) v.c[k] = self().leaf(middle::built_in(e.imm, k, sizes_));
        return v;
    }

    Value component(const ir::Expr& e) {
        const ir::ExprId id = code_.operands_of(e)[0];
        const ir::Expr& from = code_.exprs[id];
        Value v = from.op == Op::BUILTIN ? built_in(from, 1U << e.imm) : value(id);
        v.c[0] = v.c[e.imm];
        v.lanes = 1;
        return v;
    }

    Operation evaluated(const ir::Expr& e) {
        const auto ids = code_.operands_of(e);
        Operation made{e.op, ids.size(), {}};
        for (std::size_t k = 0; k < ids.size(); ++k) made.operands[k] = value(ids[k]);
        self().hide_operands(e, made);
        return made;
    }

    Value bitcast(const ir::Expr& e) {
        const Bitcast cast = form_.bitcast(e);
        const Kind kind = operand_kind(e);
        Operation made = evaluated(e);
        Value& from = made.operands[0];
        Value v;
        v.lanes = e.type.lanes;
        v.depth = from.depth + 2;
        if (v.lanes > from.lanes) from.c[0] = self().atom(kind, from.c[0]);
        for (unsigned k = 0; k < v.lanes; ++k) {
            if (!cast.plain()) {
                v.c[k] = apply(cast.parts[k], from.c, from.lanes);
                continue;
            }
            if (cast.canonical != kNoKey)
                from.c[k] = self().form(cast.canonical, std::span<const Scalar>(&from.c[k], 1));
            v.c[k] = self().bits(kind, e.type.kind, from.c[k]);
        }
        self().hide_result(e, v);
        return v;
    }

    Value subgroup(const ir::Expr& e) {
        std::array<Scalar, 4> operands{};
        std::size_t count = 0;
        for (const ir::ExprId id : code_.operands_of(e))
            operands[count++] = self().atom(code_.exprs[id].type.kind, value(id).c[0]);
        Value v;
        v.lanes = e.type.lanes;
        if (e.op == Op::SUBGROUP_BALLOT) {
            self().ballot(v, operands[0]);
            return v;
        }
        if (e.op == Op::SUBGROUP_INCLUSIVE_ADD || e.op == Op::SUBGROUP_EXCLUSIVE_ADD)
            operands[count++] = self().leaf({.outer = Outer::SubgroupLane});
        const FormKey key = middle::subgroup(e.op, operand_kind(e));
        v.c[0] = self().atom(e.type.kind, apply(key, operands, count));
        return v;
    }

    Scalar apply(FormKey key, const std::array<Scalar, 4>& operands, std::size_t count) {
        return self().form(key, std::span<const Scalar>(operands).first(count));
    }
};

}  // namespace wye::lower::middle
