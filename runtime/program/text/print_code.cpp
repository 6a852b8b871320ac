// SPDX-License-Identifier: Apache-2.0
//
// Prints statements and expressions with the fewest parentheses that preserve their meaning.
#include "program/text/literal.hpp"
#include "program/text/parser.hpp"
#include "program/text/printer.hpp"

namespace wye::ir::detail {
namespace {

constexpr int kUnary = 10;
constexpr int kPostfix = 11;
constexpr std::string_view kComponents = "xyzw";

std::string type_text(std::uint16_t code) {
    return type_name(type_from_code(code).value_or(Type{}));
}

bool has_assigning_form(Op op) {
    return strength(op) > 3;  // arithmetic, bits and shifts, but not &&, || and comparisons
}

}  // namespace

void CodePrinter::list(const Expr& e, std::size_t first) {
    const auto operands = code_.operands_of(e);
    for (std::size_t i = first; i < operands.size(); ++i) {
        if (i > first) out_ += ", ";
        expression(operands[i]);
    }
}

void CodePrinter::element(const std::string& name, const Expr& e) {
    out_ += name + "[";
    expression(code_.operands_of(e)[0]);
    out_ += "]";
}

void CodePrinter::effect(const Expr& e) {
    out_ += op_text(e.op);
    out_ += "(";
    const bool placed = op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD;
    if (placed) {
        element(program_.buffers[e.imm].name, e);
        if (e.count > 1) out_ += ", ";
    }
    list(e, placed ? 1 : 0);
    out_ += ")";
}

void CodePrinter::unary(const Expr& e) {
    const ExprId operand = code_.operands_of(e)[0];
    out_ += op_text(e.op);
    // `-1` would read as a literal, and `--x` has another meaning.
    const Op inner = code_.exprs[operand].op;
    const bool apart = e.op == Op::NEG && (inner == Op::LITERAL || inner == Op::NEG);
    if (apart) out_ += "(";
    expression(operand, apart ? 0 : kUnary);
    if (apart) out_ += ")";
}

void CodePrinter::expression(ExprId id, int least) {
    const Expr& e = code_.exprs[id];
    const auto operands = code_.operands_of(e);
    if (const int strong = strength(e.op); strong > 0) {
        const bool comparison = strong == 3;
        if (strong < least) out_ += "(";
        expression(operands[0], comparison ? strong + 1 : strong);
        out_ += " ";
        out_ += op_text(e.op);
        out_ += " ";
        expression(operands[1], strong + 1);
        if (strong < least) out_ += ")";
        return;
    }
    switch (e.op) {
        case Op::NEG:
        case Op::NOT:
        case Op::LOGICAL_NOT:
            if (least > kUnary) out_ += "(";
            unary(e);
            if (least > kUnary) out_ += ")";
            return;
        case Op::LITERAL:
            out_ += literal_text(type_from_code(e.imm).value_or(kI32), e.extra);
            return;
        case Op::PARAM:
            out_ += program_.params[e.imm].name;
            return;
        case Op::LOCAL:
            out_ += names_[e.extra];
            return;
        case Op::BUILTIN:
            out_ += builtin_text(e.imm);
            return;
        case Op::LEN:
            out_ += "len(" + program_.buffers[e.imm].name + ")";
            return;
        case Op::LEN64:
            out_ += "len64(" + program_.buffers[e.imm].name + ")";
            return;
        case Op::LEN_TABLE:
            out_ += "len(" + program_.tables[e.imm].name + ")";
            return;
        case Op::LEN64_TABLE:
            out_ += "len64(" + program_.tables[e.imm].name + ")";
            return;
        case Op::LEN_ARRAY:
            out_ += "len(" + names_[e.extra] + ")";
            return;
        case Op::LEN64_ARRAY:
            out_ += "len64(" + names_[e.extra] + ")";
            return;
        case Op::LOAD:
            element(program_.buffers[e.imm].name, e);
            return;
        case Op::LOAD_TABLE:
            element(program_.tables[e.imm].name, e);
            return;
        case Op::LOAD_ARRAY:
            element(names_[e.extra], e);
            return;
        case Op::COMPONENT:
            expression(operands[0], kPostfix);
            out_ += '.';
            out_ += kComponents[e.imm & 3U];
            return;
        case Op::CALL:
            out_ += program_.functions[e.imm].name;
            break;
        case Op::CONSTRUCT:
        case Op::SPLAT:
        case Op::CONVERT:
            out_ += type_text(e.imm);
            break;
        case Op::BITCAST:
            out_ += "bitcast<" + type_text(e.imm) + ">";
            break;
        default:
            if (op_effect(e.op)) return effect(e);
            out_ += op_text(e.op);
            break;
    }
    out_ += "(";
    list(e, 0);
    out_ += ")";
}

// ---- statements -----------------------------------------------------------------------------

void CodePrinter::block(BlockId id, unsigned indent) {
    if (id >= code_.blocks.size()) return;
    for (const StmtId s : code_.blocks[id]) {
        line(indent);
        statement(code_.stmts[s], indent);
    }
}

void CodePrinter::braces(BlockId id, unsigned indent) {
    out_ += "{\n";
    block(id, indent + 1);
    line(indent);
    out_ += "}";
}

void CodePrinter::branch(const Stmt& stmt, unsigned indent) {
    out_ += "if ";
    expression(stmt.args[0]);
    out_ += " ";
    braces(stmt.body, indent);
    if (stmt.otherwise >= code_.blocks.size() || code_.blocks[stmt.otherwise].empty()) return;
    out_ += " else ";
    const auto& other = code_.blocks[stmt.otherwise];
    if (other.size() == 1 && code_.stmts[other[0]].op == Op::IF)
        branch(code_.stmts[other[0]], indent);
    else
        braces(stmt.otherwise, indent);
}

// Prints an assignment, as `v += e` if the value is `v + e`.
void CodePrinter::assignment(const Stmt& stmt) {
    const bool component = stmt.op == Op::ASSIGN_COMPONENT;
    out_ += names_[stmt.local];
    if (component) {
        out_ += '.';
        out_ += kComponents[stmt.imm & 3U];
    }
    const Expr& value = code_.exprs[stmt.args[0]];
    bool folded = has_assigning_form(value.op);
    if (folded) {
        const Expr* left = &code_.exprs[code_.operands_of(value)[0]];
        if (component) {
            folded = left->op == Op::COMPONENT && left->imm == stmt.imm;
            if (folded) left = &code_.exprs[code_.operands_of(*left)[0]];
        }
        folded = folded && left->op == Op::LOCAL && left->extra == stmt.local;
    }
    if (folded) {
        out_ += " ";
        out_ += op_text(value.op);
        out_ += "= ";
        expression(code_.operands_of(value)[1]);
    } else {
        out_ += " = ";
        expression(stmt.args[0]);
    }
}

void CodePrinter::statement(const Stmt& stmt, unsigned indent) {
    switch (stmt.op) {
        case Op::IF:
            branch(stmt, indent);
            out_ += "\n";
            return;
        case Op::WHILE:
            out_ += "while ";
            expression(stmt.args[0]);
            out_ += " ";
            braces(stmt.body, indent);
            out_ += "\n";
            return;
        case Op::FOR: {
            out_ += "for " + names_[stmt.local] + " in ";
            expression(stmt.args[0]);
            out_ += "..";
            expression(stmt.args[1]);
            const Expr& step = code_.exprs[stmt.args[2]];
            if (step.op != Op::LITERAL || step.extra != 1) {
                out_ += " step ";
                expression(stmt.args[2]);
            }
            out_ += " ";
            braces(stmt.body, indent);
            out_ += "\n";
            return;
        }
        case Op::LET:
        case Op::VAR:
            out_ += stmt.op == Op::LET ? "let " : "var ";
            out_ += names_[stmt.local] + " = ";
            expression(stmt.args[0]);
            break;
        case Op::VAR_ZERO:
            out_ += "var " + names_[stmt.local] + ": " + type_text(stmt.imm);
            break;
        case Op::VAR_ARRAY:
            out_ += "var " + names_[stmt.local] + ": " + type_text(stmt.imm) + "[" +
                    std::to_string(code_.locals[stmt.local].count) + "]";
            break;
        case Op::ASSIGN:
        case Op::ASSIGN_COMPONENT:
            assignment(stmt);
            break;
        case Op::STORE:
        case Op::STORE_ARRAY:
            out_ += stmt.op == Op::STORE ? program_.buffers[stmt.imm].name : names_[stmt.local];
            out_ += "[";
            expression(stmt.args[0]);
            out_ += "] = ";
            expression(stmt.args[1]);
            break;
        case Op::EFFECT:
            expression(stmt.args[0]);
            break;
        case Op::TRAP:
            out_ += "trap " + std::to_string(stmt.imm);
            break;
        default:
            out_ += op_text(stmt.op);
            break;
    }
    out_ += ";\n";
}

}  // namespace wye::ir::detail
