// SPDX-License-Identifier: Apache-2.0
//
// Reads code: functions and main. Recursion follows block nesting and expression depth, both of
// which are limited.
#include "wire_reader.hpp"

namespace wye::ir::detail {

namespace {

class CodeReader {
  public:
    CodeReader(Reader& in, Context& context, Code& code)
        : in_(in), context_(context), program_(context.program), code_(code) {}

    bool block(BlockId& out, unsigned nesting) {
        if (nesting > WYE_LIMIT_BLOCK_NESTING)
            return in_.over("the nesting of blocks", nesting, WYE_LIMIT_BLOCK_NESTING);
        std::uint32_t count = 0;
        if (!in_.word(count) || !in_.count(count, WYE_LIMIT_STATEMENTS, 4, "statements"))
            return false;
        out = static_cast<BlockId>(code_.blocks.size());
        code_.blocks.emplace_back();
        // Ids are collected on one stack and copied when the block is complete, so that announced
        // counts of nested blocks reserve no memory.
        const std::size_t mark = open_.size();
        for (std::uint32_t i = 0; i < count; ++i)
            if (!statement(nesting)) return false;
        code_.blocks[out].assign(open_.begin() + static_cast<std::ptrdiff_t>(mark), open_.end());
        open_.resize(mark);
        return true;
    }

    bool expression(ExprId& out) { return node(out, 1, false); }

    std::uint64_t inlined = 0;  // number of nodes, with calls inlined
    std::uint64_t called = 0;   // how many of these are of called functions

  private:
    bool count_node() {
        ++inlined;
        if (++context_.nodes > WYE_LIMIT_NODES)
            return in_.over("the number of nodes", context_.nodes, WYE_LIMIT_NODES);
        return inlined_fits();
    }
    bool inlined_fits() {
        if (called > WYE_LIMIT_INLINED_NODES)
            return in_.over("the number of nodes in all calls inlined", called,
                            WYE_LIMIT_INLINED_NODES);
        return inlined <= WYE_LIMIT_NODES ||
               in_.over("the number of nodes with all calls inlined", inlined, WYE_LIMIT_NODES);
    }

    bool no_immediate(std::uint32_t imm) { return in_.zero(imm, "an unused immediate"); }
    bool local(std::uint32_t imm, std::uint32_t& out) {
        return no_immediate(imm) && in_.word(out) && in_.index(out, code_.locals.size(), "local");
    }
    bool type(std::uint32_t code, Type& out) {
        const std::optional<Type> known = type_from_code(code);
        if (!known) return in_.fail("type code " + hex(code) + " is unknown");
        out = *known;
        return true;
    }

    bool declare(Stmt& s, Local::Form form, Type of = {}, std::uint32_t count = 0) {
        if (code_.locals.size() >= WYE_LIMIT_LOCALS)
            return in_.over("the number of locals", code_.locals.size() + 1, WYE_LIMIT_LOCALS);
        s.local = static_cast<std::uint32_t>(code_.locals.size());
        Local local;
        local.form = form;
        local.type = of;
        local.count = count;
        code_.locals.push_back(std::move(local));
        return true;
    }

    bool literal(std::uint32_t imm, Expr& e) {
        Type t;
        if (!type(imm, t)) return false;
        if (!t.scalar() || t.storage())
            return in_.fail("a literal cannot have type " + type_name(t));
        if (t.bits() == 64) {
            if (!in_.word64(e.extra)) return false;
        } else {
            std::uint32_t bits = 0;
            if (!in_.word(bits)) return false;
            e.extra = bits;
        }
        return canonical_bits(t.kind, e.extra) ||
               in_.fail("the bits of a literal of type " + type_name(t) + " are not canonical");
    }

    // Checks the immediate, reads the extra words, and sets the number of operands.
    bool shape(Expr& e, std::uint32_t imm, unsigned& operands) {
        Type t;
        std::uint32_t number = 0;
        operands = static_cast<unsigned>(op_operands(e.op));
        switch (e.op) {
            case Op::LITERAL:
                return literal(imm, e);
            case Op::PARAM:
                return in_.index(imm, program_.params.size(), "parameter");
            case Op::LOCAL:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
            case Op::LOAD_ARRAY:
                if (!local(imm, number)) return false;
                e.extra = number;
                return true;
            case Op::BUILTIN:
                return in_.index(imm, WYE_BUILTIN_COUNT, "built-in value");
            case Op::LEN:
            case Op::LEN64:
            case Op::LOAD:
                return in_.index(imm, program_.buffers.size(), "buffer");
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
            case Op::LOAD_TABLE:
                return in_.index(imm, program_.tables.size(), "table");
            case Op::CALL:
                // A function may call only those declared before it, which are exactly those in the
                // list.
                if (!in_.index(imm, context_.inlined.size(), "function (above the call)"))
                    return false;
                operands = program_.functions[imm].arguments;
                inlined += context_.inlined[imm];
                called += context_.inlined[imm];
                return inlined_fits();
            case Op::CONSTRUCT:
            case Op::SPLAT:
                if (!type(imm, t)) return false;
                if (t.scalar()) return in_.fail(type_name(t) + " is not a vector type");
                if (e.op == Op::CONSTRUCT) operands = t.lanes;
                return true;
            case Op::COMPONENT:
                return in_.index(imm, 4, "component");
            case Op::CONVERT:
            case Op::BITCAST:
                return type(imm, t);
            default:
                if (op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD)
                    return in_.index(imm, program_.buffers.size(), "buffer");
                return no_immediate(imm);
        }
    }

    bool node(ExprId& out, unsigned depth, bool effect) {
        std::uint32_t word = 0;
        if (!in_.word(word)) return false;
        const std::uint32_t code = word & 0xffffU;
        Expr e;
        e.op = static_cast<Op>(code);
        e.imm = static_cast<std::uint16_t>(word >> 16U);
        if (!op_known(code)) return in_.fail("opcode " + hex(code) + " is unknown");
        if (op_statement(e.op)) return in_.fail("a statement is inside an expression");
        if (op_effect(e.op) && !effect)
            return in_.fail("`" + std::string(op_text(e.op)) +
                            "` is an effect inside an expression");
        if (depth > WYE_LIMIT_EXPRESSION_DEPTH)
            return in_.over("the depth of an expression", depth, WYE_LIMIT_EXPRESSION_DEPTH);
        if (!count_node()) return false;
        unsigned operands = 0;
        if (!shape(e, e.imm, operands)) return false;
        ExprId ids[WYE_LIMIT_ARGUMENTS];
        for (unsigned i = 0; i < operands; ++i)
            if (!node(ids[i], depth + 1, false)) return false;
        e.first = static_cast<std::uint32_t>(code_.operands.size());
        e.count = operands;
        code_.operands.insert(code_.operands.end(), ids, ids + operands);
        out = static_cast<ExprId>(code_.exprs.size());
        code_.exprs.push_back(e);
        return true;
    }

    bool value(ExprId& out) { return node(out, 1, true); }

    bool effect(Stmt& s) {
        if (!value(s.args[0])) return false;
        return op_effect(code_.exprs[s.args[0]].op) ||
               in_.fail("an expression without effect is not a statement");
    }

    bool array(Stmt& s) {
        std::uint32_t count = 0;
        Type t;
        if (!type(s.imm, t) || !in_.word(count)) return false;
        if (count == 0) return in_.fail("an array has no elements");
        // f16 counts as 4 bytes here, as the language defines.
        const unsigned scalar = t.kind == Kind::F16 ? 4 : t.component().bytes();
        array_bytes_ += std::uint64_t{count} * (scalar == 0 ? 1 : scalar) * t.lanes;
        if (array_bytes_ > WYE_LIMIT_LOCAL_ARRAY_BYTES)
            return in_.over("the size of all local arrays", array_bytes_,
                            WYE_LIMIT_LOCAL_ARRAY_BYTES);
        return declare(s, Local::Form::Array, t, count);
    }

    bool statement(unsigned nesting) {
        std::uint32_t word = 0;
        if (!in_.word(word)) return false;
        const std::uint32_t code = word & 0xffffU;
        Stmt s;
        s.op = static_cast<Op>(code);
        s.imm = static_cast<std::uint16_t>(word >> 16U);
        if (!op_known(code)) return in_.fail("opcode " + hex(code) + " is unknown");
        if (!op_statement(s.op)) return in_.fail("an expression is not a statement");
        if (++context_.statements > WYE_LIMIT_STATEMENTS)
            return in_.over("the number of statements", context_.statements, WYE_LIMIT_STATEMENTS);
        if (!count_node() || !parts(s, nesting)) return false;
        open_.push_back(static_cast<StmtId>(code_.stmts.size()));
        code_.stmts.push_back(s);
        return true;
    }

    bool parts(Stmt& s, unsigned nesting) {
        Type t;
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
                return no_immediate(s.imm) && value(s.args[0]) &&
                       declare(s, s.op == Op::LET ? Local::Form::Let : Local::Form::Var);
            case Op::VAR_ZERO:
                return type(s.imm, t) && declare(s, Local::Form::Var, t);
            case Op::VAR_ARRAY:
                return array(s);
            case Op::ASSIGN:
                return local(s.imm, s.local) && value(s.args[0]);
            case Op::ASSIGN_COMPONENT:
                return in_.index(s.imm, 4, "component") && local(0, s.local) && value(s.args[0]);
            case Op::STORE:
                return in_.index(s.imm, program_.buffers.size(), "buffer") &&
                       expression(s.args[0]) && value(s.args[1]);
            case Op::STORE_ARRAY:
                return local(s.imm, s.local) && expression(s.args[0]) && value(s.args[1]);
            case Op::EFFECT:
                return no_immediate(s.imm) && effect(s);
            case Op::IF:
                return no_immediate(s.imm) && expression(s.args[0]) && block(s.body, nesting + 1) &&
                       block(s.otherwise, nesting + 1);
            case Op::FOR:
                return no_immediate(s.imm) && expression(s.args[0]) && expression(s.args[1]) &&
                       expression(s.args[2]) && declare(s, Local::Form::For) &&
                       block(s.body, nesting + 1);
            case Op::WHILE:
                return no_immediate(s.imm) && expression(s.args[0]) && block(s.body, nesting + 1);
            case Op::TRAP:
                return s.imm != 0 || in_.fail("trap code 0; codes are 1 to 65535");
            default:
                return no_immediate(s.imm);
        }
    }

    Reader& in_;
    Context& context_;
    Program& program_;
    Code& code_;
    std::vector<StmtId> open_;
    std::uint64_t array_bytes_ = 0;
};

bool read_function(Reader& section, Context& context, Function& f) {
    std::uint32_t code = 0;
    std::uint32_t count = 0;
    std::uint32_t words = 0;
    const auto read_type = [&](Type& out) {
        if (!section.word(code)) return false;
        const std::optional<Type> type = type_from_code(code);
        if (!type) return section.fail("type code " + hex(code) + " is unknown");
        out = *type;
        return true;
    };
    if (!section.text(f.name, WYE_LIMIT_NAME_BYTES, "name") || !read_type(f.type) ||
        !section.word(count) || !section.count(count, WYE_LIMIT_ARGUMENTS, 4, "arguments"))
        return false;
    f.arguments = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        Local argument;
        argument.form = Local::Form::Argument;
        if (!read_type(argument.type)) return false;
        f.code.locals.push_back(std::move(argument));
    }
    Reader in = section;
    return section.word(words) && section.part(words, in) && read_code(in, context, f.code, true) &&
           in.finished();
}

}  // namespace

bool read_code(Reader& in, Context& context, Code& code, bool function) {
    CodeReader reader(in, context, code);
    if (!reader.block(code.root, 1)) return false;
    if (function && !reader.expression(code.result)) return false;
    if (function) context.inlined.push_back(reader.inlined);
    return true;
}

bool read_functions(Reader& in, Context& context) {
    std::uint32_t count = 0;
    if (!in.word(count)) return false;
    if (count == 0) return in.fail("a section without functions must be left out");
    if (!in.count(count, WYE_LIMIT_FUNCTIONS, 24, "functions")) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Function f;
        if (!read_function(in, context, f)) return false;
        context.program.functions.push_back(std::move(f));
    }
    return true;
}

bool read_body(Reader& in, Context& context) {
    std::uint32_t words = 0;
    Reader body = in;
    return in.word(words) && in.part(words, body) &&
           read_code(body, context, context.program.main, false) && body.finished();
}

}  // namespace wye::ir::detail
