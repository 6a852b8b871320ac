// SPDX-License-Identifier: Apache-2.0
//
// Deterministic random programs that are valid: well typed, in scope, pure where they must be. The
// same seed gives the same program everywhere. Names of locals are missing, clash or are reserved
// at times, as names from the wire form may be.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "program/text/literal.hpp"
#include "wye/sdk/program.hpp"

namespace test {

using namespace wye::ir;

class TypedProgram {
  public:
    explicit TypedProgram(std::uint64_t seed) : random_(seed) {}

    Program make() {
        p_ = {};
        p_.name = "random";
        p_.workgroup = {8U << below(3), 1 + below(2), 1};
        if (chance(3)) p_.subgroup = 8;
        p_.adjustable = chance(4);
        static constexpr Kind kParams[] = {Kind::I32, Kind::U32, Kind::I64,
                                           Kind::U64, Kind::F32, Kind::F64};
        for (unsigned k = below(5); k-- > 0;)
            p_.params.push_back({"p" + std::to_string(k), {kParams[below(6)], 1}, {}});
        buffers();
        for (unsigned k = below(3); k-- > 0;) {
            Table t;
            t.name = "t" + std::to_string(k);
            t.type = scalar(false);
            for (unsigned n = 1 + below(40); n-- > 0;) t.bits.push_back(bits(t.type));
            p_.tables.push_back(std::move(t));
        }
        if (chance(2)) {
            p_.grid.kind = static_cast<std::uint8_t>(1 + below(2));
            for (unsigned k = 1 + below(3); k-- > 0;) p_.grid.axes.push_back(size(3));
        }
        for (unsigned k = below(4); k-- > 0;) function();
        in_function_ = false;
        begin(p_.main);
        p_.main.root = block(3, false);
        if (chance(3)) variant();
        return std::move(p_);
    }

  private:
    // ---- chance ----

    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
    bool chance(unsigned one_in) { return below(one_in) == 0; }

    std::uint64_t bits(Type t) {
        std::uint64_t value = chance(2) ? below(20) : random_();
        if (t.floating() && chance(4)) value = chance(2) ? infinity_bits(t, chance(2)) : 0;
        if (t.bits() < 64) value &= (std::uint64_t{1} << t.bits()) - 1;
        return is_nan(t, value) ? canonical_nan(t) : value;
    }
    Type scalar(bool with_bool) {
        static constexpr Kind kKinds[] = {Kind::I32, Kind::U32, Kind::I64, Kind::U64,
                                          Kind::F16, Kind::F32, Kind::F64, Kind::BOOL};
        return {kKinds[below(with_bool ? 8 : 7)], 1};
    }
    Type value_type(bool with_bool) {
        return scalar(with_bool).with_lanes(
            static_cast<std::uint8_t>(chance(2) ? 1 : 1 + below(4)));
    }

    // ---- declarations ----

    void buffers() {
        static constexpr Role kRoles[] = {Role::INPUT,  Role::UNIFORM,    Role::INPUT_OUTPUT,
                                          Role::OUTPUT, Role::PERSISTENT, Role::SHARED};
        std::uint32_t binding = below(3);
        for (unsigned k = 1 + below(6); k-- > 0;) {
            Buffer b;
            b.name = "b" + std::to_string(k);
            b.binding = binding;
            binding += 1 + (chance(3) ? below(5) : 0);
            b.role = kRoles[below(6)];
            b.type = value_type(false);
            if (!b.shared() && chance(3)) {
                static constexpr Kind kStorage[] = {Kind::I8, Kind::U8, Kind::I16, Kind::U16,
                                                    Kind::BF16};
                b.type.kind = kStorage[below(5)];
            }
            b.unset = (b.role == Role::OUTPUT || b.shared()) && chance(4);
            b.live = (b.role == Role::INPUT || b.role == Role::PERSISTENT) && chance(4);
            if (!b.shared() && chance(4)) b.align = 1U << below(12);
            if (b.in_outputs() && chance(4)) b.bytes = {{0, 16}};
            if (b.shared() || b.role == Role::UNIFORM || chance(3)) {
                b.count_kind = Buffer::Count::Literal;
                b.count = 16 + below(100);
            }
            p_.buffers.push_back(std::move(b));
        }
        // Computed counts come last: they use lengths of the others.
        for (std::size_t k = 1; k < p_.buffers.size(); ++k) {
            Buffer& b = p_.buffers[k];
            if (b.count_kind != Buffer::Count::Runtime || !chance(3)) continue;
            b.count_kind = Buffer::Count::Computed;
            b.size = {{WYE_SIZE_MUL, 0, 0}, {WYE_SIZE_LEN, 0, 0}};  // buffer 0 is not computed
            const SizeExpr rest = size(3);
            b.size.insert(b.size.end(), rest.begin(), rest.end());
        }
    }

    SizeExpr size(int depth) {
        if (depth > 0 && !chance(3)) {
            SizeExpr s{{static_cast<std::uint8_t>(WYE_SIZE_ADD + below(4)), 0, 0}};
            for (int k = 0; k < 2; ++k) {
                const SizeExpr part = size(depth - 1);
                s.insert(s.end(), part.begin(), part.end());
            }
            return s;
        }
        for (unsigned k = 0; k < p_.params.size(); ++k)
            if (p_.params[k].type.integer() && chance(2))
                return {{WYE_SIZE_PARAM, static_cast<std::uint16_t>(k), 0}};
        if (chance(2)) return {{WYE_SIZE_LEN, 0, 0}};
        return {{WYE_SIZE_LITERAL, 0, random_() >> below(64)}};
    }

    void variant() {
        static const std::string kCodes[] = {"x", "a\"\"b\"\"\"", "\"\"", "line\nline\r\n\\",
                                             "\xc3\xa9\"\"\"\""};
        Variant v;
        v.format = "cuda-c";
        v.entry = "k\\\"";
        if (chance(2)) v.filter = "cuda:*[cc>=9.0]";
        const std::string& code = kCodes[below(5)];
        for (const char c : code) v.bytes.push_back(static_cast<std::byte>(c));
        p_.variants.push_back(std::move(v));
    }

    void function() {
        Function f;
        f.name = "f" + std::to_string(p_.functions.size());
        f.type = value_type(true);
        in_function_ = true;
        begin(f.code);
        f.arguments = below(4);
        for (unsigned k = 0; k < f.arguments; ++k) declare(Local::Form::Argument, value_type(true));
        f.code.root = block(2, false, &f);
        p_.functions.push_back(std::move(f));
    }

    // ---- code ----

    void begin(Code& code) {
        code = {};
        code_ = &code;
        scope_.clear();
    }

    std::uint32_t declare(Local::Form form, Type type, std::uint32_t count = 0) {
        static const char* const kNames[] = {"", "i", "x", "b0", "p1", "if", "f0", "i_2", "v1"};
        Local l;
        l.form = form;
        l.type = type;
        l.count = count;
        l.name = kNames[below(9)];
        code_->locals.push_back(std::move(l));
        scope_.push_back(static_cast<std::uint32_t>(code_->locals.size() - 1));
        return scope_.back();
    }

    ExprId node(Op op, Type type, std::vector<ExprId> operands, std::uint16_t imm = 0,
                std::uint64_t extra = 0) {
        Expr e;
        e.op = op;
        e.imm = imm;
        e.type = type;
        e.extra = extra;
        e.first = static_cast<std::uint32_t>(code_->operands.size());
        e.count = static_cast<std::uint32_t>(operands.size());
        code_->operands.insert(code_->operands.end(), operands.begin(), operands.end());
        code_->exprs.push_back(e);
        return static_cast<ExprId>(code_->exprs.size() - 1);
    }

    ExprId literal(Type t) {
        if (t.scalar()) return node(Op::LITERAL, t, {}, t.code(), bits(t));
        if (chance(2)) return node(Op::SPLAT, t, {literal(t.component())}, t.code());
        std::vector<ExprId> parts;
        for (int k = 0; k < t.lanes; ++k) parts.push_back(literal(t.component()));
        return node(Op::CONSTRUCT, t, parts, t.code());
    }

    ExprId index() {
        static constexpr Type kTypes[] = {kU32, kI32, kU64, kI64};
        return expr(kTypes[below(4)], 1);
    }

    // A leaf or memory read of the type; kNone when there is none.
    ExprId read(Type t, int depth) {
        for (const std::uint32_t l : scope_) {
            const Local& local = code_->locals[l];
            if (local.type != t || !chance(2)) continue;
            if (local.form != Local::Form::Array) return node(Op::LOCAL, t, {}, 0, l);
            if (depth > 0) return node(Op::LOAD_ARRAY, t, {index()}, 0, l);
        }
        for (unsigned k = 0; k < p_.params.size(); ++k)
            if (p_.params[k].type == t && chance(2))
                return node(Op::PARAM, t, {}, static_cast<std::uint16_t>(k));
        const auto u16 = [](std::size_t k) { return static_cast<std::uint16_t>(k); };
        for (std::size_t k = 0; k < p_.buffers.size(); ++k) {
            if (t == kU32 && chance(8)) return node(Op::LEN, t, {}, u16(k));
            if (t == kU64 && chance(4)) return node(Op::LEN64, t, {}, u16(k));
            if (depth > 0 && p_.buffers[k].type.loaded() == t && chance(2))
                return node(Op::LOAD, t, {index()}, u16(k));
        }
        for (std::size_t k = 0; k < p_.tables.size(); ++k)
            if (depth > 0 && p_.tables[k].type == t && chance(2))
                return node(Op::LOAD_TABLE, t, {index()}, u16(k));
        if (t == kU32 && chance(2))
            return node(Op::BUILTIN, t, {}, u16(WYE_BUILTIN_LOCAL_INDEX + below(5)));
        if (t == kU32.with_lanes(3)) return node(Op::BUILTIN, t, {}, u16(below(5)));
        return kNone;
    }

    ExprId expr(Type t, int depth) {
        if (depth == 0 || chance(4)) {
            const ExprId id = read(t, depth);
            return id != kNone ? id : literal(t);
        }
        --depth;
        if (chance(5)) {
            const Type condition = chance(2) ? kBool : Type{Kind::BOOL, t.lanes};
            const ExprId c = expr(condition, depth);
            const ExprId yes = expr(t, depth);
            return node(Op::SELECT, t, {c, yes, expr(t, depth)});
        }
        if (chance(6) && !p_.functions.empty()) {
            const auto k = below(static_cast<unsigned>(p_.functions.size()));
            const Function& f = p_.functions[k];
            if (f.type == t) {
                std::vector<ExprId> arguments;
                for (unsigned n = 0; n < f.arguments; ++n)
                    arguments.push_back(expr(f.code.locals[n].type, 0));
                return node(Op::CALL, t, arguments, static_cast<std::uint16_t>(k));
            }
        }
        if (!t.scalar() && chance(3)) {
            if (chance(2)) return node(Op::SPLAT, t, {expr(t.component(), depth)}, t.code());
            std::vector<ExprId> parts;
            for (int k = 0; k < t.lanes; ++k) parts.push_back(expr(t.component(), depth));
            return node(Op::CONSTRUCT, t, parts, t.code());
        }
        if (t.scalar() && chance(4)) {
            const auto lanes = static_cast<std::uint8_t>(2 + below(3));
            const ExprId v = expr(t.with_lanes(lanes), depth);
            return node(Op::COMPONENT, t, {v}, static_cast<std::uint16_t>(below(lanes)));
        }
        return t.boolean() ? condition(t, depth) : arithmetic(t, depth);
    }

    ExprId pair(Op op, Type result, Type operands, int depth) {
        const ExprId left = expr(operands, depth);
        return node(op, result, {left, expr(operands, depth)});
    }

    ExprId condition(Type t, int depth) {
        static constexpr Op kCompare[] = {Op::EQ, Op::NE, Op::LT, Op::LE, Op::GT, Op::GE};
        const Type number = scalar(false).with_lanes(t.lanes);
        switch (below(5)) {
            case 0:
                return pair(chance(2) ? Op::LOGICAL_AND : Op::LOGICAL_OR, t, t, depth);
            case 1:
                return node(Op::LOGICAL_NOT, t, {expr(t, depth)});
            case 2:
                if (t.scalar()) {
                    const Type vector{Kind::BOOL, static_cast<std::uint8_t>(2 + below(3))};
                    return node(chance(2) ? Op::ANY : Op::ALL, t, {expr(vector, depth)});
                }
                return pair(chance(2) ? Op::EQ : Op::NE, t, t, depth);
            case 3:
                if (number.floating())
                    return node(chance(2) ? Op::ISNAN : Op::ISINF, t, {expr(number, depth)});
                [[fallthrough]];
            default:
                return pair(kCompare[below(6)], t, number, depth);
        }
    }

    ExprId arithmetic(Type t, int depth) {
        static constexpr Op kBoth[] = {Op::ADD, Op::SUB, Op::MUL, Op::DIV, Op::MIN, Op::MAX};
        static constexpr Op kInts[] = {Op::REM, Op::AND, Op::OR,     Op::XOR, Op::SHL,
                                       Op::SHR, Op::NOT, Op::MUL_HI, Op::CLZ, Op::ADD_SAT};
        static constexpr Op kFloats[] = {Op::SQRT, Op::FLOOR, Op::ROUND, Op::COPYSIGN, Op::FMA};
        if (chance(8)) return node(Op::CONVERT, t, {expr(value_like(t), depth)}, t.code());
        if (chance(8) && t.bits() == 32) {
            static constexpr Kind kWords[] = {Kind::I32, Kind::U32, Kind::F32};
            return node(Op::BITCAST, t, {expr({kWords[below(3)], t.lanes}, depth)}, t.code());
        }
        if (chance(6) && (t.floating() || t.signed_integer()))
            return node(chance(2) ? Op::NEG : Op::ABS, t, {expr(t, depth)});
        if (chance(12) && t.floating() && t.kind != Kind::F16)
            return node(chance(2) ? Op::EXP : Op::RSQRT, t, {expr(t, depth)});
        if (chance(2)) return pair(kBoth[below(6)], t, t, depth);
        const Op op = t.integer() ? kInts[below(10)] : kFloats[below(5)];
        if (op == Op::SHL || op == Op::SHR) {
            const ExprId value = expr(t, depth);
            return node(op, t, {value, expr(kU32.with_lanes(t.lanes), depth)});
        }
        std::vector<ExprId> operands;
        for (int k = op_operands(op); k-- > 0;) operands.push_back(expr(t, depth));
        return node(op, t, operands);
    }

    Type value_like(Type t) { return scalar(true).with_lanes(t.lanes); }

    // ---- statements ----

    StmtId add(Op op, std::array<ExprId, 3> args = {kNone, kNone, kNone}, std::uint16_t imm = 0,
               std::uint32_t local = kNone) {
        Stmt s;
        s.op = op;
        s.imm = imm;
        s.local = local;
        s.args = args;
        code_->stmts.push_back(s);
        return static_cast<StmtId>(code_->stmts.size() - 1);
    }

    BlockId block(int depth, bool loop, Function* function = nullptr) {
        const auto id = static_cast<BlockId>(code_->blocks.size());
        code_->blocks.emplace_back();
        const std::size_t mark = scope_.size();
        std::vector<StmtId> list;
        for (unsigned k = below(6); k-- > 0;)
            if (const StmtId s = statement(depth, loop); s != kNone) list.push_back(s);
        if (loop && chance(3)) list.push_back(add(chance(2) ? Op::BREAK : Op::CONTINUE));
        code_->blocks[id] = std::move(list);
        if (function != nullptr) code_->result = expr(function->type, 3);
        scope_.resize(mark);
        return id;
    }

    StmtId statement(int depth, bool loop) {
        const Type t = value_type(true);
        switch (below(depth > 0 ? 11 : 8)) {
            case 0:
            case 1: {
                const bool let = chance(2);
                const ExprId value = expr(t, 4);
                const auto l = declare(let ? Local::Form::Let : Local::Form::Var, t);
                return add(let ? Op::LET : Op::VAR, {value, kNone, kNone}, 0, l);
            }
            case 2:
                return add(Op::VAR_ZERO, {kNone, kNone, kNone}, t.code(),
                           declare(Local::Form::Var, t));
            case 3: {
                const Type element = value_type(false);
                return add(Op::VAR_ARRAY, {kNone, kNone, kNone}, element.code(),
                           declare(Local::Form::Array, element, 1 + below(4)));
            }
            case 4:
            case 5:
                return assignment();
            case 6:
            case 7:
                return in_function_ ? kNone : memory();
            case 8: {
                Stmt s;
                s.op = Op::IF;
                s.args[0] = expr(kBool, 3);
                s.body = block(depth - 1, loop);
                s.otherwise = static_cast<BlockId>(code_->blocks.size());
                if (chance(2))
                    code_->blocks.emplace_back();
                else
                    s.otherwise = block(depth - 1, false);  // does not leave: so the if does not
                code_->stmts.push_back(s);
                return static_cast<StmtId>(code_->stmts.size() - 1);
            }
            case 9: {
                static constexpr Type kCounters[] = {kU32, kI32, kU64, kI64};
                Stmt s;
                s.op = Op::FOR;
                const Type counter = kCounters[below(4)];
                s.args = {expr(counter, 2), expr(counter, 2), kNone};
                s.args[2] = chance(2) ? node(Op::LITERAL, counter, {}, counter.code(), 1)
                                      : expr(counter, 1);
                const std::size_t mark = scope_.size();
                s.local = declare(Local::Form::For, counter);
                s.body = block(depth - 1, true);
                scope_.resize(mark);
                code_->stmts.push_back(s);
                return static_cast<StmtId>(code_->stmts.size() - 1);
            }
            default: {
                if (in_function_) return kNone;
                Stmt s;
                s.op = Op::WHILE;
                s.args[0] = expr(kBool, 3);
                s.body = block(depth - 1, true);
                code_->stmts.push_back(s);
                return static_cast<StmtId>(code_->stmts.size() - 1);
            }
        }
    }

    StmtId assignment() {
        for (const std::uint32_t l : scope_) {
            const Type t = code_->locals[l].type;
            const Local::Form form = code_->locals[l].form;
            if ((form != Local::Form::Var && form != Local::Form::Array) || chance(2)) continue;
            if (form == Local::Form::Array) {
                const ExprId at = index();
                return add(Op::STORE_ARRAY, {at, expr(t, 3), kNone}, 0, l);
            }
            const bool part = !t.scalar() && chance(2);
            const Type target = part ? t.component() : t;
            const auto lane = static_cast<std::uint16_t>(part ? below(t.lanes) : 0);
            ExprId value = kNone;
            if (!t.boolean() && chance(2)) {  // what `op=` makes
                ExprId left = node(Op::LOCAL, t, {}, 0, l);
                if (part) left = node(Op::COMPONENT, target, {left}, lane);
                value = node(Op::ADD, target, {left, expr(target, 2)});
            } else {
                value = expr(target, 3);
            }
            return add(part ? Op::ASSIGN_COMPONENT : Op::ASSIGN, {value, kNone, kNone}, lane, l);
        }
        return kNone;
    }

    StmtId memory() {
        const auto k = below(static_cast<unsigned>(p_.buffers.size()));
        const Buffer& b = p_.buffers[k];
        const auto imm = static_cast<std::uint16_t>(k);
        if (!role_writable(b.role)) return kNone;
        const Type t = b.type;
        const ExprId at = index();
        const bool atomic = t.scalar() && t.integer() && chance(2);
        if (!atomic) return add(Op::STORE, {at, expr(t.loaded(), 3), kNone}, imm);
        static constexpr Op kOps[] = {Op::ATOMIC_LOAD, Op::ATOMIC_STORE, Op::ATOMIC_ADD,
                                      Op::ATOMIC_XOR, Op::ATOMIC_CAS};
        const Op op = kOps[below(5)];
        std::vector<ExprId> operands{at};
        while (operands.size() < static_cast<std::size_t>(op_operands(op)))
            operands.push_back(expr(t, 2));
        const bool used = op != Op::ATOMIC_STORE && chance(2);
        const ExprId effect = node(op, op == Op::ATOMIC_STORE ? Type{} : t, operands, imm);
        if (!used) return add(Op::EFFECT, {effect, kNone, kNone});
        return add(Op::LET, {effect, kNone, kNone}, 0, declare(Local::Form::Let, t));
    }

    std::mt19937_64 random_;
    Program p_;
    Code* code_ = nullptr;
    std::vector<std::uint32_t> scope_;
    bool in_function_ = false;
};

}  // namespace test
