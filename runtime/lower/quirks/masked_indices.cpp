// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/masked_indices.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "lower/middle/leaves.hpp"
#include "wye/program_format.h"

namespace wye::lower {
namespace {

using ir::Op;

// How a value depends on the counters of the loops around it, as a sum of counters times literals.
struct Steps {
    // Whether the value is not such a sum, or is unknown.
    bool any = false;
    // Counters and their factors, ascending by counter. Empty if the value does not depend on
    // counters.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> factors;

    [[nodiscard]] bool none() const { return !any && factors.empty(); }
    // Steps of a power of two never cause the fault: the low bits repeat only after a full cycle.
    [[nodiscard]] bool risky() const {
        return any || std::any_of(factors.begin(), factors.end(),
                                  [](const auto& f) { return !std::has_single_bit(f.second); });
    }
};

constexpr std::size_t kMostFactors = 8;
// Counters 0 to 2 are the invocation ids in a workgroup, by axis. Local n is counter kFirstLocal +
// n.
constexpr std::uint32_t kFirstLocal = 3;

Steps of_counter(std::uint32_t number, std::uint64_t factor) {
    Steps out;
    if (factor != 0) out.factors.emplace_back(number, factor);
    return out;
}

Steps unknown() {
    Steps out;
    out.any = true;
    return out;
}

Steps sum(const Steps& a, const Steps& b, std::uint64_t sign) {
    Steps out = a;
    out.any = a.any || b.any;
    for (const auto& added : b.factors) {
        const auto at = std::find_if(out.factors.begin(), out.factors.end(),
                                     [&](const auto& f) { return f.first >= added.first; });
        if (at != out.factors.end() && at->first == added.first)
            at->second += sign * added.second;
        else
            out.factors.insert(at, {added.first, sign * added.second});
    }
    std::erase_if(out.factors, [](const auto& f) { return f.second == 0; });
    return out.factors.size() > kMostFactors ? unknown() : out;
}

Steps times(const Steps& a, std::uint64_t factor) {
    Steps out = a;
    for (auto& each : out.factors) each.second *= factor;
    std::erase_if(out.factors, [](const auto& f) { return f.second == 0; });
    return out;
}

class Look {
  public:
    Look(const ir::Program& program, const ir::Code& code, std::array<std::uint32_t, 3> workgroup)
        : program_(program),
          code_(code),
          workgroup_(workgroup),
          lets_(code.locals.size(), ir::kNone),
          steps_(code.exprs.size()),
          still_(code.locals.size()) {
        for (const ir::Stmt& s : code.stmts) {
            if (s.op == Op::LET) lets_[s.local] = s.args[0];
            if (s.op == Op::FOR) lets_[s.local] = s.args[2];
        }
        walk();
        still_variables();
        walk();
    }

    // Whether an operand of this operation, which drops bits, has risky steps.
    [[nodiscard]] bool risky(ir::ExprId id) const {
        const auto parts = code_.operands_of(id);
        return std::any_of(parts.begin(), parts.end(),
                           [&](ir::ExprId part) { return steps_[part].risky(); });
    }

  private:
    void walk() {  // operands precede their users
        for (ir::ExprId id = 0; id < code_.exprs.size(); ++id) steps_[id] = expression(id);
    }
    // Finds variables whose assigned values are all independent of counters.
    void still_variables() {
        for (std::size_t i = 0; i < still_.size(); ++i)
            still_[i] = code_.locals[i].form == ir::Local::Form::Var;
        for (const ir::Stmt& s : code_.stmts)
            if ((s.op == Op::VAR || s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT) &&
                !steps_[s.args[0]].none())
                still_[s.local] = false;
    }
    [[nodiscard]] Steps expression(ir::ExprId id) const;
    [[nodiscard]] Steps built_in(std::uint16_t which) const;
    [[nodiscard]] Steps local(std::uint32_t number, ir::ExprId user) const;

    const ir::Program& program_;
    const ir::Code& code_;
    const std::array<std::uint32_t, 3> workgroup_;
    std::vector<ir::ExprId> lets_;  // by local: the value of a let, or the step of a counter
    std::vector<Steps> steps_;
    std::vector<bool> still_;
};

Steps Look::built_in(std::uint16_t which) const {
    const auto axis = [&](std::uint32_t number, std::uint64_t factor) {
        return workgroup_[number] == 1 ? Steps{} : of_counter(number, factor);
    };
    switch (which) {
        case WYE_BUILTIN_WORKGROUP_ID:
        case WYE_BUILTIN_NUM_WORKGROUPS:
        case WYE_BUILTIN_WORKGROUP_SIZE:
        case WYE_BUILTIN_SUBGROUP_SIZE:
        case WYE_BUILTIN_NUM_SUBGROUPS:
            return {};
        case WYE_BUILTIN_LOCAL_ID:
        case WYE_BUILTIN_GLOBAL_ID:  // all components are combined, each with factor 1
            return sum(sum(axis(0, 1), axis(1, 1), 1), axis(2, 1), 1);
        case WYE_BUILTIN_LOCAL_INDEX: {
            const std::uint64_t row = workgroup_[0];
            return sum(sum(axis(0, 1), axis(1, row), 1), axis(2, row * workgroup_[1]), 1);
        }
        default:
            return unknown();
    }
}

Steps Look::local(std::uint32_t number, ir::ExprId user) const {
    const ir::ExprId given = lets_[number];
    switch (code_.locals[number].form) {
        case ir::Local::Form::Let:
            return given < user ? steps_[given] : unknown();
        case ir::Local::Form::For: {
            if (given == ir::kNone || code_.exprs[given].op != Op::LITERAL) return unknown();
            const std::uint64_t step = code_.exprs[given].extra;
            return of_counter(kFirstLocal + number, step == 0 ? 1 : step);
        }
        case ir::Local::Form::Var:
            return still_[number] ? Steps{} : unknown();
        default:
            return unknown();
    }
}

Steps Look::expression(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    const auto literal = [&](std::size_t k) { return code_.exprs[ids[k]].op == Op::LITERAL; };
    const auto number = [&](std::size_t k) { return code_.exprs[ids[k]].extra; };
    if (middle::is_leaf(e.op)) return {};
    switch (e.op) {
        case Op::LOAD_TABLE:
            return {};
        case Op::LOAD:  // the compiler may know the value that was stored
            return ir::role_writable(program_.buffers[e.imm].role) ? unknown() : Steps{};
        case Op::BUILTIN:
            return built_in(e.imm);
        case Op::LOCAL:
            return local(static_cast<std::uint32_t>(e.extra), id);
        case Op::COMPONENT:
        case Op::SPLAT:
            return steps_[ids[0]];
        case Op::NEG:
        case Op::NOT:
            return times(steps_[ids[0]], ~std::uint64_t{0});
        case Op::ADD:
        case Op::OR:  // compilers turn these into sums if no bits overlap
        case Op::XOR:
            return sum(steps_[ids[0]], steps_[ids[1]], 1);
        case Op::SUB:
            return sum(steps_[ids[0]], steps_[ids[1]], ~std::uint64_t{0});
        case Op::MUL:
            if (literal(1)) return times(steps_[ids[0]], number(1));
            if (literal(0)) return times(steps_[ids[1]], number(0));
            break;
        case Op::SHL:
            if (literal(1)) return times(steps_[ids[0]], std::uint64_t{1} << (number(1) & 63U));
            break;
        case Op::AND:  // the result has the same steps, or parts of them
        case Op::REM:
        case Op::DIV:
        case Op::SHR:
        case Op::CONVERT:
            if (ids.size() == 1 || literal(1)) return steps_[ids[0]];
            if (literal(0)) return steps_[ids[1]];
            break;
        case Op::CALL:
        case Op::LOAD_ARRAY:
            return unknown();
        default:
            if (ir::op_effect(e.op)) return unknown();
            break;
    }
    const bool still =
        std::all_of(ids.begin(), ids.end(), [&](ir::ExprId part) { return steps_[part].none(); });
    return still ? Steps{} : unknown();
}

// Finds the operations that drop bits and whose result reaches an index (through lets, variables
// and calls), or a sum that is assigned to a variable.
class Candidates {
  public:
    explicit Candidates(const ir::Program& program) {
        for (const ir::Function& f : program.functions) add(f.code);
        add(program.main);
    }
    std::vector<std::vector<ir::ExprId>> find();

  private:
    struct OfCode {
        const ir::Code* code;
        // By local: the values given to a let or variable.
        std::vector<std::vector<ir::ExprId>> given;
        std::vector<bool> seen;
        std::vector<ir::ExprId> found;
    };
    void add(const ir::Code& code);
    void want(std::size_t code, ir::ExprId id) {
        if (id == ir::kNone || codes_[code].seen[id]) return;
        codes_[code].seen[id] = true;
        next_.emplace_back(code, id);
    }
    void indices(std::size_t c);
    void sums(std::size_t c);
    void visit(std::size_t c, ir::ExprId id);

    std::vector<OfCode> codes_;
    std::vector<std::pair<std::size_t, ir::ExprId>> next_;
};

bool gives(const ir::Stmt& s) {
    return s.op == Op::LET || s.op == Op::VAR || s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT;
}

// Whether bits of the operand are not in the result.
bool drops_bits(const ir::Code& code, const ir::Expr& e) {
    if (!e.type.integer()) return false;
    if (e.op == Op::CONVERT) {
        const ir::Type from = code.exprs[code.operands_of(e)[0]].type;
        return from.integer() && e.type.bits() < from.bits();
    }
    return e.op == Op::AND || e.op == Op::REM || e.op == Op::DIV || e.op == Op::SHR;
}

void Candidates::add(const ir::Code& code) {
    OfCode& of = codes_.emplace_back();
    of.code = &code;
    of.given.resize(code.locals.size());
    of.seen.resize(code.exprs.size());
    for (const ir::Stmt& s : code.stmts)
        if (gives(s)) of.given[s.local].push_back(s.args[0]);
}

void Candidates::indices(std::size_t c) {
    const ir::Code& code = *codes_[c].code;
    for (const ir::Expr& e : code.exprs) {
        const bool access = e.op == Op::LOAD || e.op == Op::LOAD_TABLE || e.op == Op::LOAD_ARRAY ||
                            ir::op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD;
        if (access) want(c, code.operands_of(e)[0]);
    }
    for (const ir::Stmt& s : code.stmts)
        if (s.op == Op::STORE || s.op == Op::STORE_ARRAY) want(c, s.args[0]);
}

// Finds operands of a sum that is assigned to a variable, such as `v & 63u` in `v = (v & 63u) +
// 5u`.
void Candidates::sums(std::size_t c) {
    const OfCode& of = codes_[c];
    std::vector<ir::ExprId> left;
    for (const ir::Stmt& s : of.code->stmts)
        if (s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT) left.push_back(s.args[0]);
    std::vector<bool> summed(of.seen.size());
    while (!left.empty()) {
        const ir::ExprId id = left.back();
        left.pop_back();
        if (summed[id]) continue;
        summed[id] = true;
        const ir::Expr& e = of.code->exprs[id];
        if (e.op == Op::LOCAL)
            for (const ir::ExprId value : of.given[static_cast<std::size_t>(e.extra)])
                left.push_back(value);
        if (e.op != Op::ADD && e.op != Op::SUB && e.op != Op::OR) continue;
        for (const ir::ExprId part : of.code->operands_of(e)) {
            const ir::Expr& p = of.code->exprs[part];
            if (p.op == Op::LOCAL || drops_bits(*of.code, p)) want(c, part);
            left.push_back(part);
        }
    }
}

void Candidates::visit(std::size_t c, ir::ExprId id) {
    OfCode& of = codes_[c];
    const ir::Expr& e = of.code->exprs[id];
    if (e.op == Op::LOCAL) {
        for (const ir::ExprId value : of.given[static_cast<std::size_t>(e.extra)]) want(c, value);
        return;
    }
    if (drops_bits(*of.code, e)) of.found.push_back(id);
    if (e.op == Op::CALL) want(e.imm, codes_[e.imm].code->result);
    for (const ir::ExprId part : of.code->operands_of(e)) want(c, part);
}

std::vector<std::vector<ir::ExprId>> Candidates::find() {
    for (std::size_t c = 0; c < codes_.size(); ++c) {
        indices(c);
        sums(c);
    }
    while (!next_.empty()) {
        const auto [c, id] = next_.back();
        next_.pop_back();
        visit(c, id);
    }
    std::vector<std::vector<ir::ExprId>> out;
    for (OfCode& of : codes_) out.push_back(std::move(of.found));
    return out;
}

}  // namespace

MaskedIndices::MaskedIndices(const ir::Program& program, std::array<std::uint32_t, 3> workgroup) {
    const auto candidates = Candidates(program).find();
    codes_.resize(candidates.size());
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (candidates[c].empty()) continue;
        const bool main = c == program.functions.size();
        const ir::Code& code = main ? program.main : program.functions[c].code;
        const Look look(program, code, workgroup);
        for (const ir::ExprId id : candidates[c])
            if (look.risky(id)) {
                codes_[c].resize(code.exprs.size());
                codes_[c][id] = true;
            }
    }
}

}  // namespace wye::lower
