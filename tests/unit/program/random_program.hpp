// SPDX-License-Identifier: Apache-2.0
//
// Deterministic random programs for tests: structurally sound (they encode), seldom well typed.
// The same seed gives the same program everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "wye/sdk/program.hpp"

namespace test {

class RandomProgram {
  public:
    explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

    wye::ir::Program make() {
        using namespace wye::ir;
        program_ = {};
        program_.name = name();
        program_.workgroup = {1 + below(16), 1 + below(8), 1 + below(4)};
        program_.subgroup = chance(4) ? 32 : 0;
        program_.adjustable = chance(2);
        for (std::uint32_t i = below(5); i-- > 0;)
            program_.params.push_back({name(), value_type(), {}});
        declare_buffers(below(6));
        for (Buffer& b : program_.buffers)
            if (b.count_kind == Buffer::Count::Computed) b.size = size(3);
        for (std::uint32_t i = below(3); i-- > 0;) declare_table();
        program_.grid.kind = static_cast<std::uint8_t>(below(3));
        if (program_.grid.kind != 0)
            for (std::uint32_t i = 1 + below(3); i-- > 0;) program_.grid.axes.push_back(size(2));
        for (std::uint32_t i = below(4); i-- > 0;) declare_function();
        program_.main = {};
        code_ = &program_.main;
        program_.main.root = block(3);
        for (std::uint32_t i = below(3); i-- > 0;)
            program_.variants.push_back({name(), name(), name(), bytes(below(20)), {}, {}});
        if (chance(3)) program_.notes.push_back({0x80000000U, bytes(below(9))});
        if (chance(3)) program_.notes.push_back({0x80000002U + below(1000), bytes(below(9))});
        return program_;
    }

    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_() % bound);
    }

  private:
    bool chance(std::uint32_t one_in) { return below(one_in) == 0; }

    std::string name() {
        std::string text;
        for (std::uint32_t i = 1 + below(9); i-- > 0;) text += static_cast<char>('a' + below(26));
        return text;
    }
    std::vector<std::byte> bytes(std::uint32_t count) {
        std::vector<std::byte> out(count);
        for (std::byte& b : out) b = static_cast<std::byte>(below(256));
        return out;
    }
    wye::ir::Type scalar_type() { return {static_cast<wye::ir::Kind>(1 + below(8)), 1}; }
    wye::ir::Type value_type() {
        return scalar_type().with_lanes(static_cast<std::uint8_t>(1 + below(4)));
    }
    std::uint64_t literal(wye::ir::Kind kind) {
        std::uint64_t bits = random_();
        if (kind == wye::ir::Kind::BOOL) return bits & 1U;
        const unsigned width = wye::ir::Type{kind, 1}.bits();
        if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
        return wye::ir::canonical_bits(kind, bits) ? bits : 0;
    }

    void declare_buffers(std::uint32_t count) {
        using namespace wye::ir;
        std::uint32_t binding = below(3);
        for (; count-- > 0; binding += 1 + below(3)) {
            Buffer b;
            b.name = name();
            b.binding = binding;
            b.role = static_cast<Role>(1 + below(6));
            b.type = {static_cast<Kind>(2 + below(12)), static_cast<std::uint8_t>(1 + below(4))};
            b.live = chance(3);
            b.unset = chance(3);
            b.align = chance(3) ? 64 : 0;
            if (chance(4)) b.bytes = {{random_(), random_()}};
            b.count_kind = static_cast<Buffer::Count>(below(3));
            if (b.count_kind == Buffer::Count::Literal) b.count = below(1000);
            program_.buffers.push_back(std::move(b));
        }
    }

    void declare_table() {
        wye::ir::Table t;
        t.name = name();
        t.type = {static_cast<wye::ir::Kind>(2 + below(7)), 1};
        for (std::uint32_t i = 1 + below(7); i-- > 0;) t.bits.push_back(literal(t.type.kind));
        program_.tables.push_back(std::move(t));
    }

    wye::ir::SizeExpr size(unsigned depth) {
        wye::ir::SizeExpr out;
        size_into(out, depth);
        return out;
    }
    void size_into(wye::ir::SizeExpr& out, unsigned depth) {
        wye::ir::SizeNode node;
        const std::uint32_t kind = depth == 0 ? below(3) : below(7);
        if (kind == 1 && !program_.params.empty()) {
            node.op = WYE_SIZE_PARAM;
            node.index = static_cast<std::uint16_t>(
                below(static_cast<std::uint32_t>(program_.params.size())));
        } else if (kind == 2 && !program_.buffers.empty()) {
            node.op = WYE_SIZE_LEN;
            node.index = static_cast<std::uint16_t>(
                below(static_cast<std::uint32_t>(program_.buffers.size())));
        } else if (kind < 3) {
            node.op = WYE_SIZE_LITERAL;
            node.literal = random_();
        } else {
            node.op = static_cast<std::uint8_t>(WYE_SIZE_ADD + kind - 3);
        }
        out.push_back(node);
        if (node.op >= WYE_SIZE_ADD) {
            size_into(out, depth - 1);
            size_into(out, depth - 1);
        }
    }

    void declare_function() {
        using namespace wye::ir;
        Function f;
        f.name = name();
        f.type = value_type();
        f.arguments = below(4);
        for (std::uint32_t i = 0; i < f.arguments; ++i) {
            Local a;
            a.form = Local::Form::Argument;
            a.type = value_type();
            if (chance(2)) a.name = name();
            f.code.locals.push_back(std::move(a));
        }
        code_ = &f.code;
        f.code.root = block(2);
        f.code.result = expression(3, false);
        program_.functions.push_back(std::move(f));
    }

    wye::ir::ExprId leaf() {
        using namespace wye::ir;
        Expr e;
        switch (below(4)) {
            case 1:
                if (program_.params.empty()) break;
                e.op = Op::PARAM;
                e.imm = static_cast<std::uint16_t>(
                    below(static_cast<std::uint32_t>(program_.params.size())));
                return add(e, {});
            case 2:
                if (code_->locals.empty()) break;
                e.op = chance(5) ? (chance(2) ? Op::LEN_ARRAY : Op::LEN64_ARRAY) : Op::LOCAL;
                e.extra = below(static_cast<std::uint32_t>(code_->locals.size()));
                return add(e, {});
            case 3:
                e.op = Op::BUILTIN;
                e.imm = static_cast<std::uint16_t>(below(WYE_BUILTIN_COUNT));
                return add(e, {});
            default:
                break;
        }
        e.op = Op::LITERAL;
        const Type type = scalar_type();
        e.imm = type.code();
        e.extra = literal(type.kind);
        return add(e, {});
    }

    wye::ir::ExprId expression(unsigned depth, bool effect) {
        using namespace wye::ir;
        if (depth == 0) return leaf();
        static constexpr std::uint16_t kOps[] = {
#define WYE_RANDOM_OP(name, code, text, operands) code,
            WYE_LEAVES(WYE_RANDOM_OP) WYE_OPERATORS(WYE_RANDOM_OP) WYE_MATH(WYE_RANDOM_OP)
#undef WYE_RANDOM_OP
        };
        static constexpr std::uint16_t kEffects[] = {
#define WYE_RANDOM_OP(name, code, text, operands) code,
            WYE_EFFECTS(WYE_RANDOM_OP)
#undef WYE_RANDOM_OP
        };
        Expr e;
        e.op = static_cast<Op>(effect ? kEffects[below(std::size(kEffects))]
                                      : kOps[below(std::size(kOps))]);
        int operands = op_operands(e.op);
        const auto pick = [&](std::size_t count) {
            e.imm = static_cast<std::uint16_t>(below(static_cast<std::uint32_t>(count)));
        };
        switch (e.op) {
            case Op::LITERAL:
            case Op::PARAM:
            case Op::LOCAL:
            case Op::BUILTIN:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
                return leaf();
            case Op::LEN:
            case Op::LEN64:
            case Op::LOAD:
                if (program_.buffers.empty()) return leaf();
                pick(program_.buffers.size());
                break;
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
            case Op::LOAD_TABLE:
                if (program_.tables.empty()) return leaf();
                pick(program_.tables.size());
                break;
            case Op::LOAD_ARRAY:
                if (code_->locals.empty()) return leaf();
                e.extra = below(static_cast<std::uint32_t>(code_->locals.size()));
                break;
            case Op::CALL:
                if (program_.functions.empty()) return leaf();
                pick(program_.functions.size());
                operands = static_cast<int>(program_.functions[e.imm].arguments);
                break;
            case Op::CONSTRUCT:
            case Op::SPLAT: {
                const auto lanes = static_cast<std::uint8_t>(2 + below(3));
                e.imm = scalar_type().with_lanes(lanes).code();
                if (e.op == Op::CONSTRUCT) operands = lanes;
                break;
            }
            case Op::COMPONENT:
                pick(4);
                break;
            case Op::CONVERT:
            case Op::BITCAST:
                e.imm = value_type().code();
                break;
            default:
                if (op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD) {
                    if (program_.buffers.empty()) {
                        e.op = Op::SUBGROUP_ADD;
                        operands = 1;
                    } else {
                        pick(program_.buffers.size());
                    }
                }
        }
        std::vector<ExprId> ids;
        for (int i = 0; i < operands; ++i) ids.push_back(expression(depth - 1, false));
        return add(e, ids);
    }

    wye::ir::ExprId add(wye::ir::Expr e, const std::vector<wye::ir::ExprId>& operands) {
        e.first = static_cast<std::uint32_t>(code_->operands.size());
        e.count = static_cast<std::uint32_t>(operands.size());
        code_->operands.insert(code_->operands.end(), operands.begin(), operands.end());
        code_->exprs.push_back(e);
        return static_cast<wye::ir::ExprId>(code_->exprs.size() - 1);
    }

    wye::ir::BlockId block(unsigned depth) {
        const auto id = static_cast<wye::ir::BlockId>(code_->blocks.size());
        code_->blocks.emplace_back();
        for (std::uint32_t i = below(5); i-- > 0;) {
            const wye::ir::StmtId s = statement(depth);
            code_->blocks[id].push_back(s);
        }
        return id;
    }

    void declare(wye::ir::Stmt& s, wye::ir::Local::Form form, wye::ir::Type type = {},
                 std::uint32_t count = 0) {
        s.local = static_cast<std::uint32_t>(code_->locals.size());
        wye::ir::Local local;
        local.form = form;
        local.type = type;
        local.count = count;
        if (chance(2)) local.name = name();
        code_->locals.push_back(std::move(local));
    }

    wye::ir::StmtId statement(unsigned depth) {
        using namespace wye::ir;
        Stmt s;
        s.op = static_cast<Op>(1 + below(0x12));
        if (depth == 0 && (s.op == Op::IF || s.op == Op::FOR || s.op == Op::WHILE)) s.op = Op::LET;
        if (s.op == Op::STORE && program_.buffers.empty()) s.op = Op::BARRIER;
        if (s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT || s.op == Op::STORE_ARRAY) {
            if (code_->locals.empty())
                s.op = Op::VAR;
            else
                s.local = below(static_cast<std::uint32_t>(code_->locals.size()));
        }
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
                s.args[0] = expression(3, chance(4));
                declare(s, s.op == Op::LET ? Local::Form::Let : Local::Form::Var);
                break;
            case Op::VAR_ZERO:
            case Op::VAR_ARRAY: {
                const Type type = value_type();
                s.imm = type.code();
                if (s.op == Op::VAR_ZERO)
                    declare(s, Local::Form::Var, type);
                else
                    declare(s, Local::Form::Array, type, 1 + below(8));
                break;
            }
            case Op::ASSIGN_COMPONENT:
                s.imm = static_cast<std::uint16_t>(below(4));
                [[fallthrough]];
            case Op::ASSIGN:
                s.args[0] = expression(3, chance(4));
                break;
            case Op::STORE:
                s.imm = static_cast<std::uint16_t>(
                    below(static_cast<std::uint32_t>(program_.buffers.size())));
                [[fallthrough]];
            case Op::STORE_ARRAY:
                s.args[0] = expression(2, false);
                s.args[1] = expression(2, chance(4));
                break;
            case Op::EFFECT:
                s.args[0] = expression(2, true);
                break;
            case Op::IF:
                s.args[0] = expression(2, false);
                s.body = block(depth - 1);
                s.otherwise = block(depth - 1);
                break;
            case Op::FOR:
                for (ExprId& bound : s.args) bound = expression(1, false);
                declare(s, Local::Form::For);
                s.body = block(depth - 1);
                break;
            case Op::WHILE:
                s.args[0] = expression(2, false);
                s.body = block(depth - 1);
                break;
            case Op::TRAP:
                s.imm = static_cast<std::uint16_t>(1 + below(65535));
                break;
            default:
                break;
        }
        code_->stmts.push_back(s);
        return static_cast<StmtId>(code_->stmts.size() - 1);
    }

    std::mt19937_64 random_;
    wye::ir::Program program_;
    wye::ir::Code* code_ = nullptr;
};

}  // namespace test
