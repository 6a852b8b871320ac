// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/table_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lower/analysis/literal_loop.hpp"

namespace wye::lower {
namespace {

using ir::Op;

// The maximum number of nodes in all iterations of a loop together. Up to this limit, unrolling is
// cheap.
constexpr std::uint64_t kMostTableNodes = 8192;

// Counts the nodes of a loop's body; those of an inner loop count once for each of its iterations.
// Finds whether the loop's counter indexes an array with `rounds` elements.
class Body {
  public:
    Body(const ir::Program& program, const ir::Code& code, std::uint32_t counter,
         std::uint64_t rounds)
        : program_(program), code_(code), counters_{counter}, rounds_(rounds) {}

    void block(ir::BlockId body);

    std::uint64_t nodes = 0;
    bool indexed = false;

  private:
    void expression(ir::ExprId root, std::uint64_t times);
    [[nodiscard]] bool is_counter(ir::ExprId id) const {
        while (code_.exprs[id].op == Op::CONVERT) id = code_.operands_of(id)[0];
        const ir::Expr& e = code_.exprs[id];
        return e.op == Op::LOCAL &&
               std::find(counters_.begin(), counters_.end(), e.extra) != counters_.end();
    }

    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<std::uint64_t> counters_;  // the counter, and lets equal to it
    const std::uint64_t rounds_;
};

bool has_array_of(const ir::Program& program, const ir::Code& code, std::uint64_t count) {
    return std::any_of(code.exprs.begin(), code.exprs.end(), [&](const ir::Expr& e) {
        return (e.op == Op::LOAD_TABLE && program.tables[e.imm].bits.size() == count) ||
               (e.op == Op::LOAD_ARRAY &&
                code.locals[static_cast<std::size_t>(e.extra)].count == count);
    });
}

void Body::expression(ir::ExprId root, std::uint64_t times) {
    std::vector<ir::ExprId> left = {root};
    while (!left.empty()) {
        const ir::Expr& e = code_.exprs[left.back()];
        left.pop_back();
        nodes += times;
        const auto ids = code_.operands_of(e);
        if (e.op == Op::LOAD_TABLE && program_.tables[e.imm].bits.size() == rounds_)
            indexed = indexed || is_counter(ids[0]);
        if (e.op == Op::LOAD_ARRAY &&
            code_.locals[static_cast<std::size_t>(e.extra)].count == rounds_)
            indexed = indexed || is_counter(ids[0]);
        if (e.op == Op::CALL) {
            const ir::Code& called = program_.functions[e.imm].code;
            nodes += times * called.exprs.size();
            indexed = indexed || (std::any_of(ids.begin(), ids.end(),
                                              [&](ir::ExprId id) { return is_counter(id); }) &&
                                  has_array_of(program_, called, rounds_));
        }
        left.insert(left.end(), ids.begin(), ids.end());
    }
}

void Body::block(ir::BlockId body) {
    std::vector<std::pair<ir::BlockId, std::uint64_t>> left = {{body, 1}};
    while (!left.empty()) {
        const auto [id, times] = left.back();
        left.pop_back();
        for (const ir::StmtId each : code_.blocks[id]) {
            const ir::Stmt& s = code_.stmts[each];
            if (s.op == Op::LET && is_counter(s.args[0])) counters_.push_back(s.local);
            if (s.op == Op::STORE_ARRAY && code_.locals[s.local].count == rounds_)
                indexed = indexed || is_counter(s.args[0]);
            for (const ir::ExprId argument : s.args)
                if (argument != ir::kNone) expression(argument, times);
            std::uint64_t inside = times;
            if (s.op == Op::FOR)
                inside = std::min(
                    times * std::max<std::uint64_t>(literal_rounds(code_, s).value_or(1), 1),
                    kMostTableNodes);
            if (s.body != ir::kNone) left.emplace_back(s.body, inside);
            if (s.otherwise != ir::kNone) left.emplace_back(s.otherwise, times);
        }
    }
}

}  // namespace

bool unrolled_without_end(const ir::Program& program, const ir::Code& code, const ir::Stmt& s) {
    const std::uint64_t rounds = literal_rounds(code, s).value_or(0);
    if (rounds == 0) return false;
    Body body(program, code, s.local, rounds);
    body.block(s.body);
    return body.indexed && body.nodes > kMostTableNodes / rounds;
}

}  // namespace wye::lower
