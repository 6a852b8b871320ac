// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/in_words.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wye::lower {
namespace {

using ir::Op;

constexpr ir::Type kWords{ir::Kind::U32, 2};

bool is_wide(ir::Type type) { return type.bits() == 64; }
// Returns the type in words, or nothing if a value needs more than four words.
std::optional<ir::Type> narrow(ir::Type type) {
    if (!is_wide(type)) return type;
    if (type.lanes > 2) return std::nullopt;
    return kWords.with_lanes(static_cast<std::uint8_t>(2 * type.lanes));
}

std::optional<std::uint16_t> find(const ir::Program& program, const std::string& function) {
    const auto at = std::ranges::find(program.functions, function, &ir::Function::name);
    if (at == program.functions.end()) return std::nullopt;
    return static_cast<std::uint16_t>(at - program.functions.begin());
}

// In words, an operator becomes a call of the function `words_NAME_TYPE`. Some comparisons call it
// with swapped operands, or negate the result.
struct Operator {
    Op op;
    const char* name;
    bool swapped = false, negated = false;
};
constexpr Operator kOperators[] = {
    {Op::NEG, "neg"},     {Op::ADD, "add"}, {Op::SUB, "sub"},
    {Op::MUL, "mul"},     {Op::DIV, "div"}, {Op::SHL, "shl"},
    {Op::SHR, "shr"},     {Op::EQ, "eq"},   {Op::NE, "eq", false, true},
    {Op::LT, "lt"},       {Op::LE, "le"},   {Op::GT, "lt", true},
    {Op::GE, "le", true},
};

// Rewrites the code of one function.
class Narrower {
  public:
    // `out`: the operations on words, and the functions rewritten so far. `functions`: by index in
    // the library, the index in `out` of each rewritten function. `tables`: the number of tables in
    // `out` before those of the library.
    Narrower(const ir::Program& out, const std::vector<std::optional<std::uint16_t>>& functions,
             std::size_t tables, const ir::Code& from)
        : out_(out),
          functions_(functions),
          tables_(static_cast<unsigned>(tables)),
          from_(from),
          code_(from) {}

    std::optional<ir::Code> run() {
        code_.exprs.clear();
        code_.operands.clear();
        for (ir::Local& local : code_.locals) {
            const auto type = narrow(local.type);
            if (!type) return std::nullopt;
            local.type = *type;
        }
        for (const ir::Expr& e : from_.exprs) {
            const auto id = expression(e);
            if (!id) return std::nullopt;
            at_.push_back(*id);
        }
        for (ir::Stmt& s : code_.stmts) {
            for (ir::ExprId& arg : s.args)
                if (arg != ir::kNone) arg = at_[arg];
            // Two statements have no form in words: the assignment of a component, which would be
            // two words, and VAR_ZERO, whose zero would need another type.
            const bool wide = s.local != ir::kNone && is_wide(from_.locals[s.local].type);
            if (wide && (s.op == Op::ASSIGN_COMPONENT || s.op == Op::VAR_ZERO)) return std::nullopt;
        }
        code_.result = at_[from_.result];
        return std::move(code_);
    }

  private:
    using Id = std::optional<ir::ExprId>;

    ir::ExprId node(ir::Expr e, const std::vector<ir::ExprId>& operands) {
        e.first = static_cast<std::uint32_t>(code_.operands.size());
        e.count = static_cast<std::uint32_t>(operands.size());
        code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
        code_.exprs.push_back(e);
        return static_cast<ir::ExprId>(code_.exprs.size() - 1);
    }
    ir::ExprId node(Op op, unsigned imm, const std::vector<ir::ExprId>& operands) {
        ir::Expr e;
        e.op = op;
        e.imm = static_cast<std::uint16_t>(imm);
        return node(e, operands);
    }
    ir::ExprId literal(std::uint32_t value) {
        ir::Expr e;
        e.op = Op::LITERAL;
        e.imm = ir::kU32.code();
        e.extra = value;
        return node(e, {});
    }
    ir::ExprId construct(const std::vector<ir::ExprId>& words) {
        const auto lanes = static_cast<std::uint8_t>(words.size());
        return node(Op::CONSTRUCT, kWords.with_lanes(lanes).code(), words);
    }
    Id call(const std::string& operation, const std::vector<ir::ExprId>& operands) {
        const auto function = find(out_, "words_" + operation);
        if (!function) return std::nullopt;
        return node(Op::CALL, *function, operands);
    }
    // Copies an expression, since an expression may be the operand of only one other expression.
    ir::ExprId copy(ir::ExprId id) {
        const ir::Expr e = code_.exprs[id];
        std::vector<ir::ExprId> operands;
        for (std::uint32_t i = 0; i < e.count; ++i)
            operands.push_back(copy(code_.operands[e.first + i]));
        return node(e, operands);
    }

    Id expression(const ir::Expr& e) {
        std::vector<ir::ExprId> operands;
        bool wide = is_wide(e.type);
        ir::Type first = e.type;
        for (const ir::ExprId operand : from_.operands_of(e)) {
            const ir::Type type = from_.exprs[operand].type;
            if (operands.empty()) first = type;
            wide = wide || is_wide(type);
            operands.push_back(at_[operand]);
        }
        ir::Expr same = e;
        if (e.op == Op::CALL) {
            if (!functions_[e.imm]) return std::nullopt;
            same.imm = *functions_[e.imm];
            return node(same, operands);
        }
        if (e.op == Op::LOAD_TABLE) same.imm = static_cast<std::uint16_t>(tables_ + e.imm);
        if (!wide) return node(same, operands);
        if (!narrow(e.type) || !narrow(first)) return std::nullopt;
        switch (e.op) {
            case Op::LITERAL:
                return construct({literal(static_cast<std::uint32_t>(e.extra)),
                                  literal(static_cast<std::uint32_t>(e.extra >> 32U))});
            case Op::LOCAL:
            case Op::SELECT:
                return node(same, operands);
            case Op::LOAD_TABLE: {
                const ir::ExprId low = node(Op::SHL, 0, {operands[0], literal(1)});
                const ir::ExprId high = node(Op::ADD, 0, {copy(low), literal(1)});
                return construct({node(Op::LOAD_TABLE, same.imm, {low}),
                                  node(Op::LOAD_TABLE, same.imm, {high})});
            }
            case Op::CONSTRUCT:
                return call("pair", operands);
            case Op::COMPONENT:
                return call(e.imm == 0 ? "first" : "second", operands);
            case Op::BITCAST:
                if (is_wide(e.type) && is_wide(first)) return operands[0];
                return std::nullopt;
            default:
                break;
        }
        if (!first.scalar()) return std::nullopt;
        return operation(e, first, std::move(operands));
    }

    Id operation(const ir::Expr& e, ir::Type first, std::vector<ir::ExprId> operands) {
        const std::string type = ir::type_name(first);
        switch (e.op) {
            case Op::CONVERT:
                return call("convert_" + ir::type_name(e.type) + "_" + type, operands);
            case Op::AND:
            case Op::OR:
            case Op::XOR:
            case Op::NOT:
                return node(e.op, 0, operands);
            default:
                break;
        }
        const auto* found = std::ranges::find(kOperators, e.op, &Operator::op);
        if (found == std::end(kOperators))
            return call(std::string(ir::op_text(e.op)) + "_" + type, operands);
        if (found->swapped) std::swap(operands[0], operands[1]);
        const Id result = call(std::string(found->name) + "_" + type, operands);
        if (!result || !found->negated) return result;
        return node(Op::LOGICAL_NOT, 0, {*result});
    }

    const ir::Program& out_;
    const std::vector<std::optional<std::uint16_t>>& functions_;
    const unsigned tables_;
    const ir::Code& from_;
    ir::Code code_;
    std::vector<ir::ExprId> at_;  // by old id
};

ir::Table narrow_table(const ir::Table& table) {
    ir::Table out = table;
    if (!is_wide(table.type)) return out;
    out.type = ir::kU32;
    out.bits.clear();
    for (const std::uint64_t bits : table.bits) {
        out.bits.push_back(bits & 0xffffffffU);
        out.bits.push_back(bits >> 32U);
    }
    return out;
}

}  // namespace

ir::Program in_words(const ir::Program& words, const ir::Program& library) {
    ir::Program out = words;
    for (const ir::Table& table : library.tables) out.tables.push_back(narrow_table(table));
    std::vector<std::optional<std::uint16_t>> functions;
    for (const ir::Function& f : library.functions) {
        functions.push_back(find(words, f.name));
        if (functions.back()) continue;
        const auto type = narrow(f.type);
        if (!type) continue;
        auto code = Narrower(out, functions, words.tables.size(), f.code).run();
        if (!code) continue;
        functions.back() = static_cast<std::uint16_t>(out.functions.size());
        out.functions.push_back({f.name, *type, f.arguments, *std::move(code), f.place});
    }
    return out;
}

}  // namespace wye::lower
