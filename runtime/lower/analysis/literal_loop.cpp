// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/literal_loop.hpp"

#include <algorithm>
#include <cstdint>

namespace wye::lower {
namespace {

using ir::Op;

constexpr std::uint64_t kMostRounds = 8;
// The maximum number of operations in all iterations together.
constexpr std::uint64_t kMostUnrolledNodes = 8192;

class Unrolling {
  public:
    Unrolling(const ir::Program& program, const ir::Code& code) : program_(program), code_(code) {}

    [[nodiscard]] std::optional<std::uint64_t> rounds(const ir::Stmt& s) const {
        return literal_rounds(code_, s);
    }

    // Adds the cost of running the block `times` times. Returns false if the loop must not be
    // unrolled.
    bool add(ir::BlockId id, std::uint64_t times) {
        if (id == ir::kNone) return true;
        for (const ir::StmtId each : code_.blocks[id]) {
            const ir::Stmt& s = code_.stmts[each];
            std::uint64_t inner = times;
            switch (s.op) {
                case Op::FOR: {
                    const auto count = rounds(s);
                    if (!count || *count > kMostUnrolledNodes) return false;
                    inner *= *count;
                    loops = true;
                    break;
                }
                case Op::LET:
                case Op::VAR:
                case Op::VAR_ZERO:
                case Op::ASSIGN:
                case Op::ASSIGN_COMPONENT:
                case Op::STORE:
                case Op::STORE_ARRAY:
                case Op::IF:
                    break;
                default:
                    return false;
            }
            for (const ir::ExprId argument : s.args)
                if (argument != ir::kNone && !expression(argument, times)) return false;
            if (!add(s.body, inner) || !add(s.otherwise, inner)) return false;
        }
        return true;
    }

    bool loops = false;  // whether the body contains loops

  private:
    bool expression(ir::ExprId id, std::uint64_t times) {
        const ir::Expr& e = code_.exprs[id];
        nodes_ += times;
        if (e.op == Op::CALL) nodes_ += times * program_.functions[e.imm].code.exprs.size();
        if (nodes_ > kMostUnrolledNodes || ir::op_effect(e.op)) return false;
        const auto ids = code_.operands_of(e);
        return std::all_of(ids.begin(), ids.end(),
                           [&](ir::ExprId operand) { return expression(operand, times); });
    }

    const ir::Program& program_;
    const ir::Code& code_;
    std::uint64_t nodes_ = 0;
};

}  // namespace

std::optional<std::uint64_t> literal_rounds(const ir::Code& code, const ir::Stmt& loop) {
    const auto literal = [&](int k) { return code.exprs[loop.args[k]]; };
    for (int k = 0; k < 3; ++k)
        if (literal(k).op != Op::LITERAL || literal(k).extra > 0x7fffffffU) return std::nullopt;
    const std::uint64_t first = literal(0).extra, end = literal(1).extra;
    const std::uint64_t step = std::max<std::uint64_t>(literal(2).extra, 1);
    return first < end ? (end - first - 1) / step + 1 : 0;
}

bool worth_unrolling(const ir::Program& program, const ir::Code& code, const ir::Stmt& loop) {
    Unrolling unrolling(program, code);
    const auto rounds = unrolling.rounds(loop);
    return rounds && *rounds > 1 && *rounds <= kMostRounds && unrolling.add(loop.body, *rounds) &&
           unrolling.loops;
}

}  // namespace wye::lower
