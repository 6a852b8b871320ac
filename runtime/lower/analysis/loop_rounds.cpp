// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/loop_rounds.hpp"

#include <optional>
#include <vector>

#include "lower/analysis/interval.hpp"

namespace wye::lower {
namespace {

using ir::Op;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    std::uint64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? kAnyRounds : out;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? kAnyRounds : out;
}

// Counts the loop iterations of main or of one function.
class Count {
  public:
    Count(const ir::Program& program, const ir::Code& code,
          const std::vector<std::uint64_t>& functions)
        : program_(program), code_(code), functions_(functions) {}

    // An expression is evaluated at most `own` + 1 times, and each call adds the iterations of
    // its callee.
    [[nodiscard]] std::uint64_t rounds() const {
        const std::uint64_t own = block(code_.root, 1);
        std::uint64_t called = 0;
        for (const ir::Expr& e : code_.exprs) {
            if (e.op == Op::CALL) called = sum(called, functions_[e.imm]);
            // An atomic operation on a float may become a compare-and-swap loop, which has no
            // bound.
            if (ir::op_atomic(e.op) && program_.buffers[e.imm].type.floating()) return kAnyRounds;
        }
        return called == 0 ? own : sum(own, product(sum(own, 1), called));
    }

  private:
    [[nodiscard]] std::optional<std::int64_t> literal(ir::ExprId id) const {
        const ir::Expr& e = code_.exprs[id];
        if (e.op != Op::LITERAL) return {};
        const Interval value = literal_interval(e.type.kind, e.extra);
        if (!value.exact()) return {};
        return value.low;
    }
    [[nodiscard]] std::uint64_t trips(const ir::Stmt& s) const {
        const auto first = literal(s.args[0]);
        const auto end = literal(s.args[1]);
        const auto step = literal(s.args[2]);
        if (!first || !end || !step) return kAnyRounds;
        if (*end <= *first) return 0;
        const std::uint64_t span =
            static_cast<std::uint64_t>(*end) - static_cast<std::uint64_t>(*first);
        const std::uint64_t by = *step < 1 ? 1 : static_cast<std::uint64_t>(*step);
        return (span - 1) / by + 1;
    }
    // Returns the loop iterations of a block that runs `times` times.
    [[nodiscard]] std::uint64_t block(ir::BlockId id, std::uint64_t times) const {
        if (id == ir::kNone) return 0;
        std::uint64_t out = 0;
        for (const ir::StmtId each : code_.blocks[id]) {
            const ir::Stmt& s = code_.stmts[each];
            std::uint64_t inside = times;
            if (s.op == Op::WHILE) return kAnyRounds;
            if (s.op == Op::FOR) {
                inside = product(times, trips(s));
                out = sum(out, sum(inside, times));
            }
            if (s.op == Op::VAR_ARRAY) {
                const ir::Local& local = code_.locals[s.local];
                out = sum(out, product(times, local.count * std::uint64_t{local.type.lanes} + 1));
            }
            out = sum(out, sum(block(s.body, inside), block(s.otherwise, inside)));
        }
        return out;
    }

    const ir::Program& program_;
    const ir::Code& code_;
    const std::vector<std::uint64_t>& functions_;
};

}  // namespace

std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations) {
    std::vector<std::uint64_t> functions(program.functions.size());
    for (std::size_t f = 0; f < functions.size(); ++f)  // callees precede their callers
        functions[f] = Count(program, program.functions[f].code, functions).rounds();
    std::uint64_t out = Count(program, program.main, functions).rounds();
    for (const ir::Buffer& b : program.buffers)
        if (b.shared()) out = sum(out, b.count * b.type.lanes / invocations + 2);
    return out;
}

}  // namespace wye::lower
