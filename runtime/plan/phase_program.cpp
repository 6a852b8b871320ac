// SPDX-License-Identifier: Apache-2.0
//
// Makes the program of a phase: copies of the phase's segments, one after another.
#include <fmt/format.h>

#include <algorithm>

#include "plan/phases.hpp"
#include "plan/segment_uses.hpp"

namespace wye::plan {
namespace {

using ir::Op;

class Copier {
  public:
    Copier(const ir::Program& from, ir::Program& to)
        : from_(from.main), to_(to.main), out_(to), uses_(from.main) {
        to_.root = new_block();
    }

    void segment(const Segment& segment) {
        const SegmentUses::Names names = uses_.of(segment);
        places_.assign(from_.locals.size(), {});
        for (std::size_t k = 0; k < names.counters.size(); ++k) {
            const std::uint32_t local = from_.stmts[names.counters[k]].local;
            const ir::Type type = from_.locals[local].type;
            if (segment.literals.empty()) {
                places_[local] = {Op::PARAM, static_cast<std::uint16_t>(out_.params.size()), 0};
                out_.params.push_back({fresh_name(), type, {}});
            } else {
                places_[local] = {Op::LITERAL, type.code(), segment.literals[k]};
            }
        }
        for (const ir::StmtId let : names.lets) statement(let, to_.root);
        const auto& statements = from_.blocks[segment.block];
        for (std::uint32_t at = segment.first; at < segment.last; ++at)
            statement(statements[at], to_.root);
    }

  private:
    // Members of the expression that replaces the name of a local (program_format.h).
    struct Place {
        Op op = Op::LOCAL;
        std::uint16_t imm = 0;
        std::uint64_t extra = ir::kNone;
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

    void declare(std::uint32_t local) {
        places_[local] = {Op::LOCAL, 0, to_.locals.size()};
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
            e.extra = place.extra;
            if (place.op != Op::LOCAL) {
                e.op = place.op;
                e.imm = place.imm;
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
        if (s.local != ir::kNone) s.local = static_cast<std::uint32_t>(places_[s.local].extra);
        if (s.body != ir::kNone) s.body = block(s.body);
        if (s.otherwise != ir::kNone) s.otherwise = block(s.otherwise);
        to_.stmts.push_back(s);
        to_.blocks[into].push_back(static_cast<ir::StmtId>(to_.stmts.size() - 1));
    }

    const ir::Code& from_;
    ir::Code& to_;
    ir::Program& out_;
    SegmentUses uses_;
    std::vector<Place> places_;  // by local: its replacement in the current copy
};

}  // namespace

ir::Program phase_program(const ir::Program& program, const Path& path) {
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
    for (const Segment& segment : path) copier.segment(segment);
    return out;
}

}  // namespace wye::plan
