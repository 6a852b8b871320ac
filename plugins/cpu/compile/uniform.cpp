// SPDX-License-Identifier: Apache-2.0
#include "cpu/compile/uniform.hpp"

#include <algorithm>

namespace wye::cpu {
namespace {

using ir::Op;

constexpr Lanes kAll = 0xf;

// A control-flow construct around the current statement.
struct Construct {
    bool loop = false;
    bool divergent = false;
    ir::StmtId stmt = 0;
};

class Analysis {
  public:
    Analysis(Uniformities& functions, Geometry geometry,
             const std::array<std::uint32_t, 3>& workgroup, const ir::Code& code)
        : functions_(functions), geometry_(geometry), workgroup_(workgroup), code_(code) {
        out_.exprs.assign(code.exprs.size(), 0);
        out_.locals.assign(code.locals.size(), 0);
        out_.loops.assign(code.stmts.size(), false);
        depth_.assign(code.locals.size(), 0);
    }

    Uniformity run(const std::vector<Lanes>& arguments) {
        std::copy(arguments.begin(), arguments.end(), out_.locals.begin());
        // Loops carry values backwards, so several passes may be needed. If kPasses are not enough,
        // the conservative result is used: everything differs between lanes.
        for (int pass = 0; pass < kPasses; ++pass) {
            changed_ = false;
            block(code_.root);
            if (code_.result != ir::kNone) out_.result = visit(code_.result);
            if (!changed_) return std::move(out_);
        }
        return careful();
    }

    Uniformity careful() {
        std::fill(out_.exprs.begin(), out_.exprs.end(), kAll);
        std::fill(out_.locals.begin(), out_.locals.end(), kAll);
        std::fill(out_.loops.begin(), out_.loops.end(), true);
        out_.result = kAll;
        return std::move(out_);
    }

  private:
    static constexpr int kPasses = 32;

    // Visits operands first. The language limits the depth of the recursion.
    Lanes visit(ir::ExprId id) {
        for (const ir::ExprId operand : code_.operands_of(id)) visit(operand);
        return out_.exprs[id] = expr(id);
    }

    [[nodiscard]] Lanes whole(Lanes of, ir::Type type) const {
        return of == 0 ? Lanes{0} : static_cast<Lanes>((1U << type.lanes) - 1U);
    }

    Lanes expr(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        const auto operands = code_.operands_of(e);
        const auto of = [&](std::size_t n) { return out_.exprs[operands[n]]; };
        switch (e.op) {
            case Op::LITERAL:
            case Op::PARAM:
            case Op::LEN:
            case Op::LEN64:
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
                return 0;
            case Op::BUILTIN:
                return builtin_lanes(geometry_, workgroup_, e.imm);
            case Op::LOCAL:
                return out_.locals[static_cast<std::size_t>(e.extra)];
            case Op::LOAD:
            case Op::LOAD_TABLE:
            case Op::WORKGROUP_UNIFORM_LOAD:
                return whole(of(0), e.type);
            case Op::LOAD_ARRAY:
                return kAll;
            case Op::CALL: {
                std::vector<Lanes> arguments;
                for (std::size_t n = 0; n < operands.size(); ++n) arguments.push_back(of(n));
                return functions_.function(e.imm, arguments).result;
            }
            case Op::CONSTRUCT: {
                unsigned lanes = 0;
                for (std::size_t n = 0; n < operands.size(); ++n)
                    if (of(n) != 0) lanes |= 1U << n;
                return static_cast<Lanes>(lanes);
            }
            case Op::COMPONENT:
                return (of(0) >> e.imm) & 1U;
            case Op::SELECT:
                if (code_.exprs[operands[0]].type.lanes == 1 && of(0) != 0) return whole(1, e.type);
                return static_cast<Lanes>((e.type.lanes == 1 || of(0) == 0 ? 0 : of(0)) | of(1) |
                                          of(2));
            case Op::SPLAT:
            case Op::BITCAST:
            case Op::ANY:
            case Op::ALL:
                return whole(operands.empty() ? Lanes{0} : of(0), e.type);
            default:
                break;
        }
        if (ir::op_effect(e.op)) return kAll;
        Lanes lanes = 0;
        for (std::size_t n = 0; n < operands.size(); ++n) {
            // A scalar shift count or condition of a vector operation affects every component.
            const bool spread = code_.exprs[operands[n]].type.lanes == 1;
            lanes |= spread ? whole(of(n), e.type) : of(n);
        }
        return lanes;
    }

    void raise(std::uint32_t local, Lanes lanes) {
        const auto type = code_.locals[local].type;
        lanes &= static_cast<Lanes>((1U << type.lanes) - 1U);
        if ((out_.locals[local] | lanes) == out_.locals[local]) return;
        out_.locals[local] |= lanes;
        changed_ = true;
    }

    void declare(std::uint32_t local, Lanes lanes) {
        depth_[local] = stack_.size();
        raise(local, lanes);
    }

    // Whether some lanes in the variable's scope may skip an assignment at the current statement.
    [[nodiscard]] bool divergent_since(std::size_t depth) const {
        return std::any_of(stack_.begin() + static_cast<std::ptrdiff_t>(depth), stack_.end(),
                           [](const Construct& c) { return c.divergent; });
    }

    void leave_loop() {
        bool divergent = false;
        for (std::size_t n = stack_.size(); n-- > 0;) {
            if (stack_[n].loop) {
                if (divergent && !out_.loops[stack_[n].stmt]) {
                    out_.loops[stack_[n].stmt] = true;
                    changed_ = true;
                }
                return;
            }
            divergent = divergent || stack_[n].divergent;
        }
    }

    void inside(const Construct& construct, ir::BlockId body) {
        stack_.push_back(construct);
        block(body);
        stack_.pop_back();
    }

    void block(ir::BlockId id) {
        if (id == ir::kNone) return;
        for (const ir::StmtId stmt : code_.blocks[id]) statement(stmt);
    }

    Lanes value(const ir::Stmt& s, std::size_t n) {
        return s.args[n] == ir::kNone ? Lanes{0} : visit(s.args[n]);
    }

    void statement(ir::StmtId id) {
        const ir::Stmt& s = code_.stmts[id];
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
                declare(s.local, value(s, 0));
                break;
            case Op::VAR_ZERO:
                declare(s.local, 0);
                break;
            case Op::VAR_ARRAY:
                declare(s.local, kAll);
                break;
            case Op::ASSIGN:
                raise(s.local, value(s, 0) | (divergent_since(depth_[s.local]) ? kAll : 0));
                break;
            case Op::ASSIGN_COMPONENT:
                if (value(s, 0) != 0 || divergent_since(depth_[s.local]))
                    raise(s.local, static_cast<Lanes>(1U << s.imm));
                break;
            case Op::IF: {
                const bool divergent = value(s, 0) != 0;
                inside({false, divergent, id}, s.body);
                inside({false, divergent, id}, s.otherwise);
                break;
            }
            case Op::FOR:
            case Op::WHILE: {
                Lanes lanes = value(s, 0);
                if (s.op == Op::FOR) {
                    lanes |= value(s, 1) | value(s, 2);
                    declare(s.local, lanes);
                }
                if (lanes != 0 && !out_.loops[id]) {
                    out_.loops[id] = true;
                    changed_ = true;
                }
                inside({true, out_.loops[id], id}, s.body);
                break;
            }
            case Op::BREAK:
            case Op::CONTINUE:
                leave_loop();
                break;
            default:  // stores and effects: only visits their operands
                for (std::size_t n = 0; n < s.args.size(); ++n) value(s, n);
                break;
        }
    }

    Uniformities& functions_;
    Geometry geometry_;
    const std::array<std::uint32_t, 3>& workgroup_;
    const ir::Code& code_;
    Uniformity out_;
    std::vector<std::size_t> depth_;  // for each local: size of stack_ at its declaration
    std::vector<Construct> stack_;
    bool changed_ = false;
};

}  // namespace

Lanes builtin_lanes(Geometry geometry, const std::array<std::uint32_t, 3>& workgroup,
                    std::uint32_t builtin) {
    const auto varies = [&]() -> Lanes {
        if (geometry == Geometry::Row) return 1;
        if (geometry == Geometry::Flat) return 7;
        unsigned lanes = 0;
        for (unsigned axis = 0; axis < 3; ++axis)
            if (workgroup[axis] > 1) lanes |= 1U << axis;
        return static_cast<Lanes>(lanes);
    };
    switch (builtin) {
        case WYE_BUILTIN_WORKGROUP_ID:
            return geometry == Geometry::Group ? Lanes{0} : varies();
        case WYE_BUILTIN_LOCAL_ID:
        case WYE_BUILTIN_GLOBAL_ID:
            return varies();
        case WYE_BUILTIN_LOCAL_INDEX:
        case WYE_BUILTIN_SUBGROUP_ID:
        case WYE_BUILTIN_SUBGROUP_LANE:
            return 1;
        default:
            return 0;
    }
}

const Uniformity& Uniformities::main() {
    const auto found = known_.find({ir::kNone, {}});
    if (found != known_.end()) return found->second;
    Uniformity result = Analysis(*this, geometry_, workgroup_, program_.main).run({});
    return known_.emplace(std::pair{ir::kNone, std::vector<Lanes>{}}, std::move(result))
        .first->second;
}

const Uniformity& Uniformities::function(std::uint32_t index, const std::vector<Lanes>& arguments) {
    const auto found = known_.find({index, arguments});
    if (found != known_.end()) return found->second;
    Analysis analysis(*this, geometry_, workgroup_, program_.functions[index].code);
    ++nesting_;
    Uniformity result = nesting_ > kNesting ? analysis.careful() : analysis.run(arguments);
    --nesting_;
    return known_.emplace(std::pair{index, arguments}, std::move(result)).first->second;
}

}  // namespace wye::cpu
