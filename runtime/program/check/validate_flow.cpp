// SPDX-License-Identifier: Apache-2.0
//
// Checks uniformity requirements, and the rules of grid barriers, which split main into phases.
#include <fmt/core.h>

#include "program/check/uniformity.hpp"
#include "program/check/validator.hpp"

namespace wye::ir::detail {
namespace {

std::string scope_of(std::uint8_t most) {
    return most == 1 ? "in the workgroup" : "in the subgroup";
}

// Checks uniformity requirements. Only main has such requirements, since functions have no effects
// and no barriers.
class Demands {
  public:
    Demands(const Program& program, const Flow& flow, Report& report)
        : code_(program.main), flow_(flow), report_(report) {}

    void run() {
        for (const auto& block : code_.blocks)
            for (const StmtId s : block) statement(s);
    }

  private:
    void control(StmtId id, Place place, const std::string& what, std::uint8_t most) {
        if (flow_.control(id) <= most) return;
        report_.code(kNone, place,
                     fmt::format("{} is in control flow that is not uniform {}: it {}", what,
                                 scope_of(most), flow_.control_cause(id)),
                     flow_.control_left_early(id)
                         ? "Fix: put the work under an `if` instead of leaving early"
                         : "Fix: move it out of the condition, and guard only the work around it");
    }

    void value(ExprId id, const std::string& what, std::uint8_t most) {
        if (flow_.expr(id) <= most) return;
        report_.code(
            kNone, code_.exprs[id].place,
            fmt::format("{} is not uniform {}: it {}", what, scope_of(most), flow_.expr_cause(id)),
            fmt::format("Fix: compute it from values that are the same {}", scope_of(most)));
    }

    void statement(StmtId id) {
        const Stmt& s = code_.stmts[id];
        if (s.op == Op::BARRIER) control(id, s.place, "`barrier`", 1);
        for (const ExprId e : s.args) {
            if (e == kNone || !op_effect(code_.exprs[e].op)) continue;
            const Expr& effect = code_.exprs[e];
            const std::string shown = quoted(op_text(effect.op));
            if (op_subgroup(effect.op)) control(id, effect.place, shown, 2);
            if (effect.op == Op::SUBGROUP_BROADCAST)
                value(code_.operands_of(effect)[1], "the lane of " + shown, 2);
            if (effect.op == Op::WORKGROUP_UNIFORM_LOAD) {
                control(id, effect.place, shown, 1);
                value(code_.operands_of(effect)[0], "the index of " + shown, 1);
            }
        }
    }

    const Code& code_;
    const Flow& flow_;
    Report& report_;
};

// Checks grid barriers. They are legal at the top level of main and of phase loops (`for` loops
// that are themselves at such a level).
class Phases {
  public:
    Phases(const Program& program, const Flow& flow, Report& report)
        : code_(program.main),
          flow_(flow),
          report_(report),
          holds_(code_.blocks.size()),
          declared_(code_.locals.size(), 0),
          variable_(code_.locals.size(), kNone) {}

    void run() {
        if (!mark(code_.root)) return;
        for (const auto& block : code_.blocks)
            for (const StmtId s : block)
                if (code_.stmts[s].op == Op::GRID_BARRIER) ++barriers_;
        place(code_.root);
    }

  private:
    // Marks the blocks that contain a grid barrier at any depth.
    bool mark(BlockId id) {
        bool found = false;
        for (const StmtId s : code_.blocks[id]) {
            const Stmt& stmt = code_.stmts[s];
            found = found || stmt.op == Op::GRID_BARRIER;
            if (stmt.body != kNone) found = mark(stmt.body) || found;
            if (stmt.otherwise != kNone) found = mark(stmt.otherwise) || found;
        }
        holds_[id] = found;
        return found;
    }

    void say(Place place, std::string message, std::string fix) {
        report_.code(kNone, place, std::move(message), std::move(fix));
    }

    [[nodiscard]] bool held(BlockId id) const { return id != kNone && holds_[id]; }

    // Checks a block whose top level may have grid barriers.
    void place(BlockId id) {
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            uses(s);
            declare(s);
            switch (s.op) {
                case Op::GRID_BARRIER:
                    level(sid, s);
                    ++phase_;
                    ++passed_;
                    break;
                case Op::FOR:
                    if (held(s.body))
                        phase_loop(s);
                    else
                        inner(s.body, 1);
                    break;
                case Op::BREAK:
                case Op::CONTINUE:
                    if (phase_loops_ > 0)
                        say(s.place,
                            fmt::format("`{}` leaves a loop that holds a `grid_barrier`",
                                        op_text(s.op)),
                            "Fix: guard the work of an iteration with `if` instead");
                    break;
                case Op::RETURN:
                case Op::TRAP:
                    leaves(s);
                    break;
                default:
                    if (held(s.body) || held(s.otherwise)) misplaced(s);
                    if (s.body != kNone) inner(s.body, s.op == Op::WHILE ? 1 : 0);
                    if (s.otherwise != kNone) inner(s.otherwise, 0);
                    break;
            }
        }
    }

    void level(StmtId id, const Stmt& s) {
        if (flow_.control(id) > 0)
            say(s.place,
                fmt::format("`grid_barrier` is in control flow that is not uniform in the whole "
                            "grid: it {}",
                            flow_.control_cause(id)),
                "Fix: let every invocation of the grid reach it");
    }

    void phase_loop(const Stmt& s) {
        for (std::size_t k = 0; k < s.args.size(); ++k)
            if (flow_.expr(s.args[k]) > 0)
                say(code_.exprs[s.args[k]].place,
                    fmt::format("the bounds of a loop that holds a `grid_barrier` must be the same "
                                "in the whole grid, but this one {}",
                                flow_.expr_cause(s.args[k])),
                    "Fix: compute the bounds from parameters and lengths");
        ++phase_;  // later iterations run the body in another phase than the code above the loop
        ++phase_loops_;
        place(s.body);
        --phase_loops_;
    }

    void misplaced(const Stmt& s) {
        say(s.place,
            fmt::format("a `grid_barrier` is inside this `{}`; it must be at the top level of "
                        "`main`, or of a `for` at that level",
                        op_text(s.op)),
            "Fix: move it out, and guard the work around it");
    }

    // Checks a block in which grid barriers are illegal. `loops`: the number of loops around the
    // block, up to the nearest legal level.
    void inner(BlockId id, unsigned loops) {
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            uses(s);
            declare(s);
            if (s.op == Op::RETURN || s.op == Op::TRAP) leaves(s);
            if ((s.op == Op::BREAK || s.op == Op::CONTINUE) && loops == 0 && phase_loops_ > 0)
                say(s.place,
                    fmt::format("`{}` leaves a loop that holds a `grid_barrier`", op_text(s.op)),
                    "Fix: guard the work of an iteration with `if` instead");
            if (s.op == Op::GRID_BARRIER) ++passed_;
            const bool loop = s.op == Op::FOR || s.op == Op::WHILE;
            if (s.body != kNone) inner(s.body, loops + (loop ? 1 : 0));
            if (s.otherwise != kNone) inner(s.otherwise, loops);
        }
    }

    void leaves(const Stmt& s) {
        if (passed_ == barriers_ && phase_loops_ == 0) return;
        say(s.place, fmt::format("`{}` is above the last `grid_barrier`", op_text(s.op)),
            "Fix: put the work under an `if`, so that every invocation reaches the barrier");
    }

    void declare(const Stmt& s) {
        if (s.op == Op::LET || s.op == Op::VAR || s.op == Op::VAR_ZERO || s.op == Op::VAR_ARRAY ||
            s.op == Op::FOR)
            declared_[s.local] = phase_;
        if (s.op == Op::LET) variable_[s.local] = variable_in(s.args[0]);
        if (s.op == Op::VAR || s.op == Op::VAR_ZERO || s.op == Op::VAR_ARRAY)
            variable_[s.local] = s.local;
    }

    // Returns a variable or local array that the expression reads, directly or through lets. kNone:
    // there is none, so that a later phase can compute the expression again.
    std::uint32_t variable_in(ExprId root) {
        open_.assign(1, root);
        while (!open_.empty()) {
            const Expr& e = code_.exprs[open_.back()];
            open_.pop_back();
            if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY)
                if (const std::uint32_t found = variable_[e.extra]; found != kNone) return found;
            for (const ExprId operand : code_.operands_of(e)) open_.push_back(operand);
        }
        return kNone;
    }

    // Reports uses of names from an earlier phase. Loop variables and lets may be used if they have
    // level 0 and depend on no variable.
    void uses(const Stmt& s) {
        if (s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT || s.op == Op::STORE_ARRAY)
            use(s.local, s.place);
        for (const ExprId root : s.args) {
            if (root == kNone) continue;
            open_.assign(1, root);
            while (!open_.empty()) {
                const Expr& e = code_.exprs[open_.back()];
                open_.pop_back();
                if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY || e.op == Op::LEN_ARRAY ||
                    e.op == Op::LEN64_ARRAY)
                    use(static_cast<std::uint32_t>(e.extra), e.place);
                for (const ExprId operand : code_.operands_of(e)) open_.push_back(operand);
            }
        }
    }

    void use(std::uint32_t local, Place place) {
        if (declared_[local] == phase_) return;
        const Local& l = code_.locals[local];
        const bool fixed = l.form == Local::Form::Let || l.form == Local::Form::For;
        const std::uint32_t variable = variable_[local];
        if (fixed && flow_.local(local) == 0 && variable == kNone) return;
        std::string why;
        if (fixed && flow_.local(local) == 0)
            why = fmt::format(" and uses no variables survives, and it depends on {}",
                              local_name(code_, variable));
        else if (l.form == Local::Form::Let)
            why = fmt::format(" survives, and it {}", flow_.local_cause(local));
        else
            why = " survives";
        say(place,
            fmt::format("{} does not survive the `grid_barrier` above: only a `let` that is the "
                        "same in the whole grid{}",
                        local_name(code_, local), why),
            "Fix: compute it again in this phase, or keep it in a buffer");
    }

    const Code& code_;
    const Flow& flow_;
    Report& report_;
    std::vector<bool> holds_;
    std::vector<std::uint32_t> declared_;  // by local: the phase that declares it
    std::vector<std::uint32_t> variable_;  // by local: the variable that it is or depends on
    std::vector<ExprId> open_;
    std::uint32_t phase_ = 0;
    std::uint32_t passed_ = 0;    // grid barriers so far, including misplaced ones
    std::uint32_t barriers_ = 0;  // number of all grid barriers
    unsigned phase_loops_ = 0;
};

}  // namespace

void check_flow(const Program& program, Report& report) {
    const Flow flow(program, program.main, function_levels(program));
    Demands(program, flow, report).run();
    Phases(program, flow, report).run();
}

}  // namespace wye::ir::detail
