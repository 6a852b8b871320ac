// SPDX-License-Identifier: Apache-2.0
//
// Encodes statements and expressions as words.
#include "program/wire/encode_code.hpp"

#include <fmt/core.h>

namespace wye::ir::detail {

namespace {

class CodeWriter {
  public:
    CodeWriter(const Program& program, const Code& code, std::uint32_t arguments,
               const std::vector<std::uint64_t>& functions, Sink& out)
        : program_(program), code_(code), declared_(arguments), functions_(functions), out_(out) {}

    void block(BlockId id, unsigned nesting) {
        if (nesting > WYE_LIMIT_BLOCK_NESTING)
            return out_.over("the nesting of blocks", nesting, WYE_LIMIT_BLOCK_NESTING);
        if (id >= code_.blocks.size()) return out_.malformed("a block is missing");
        out_.word(static_cast<std::uint32_t>(code_.blocks[id].size()));
        for (const StmtId s : code_.blocks[id]) {
            if (out_.failed()) return;
            if (s >= code_.stmts.size()) return out_.malformed("a statement is missing");
            statement(code_.stmts[s], nesting);
        }
    }

    void expression(ExprId id) { node(id, 1, false); }

    [[nodiscard]] std::uint32_t declared() const { return declared_; }
    [[nodiscard]] std::uint64_t inlined() const { return inlined_; }

  private:
    void count_node() {
        out_.count_node();
        add_inlined(1);
    }
    void add_inlined(std::uint64_t nodes) {
        inlined_ += nodes;
        out_.limit("the number of nodes with all calls inlined", inlined_, WYE_LIMIT_NODES);
    }

    void head(Op op, std::uint32_t imm) { out_.word(static_cast<std::uint32_t>(op) | imm << 16U); }

    void local(std::uint64_t number) {
        if (number >= declared_)
            return out_.malformed(fmt::format("local {} is used before its declaration", number));
        out_.word(static_cast<std::uint32_t>(number));
    }

    void declare(const Stmt& s) {
        if (s.local != declared_ || s.local >= code_.locals.size())
            return out_.malformed("locals are not numbered in text order");
        ++declared_;
        out_.limit("the number of locals", declared_, WYE_LIMIT_LOCALS);
    }

    bool index(std::uint32_t imm, std::size_t bound, const char* what) {
        if (imm < bound) return true;
        out_.malformed(fmt::format("{} {} does not exist", what, imm));
        return false;
    }

    // Returns the operand count that the immediate asks for, or -1 after an error.
    int shape(const Expr& e) {
        const std::optional<Type> type = type_from_code(e.imm);
        switch (e.op) {
            case Op::PARAM:
                return index(e.imm, program_.params.size(), "parameter") ? 0 : -1;
            case Op::BUILTIN:
                return index(e.imm, WYE_BUILTIN_COUNT, "built-in value") ? 0 : -1;
            case Op::LEN:
            case Op::LEN64:
                return index(e.imm, program_.buffers.size(), "buffer") ? 0 : -1;
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
                return index(e.imm, program_.tables.size(), "table") ? 0 : -1;
            case Op::LOAD:
                return index(e.imm, program_.buffers.size(), "buffer") ? 1 : -1;
            case Op::LOAD_TABLE:
                return index(e.imm, program_.tables.size(), "table") ? 1 : -1;
            case Op::CALL:
                if (!index(e.imm, functions_.size(), "function (above the call)")) return -1;
                add_inlined(functions_[e.imm]);
                called_ += functions_[e.imm];
                out_.limit("the number of nodes in all calls inlined", called_,
                           WYE_LIMIT_INLINED_NODES);
                return static_cast<int>(program_.functions[e.imm].arguments);
            case Op::COMPONENT:
                return index(e.imm, 4, "component") ? 1 : -1;
            case Op::LITERAL:
            case Op::CONSTRUCT:
            case Op::SPLAT:
            case Op::CONVERT:
            case Op::BITCAST:
                return typed(e, type);
            default:
                if (op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD) {
                    if (!index(e.imm, program_.buffers.size(), "buffer")) return -1;
                } else if (e.imm != 0) {
                    out_.malformed("an unused immediate is not zero");
                    return -1;
                }
                return op_operands(e.op);
        }
    }

    int typed(const Expr& e, const std::optional<Type>& type) {
        const bool vector = e.op == Op::CONSTRUCT || e.op == Op::SPLAT;
        if (!type || (vector && type->scalar()) ||
            (e.op == Op::LITERAL && (!type->scalar() || !canonical_bits(type->kind, e.extra)))) {
            out_.malformed(
                fmt::format("a node of `{}` has a wrong type or a literal that is not canonical",
                            op_text(e.op)));
            return -1;
        }
        if (e.op == Op::LITERAL) return 0;
        return e.op == Op::CONSTRUCT ? type->lanes : 1;
    }

    void extra(const Expr& e) {
        switch (e.op) {
            case Op::LITERAL:
                if (type_from_code(e.imm)->bits() == 64)
                    out_.word64(e.extra);
                else
                    out_.word(static_cast<std::uint32_t>(e.extra));
                break;
            case Op::LOCAL:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
            case Op::LOAD_ARRAY:
                local(e.extra);
                break;
            default:
                break;
        }
    }

    void node(ExprId id, unsigned depth, bool effect) {
        if (out_.failed()) return;
        if (depth > WYE_LIMIT_EXPRESSION_DEPTH)
            return out_.over("the depth of an expression", depth, WYE_LIMIT_EXPRESSION_DEPTH);
        if (id >= code_.exprs.size()) return out_.malformed("an operand is missing");
        const Expr& e = code_.exprs[id];
        if (!op_known(static_cast<std::uint32_t>(e.op)) || op_statement(e.op))
            return out_.malformed("a node's opcode is not an expression's");
        if (op_effect(e.op) && !effect)
            return out_.malformed(
                fmt::format("`{}` is an effect inside an expression", op_text(e.op)));
        count_node();
        head(e.op, e.imm);
        const int operands = shape(e);
        if (operands < 0) return;
        if (static_cast<std::uint32_t>(operands) != e.count)
            return out_.malformed(fmt::format("`{}` has {} operands", op_text(e.op), e.count));
        extra(e);
        for (const ExprId operand : code_.operands_of(e)) node(operand, depth + 1, false);
    }

    void value(ExprId id) { node(id, 1, true); }

    void array(const Stmt& s) {
        const std::optional<Type> type = type_from_code(s.imm);
        if (!type || s.local >= code_.locals.size() || code_.locals[s.local].count == 0)
            return out_.malformed("an array's declaration is malformed");
        const unsigned scalar = type->kind == Kind::F16 ? 4 : type->component().bytes();
        array_bytes_ +=
            std::uint64_t{code_.locals[s.local].count} * (scalar == 0 ? 1 : scalar) * type->lanes;
        out_.limit("the size of all local arrays", array_bytes_, WYE_LIMIT_LOCAL_ARRAY_BYTES);
        head(s.op, s.imm);
        out_.word(code_.locals[s.local].count);
        declare(s);
    }

    void statement(const Stmt& s, unsigned nesting) {
        out_.count_statement();
        count_node();
        if (s.op != Op::VAR_ARRAY) head(s.op, s.imm);
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
                plain(s);
                value(s.args[0]);
                declare(s);
                break;
            case Op::VAR_ZERO:
                if (!type_from_code(s.imm)) out_.malformed("a variable has no type");
                declare(s);
                break;
            case Op::VAR_ARRAY:
                array(s);
                break;
            case Op::ASSIGN:
                plain(s);
                local(s.local);
                value(s.args[0]);
                break;
            case Op::ASSIGN_COMPONENT:
                index(s.imm, 4, "component");
                local(s.local);
                value(s.args[0]);
                break;
            case Op::STORE:
                index(s.imm, program_.buffers.size(), "buffer");
                expression(s.args[0]);
                value(s.args[1]);
                break;
            case Op::STORE_ARRAY:
                plain(s);
                local(s.local);
                expression(s.args[0]);
                value(s.args[1]);
                break;
            case Op::EFFECT:
                plain(s);
                if (s.args[0] >= code_.exprs.size() || !op_effect(code_.exprs[s.args[0]].op))
                    return out_.malformed("a statement has no effect");
                value(s.args[0]);
                break;
            default:
                flow(s, nesting);
        }
    }

    void flow(const Stmt& s, unsigned nesting) {
        switch (s.op) {
            case Op::IF:
                expression(s.args[0]);
                if (!out_.failed()) block(s.body, nesting + 1);
                if (!out_.failed()) block(s.otherwise, nesting + 1);
                break;
            case Op::FOR:
                for (const ExprId bound : s.args) expression(bound);
                declare(s);
                if (!out_.failed()) block(s.body, nesting + 1);
                break;
            case Op::WHILE:
                expression(s.args[0]);
                if (!out_.failed()) block(s.body, nesting + 1);
                break;
            case Op::TRAP:
                if (s.imm == 0) out_.malformed("a trap has code 0");
                return;
            case Op::BREAK:
            case Op::CONTINUE:
            case Op::RETURN:
            case Op::BARRIER:
            case Op::GRID_BARRIER:
                break;
            default:
                out_.malformed("a statement's opcode is not a statement's");
        }
        plain(s);
    }

    void plain(const Stmt& s) {
        if (s.imm != 0) out_.malformed("an unused immediate is not zero");
    }

    const Program& program_;
    const Code& code_;
    std::uint32_t declared_;
    const std::vector<std::uint64_t>& functions_;
    Sink& out_;
    std::uint64_t array_bytes_ = 0;
    std::uint64_t inlined_ = 0;  // number of nodes with calls inlined
    std::uint64_t called_ = 0;   // how many of these nodes are in called functions
};

}  // namespace

void write_code(const Program& program, const Code& code, std::uint32_t arguments, bool function,
                std::vector<std::uint64_t>& inlined, Sink& out) {
    const std::size_t head = out.words().size();
    out.word(0);
    CodeWriter writer(program, code, arguments, inlined, out);
    writer.block(code.root, 1);
    if (out.failed()) return;
    if (function) writer.expression(code.result);
    if (out.failed()) return;
    if (writer.declared() != code.locals.size())
        return out.malformed("there are locals without a declaration");
    if (function) inlined.push_back(writer.inlined());
    out.words()[head] = static_cast<std::uint32_t>(out.words().size() - head - 1);
}

}  // namespace wye::ir::detail
