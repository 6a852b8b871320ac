// SPDX-License-Identifier: Apache-2.0
//
// Makes the program of a phase, which has copies of its segments one after another.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/phases.hpp"

namespace wye::plan {
namespace {

using ir::Op;

bool names_local(Op op) {
    return op == Op::LOCAL || op == Op::LOAD_ARRAY || op == Op::LEN_ARRAY || op == Op::LEN64_ARRAY;
}

bool declares(Op op) {
    return op == Op::LET || op == Op::VAR || op == Op::VAR_ZERO || op == Op::VAR_ARRAY ||
           op == Op::FOR;
}

class Copier {
  public:
    Copier(const ir::Program& from, ir::Program& to) : from_(from.main), to_(to.main), out_(to) {
        definitions_.assign(from_.locals.size(), ir::kNone);
        for (ir::StmtId s = 0; s < from_.stmts.size(); ++s)
            if (from_.stmts[s].op == Op::LET) definitions_[from_.stmts[s].local] = s;
        to_.root = new_block();
    }

    // Adds a segment. `loops` are the phase loops around it, outermost first.
    void segment(const Segment& segment, const std::vector<ir::StmtId>& loops) {
        places_.assign(from_.locals.size(), {});
        for (const ir::StmtId loop : loops) {
            const std::uint32_t local = from_.stmts[loop].local;
            places_[local] = {true, static_cast<std::uint32_t>(out_.params.size())};
            out_.params.push_back({fresh_name(), from_.locals[local].type, {}});
        }
        const auto& statements = from_.blocks[segment.block];
        needed_.clear();
        declared_.assign(from_.locals.size(), false);
        for (std::uint32_t at = segment.first; at < segment.last; ++at) look_at(statements[at]);
        for (const std::uint32_t local : needed_)  // in ascending order, which is text order
            statement(definitions_[local], to_.root);
        for (std::uint32_t at = segment.first; at < segment.last; ++at)
            statement(statements[at], to_.root);
    }

  private:
    struct Place {
        bool parameter = false;
        std::uint32_t index = ir::kNone;
    };

    std::string fresh_name() {
        std::string name = fmt::format("phase_counter_{}", out_.params.size());
        const auto taken = [&] {
            const auto same = [&](const auto& declared) { return declared.name == name; };
            return std::ranges::any_of(out_.params, same) ||
                   std::ranges::any_of(out_.buffers, same) ||
                   std::ranges::any_of(out_.tables, same) ||
                   std::ranges::any_of(out_.functions, same);
        };
        while (taken()) name += '_';
        return name;
    }

    ir::BlockId new_block() {
        to_.blocks.emplace_back();
        return static_cast<ir::BlockId>(to_.blocks.size() - 1);
    }

    // ---- Lets outside of a segment that it needs, directly or through other lets

    void look_at(ir::StmtId id) {
        const ir::Stmt& s = from_.stmts[id];
        for (const ir::ExprId arg : s.args)
            if (arg != ir::kNone) look_into(arg);
        if (declares(s.op)) declared_[s.local] = true;
        for (const ir::BlockId block : {s.body, s.otherwise}) {
            if (block == ir::kNone) continue;
            for (const ir::StmtId inner : from_.blocks[block]) look_at(inner);
        }
    }

    // Uses a list, not recursion, because chains of lets may be long.
    void look_into(ir::ExprId root) {
        std::vector<ir::ExprId> open = {root};
        while (!open.empty()) {
            const ir::Expr& e = from_.exprs[open.back()];
            open.pop_back();
            for (const ir::ExprId operand : from_.operands_of(e)) open.push_back(operand);
            if (!names_local(e.op)) continue;
            const auto local = static_cast<std::uint32_t>(e.extra);
            const bool outside = !declared_[local] && !places_[local].parameter;
            if (outside && definitions_[local] != ir::kNone && needed_.insert(local).second)
                open.push_back(from_.stmts[definitions_[local]].args[0]);
        }
    }

    // ---- Copies

    void declare(std::uint32_t local) {
        places_[local] = {false, static_cast<std::uint32_t>(to_.locals.size())};
        to_.locals.push_back(from_.locals[local]);
    }

    ir::ExprId expression(ir::ExprId id) {
        ir::Expr e = from_.exprs[id];
        std::vector<ir::ExprId> operands;
        for (const ir::ExprId operand : from_.operands_of(e))
            operands.push_back(expression(operand));
        e.first = static_cast<std::uint32_t>(to_.operands.size());
        to_.operands.insert(to_.operands.end(), operands.begin(), operands.end());
        if (names_local(e.op)) {
            const Place place = places_[static_cast<std::size_t>(e.extra)];
            e.extra = place.parameter ? 0 : place.index;
            if (place.parameter) {
                e.op = Op::PARAM;
                e.imm = static_cast<std::uint16_t>(place.index);
            }
        }
        to_.exprs.push_back(e);
        return static_cast<ir::ExprId>(to_.exprs.size() - 1);
    }

    ir::BlockId block(ir::BlockId id) {
        const ir::BlockId copy = new_block();
        for (const ir::StmtId s : from_.blocks[id]) statement(s, copy);
        return copy;
    }

    void statement(ir::StmtId id, ir::BlockId into) {
        ir::Stmt s = from_.stmts[id];
        for (ir::ExprId& arg : s.args)
            if (arg != ir::kNone) arg = expression(arg);
        if (declares(s.op)) declare(s.local);
        if (s.local != ir::kNone) s.local = places_[s.local].index;
        if (s.body != ir::kNone) s.body = block(s.body);
        if (s.otherwise != ir::kNone) s.otherwise = block(s.otherwise);
        to_.stmts.push_back(s);
        to_.blocks[into].push_back(static_cast<ir::StmtId>(to_.stmts.size() - 1));
    }

    const ir::Code& from_;
    ir::Code& to_;
    ir::Program& out_;
    std::vector<ir::StmtId> definitions_;  // by local: its LET statement
    std::vector<Place> places_;            // by local: its place in the current copy
    std::vector<bool> declared_;           // by local: whether the segment declares it
    std::set<std::uint32_t> needed_;
};

// Collects the loops around block `wanted`, outermost first. Returns whether it was found below
// `id`.
bool loops_around(const ir::Code& code, ir::BlockId id, ir::BlockId wanted,
                  std::vector<ir::StmtId>& loops) {
    if (id == wanted) return true;
    for (const ir::StmtId s : code.blocks[id]) {
        if (code.stmts[s].op != Op::FOR) continue;
        loops.push_back(s);
        if (loops_around(code, code.stmts[s].body, wanted, loops)) return true;
        loops.pop_back();
    }
    return false;
}

}  // namespace

Result<ir::Program> phase_program(const ir::Program& program, const Path& path) {
    ir::Program out;
    out.name = program.name;
    out.workgroup = program.workgroup;
    out.subgroup = program.subgroup;
    out.adjustable = program.adjustable;
    out.math_set = program.math_set;
    out.params = program.params;
    out.buffers = program.buffers;
    out.tables = program.tables;
    out.functions = program.functions;
    Copier copier(program, out);
    for (const Segment& segment : path) {
        std::vector<ir::StmtId> loops;
        loops_around(program.main, program.main.root, segment.block, loops);
        copier.segment(segment, loops);
    }
    if (out.params.size() > WYE_LIMIT_PARAMS)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("a phase of program `{}` has {} parameters with the counters of "
                                 "its loops, more than {}",
                                 program.name, out.params.size(), WYE_LIMIT_PARAMS),
                     "Fix: use fewer parameters, or nest fewer loops around `grid_barrier`",
                     program.name);
    return out;
}

}  // namespace wye::plan
