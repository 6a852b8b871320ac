// SPDX-License-Identifier: Apache-2.0
//
// Runs the invocations of a program one after the other, statement by statement. A plugin with a
// compiler would walk the same tree once, and write code for the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "arithmetic.hpp"

namespace driver {

using Ids = std::array<std::uint32_t, 3>;

// Up to four components of one type.
using Value = std::array<std::uint64_t, 4>;

// The elements of a buffer or of a `shared` array.
struct Elements {
    std::byte* data;
    std::uint64_t count;
};

// One workgroup of a launch.
struct Workgroup {
    const wye::ir::Program& program;
    std::span<const Elements> buffers;  // in the order of Program::buffers
    const std::byte* params;
    std::span<const std::uint32_t> offsets;  // byte offset of each parameter in `params`
    Ids size, id, count;
    std::uint32_t* trap;         // two words: the largest code, the number of traps; or null
    std::function<void()> wait;  // returns when all invocations have called it
};

class Invocation {
  public:
    Invocation(const Workgroup& group, const Ids& local) : group_(group), local_(local) {}

    void run() {
        Frame frame(group_.program.main);
        run(frame, frame.code.root);
    }

  private:
    using Code = wye::ir::Code;
    using Expr = wye::ir::Expr;
    using Stmt = wye::ir::Stmt;
    using Type = wye::ir::Type;

    // The locals of main, or of one call of a function.
    struct Frame {
        explicit Frame(const Code& of) : code(of), locals(of.locals.size()) {}
        const Code& code;
        std::vector<std::vector<Value>> locals;  // one value, or the values of an array
        void set(std::uint32_t local, const Value& value) { locals[local].assign(1, value); }
    };
    enum class Flow { Next, Break, Continue, Return };

    // ---- Statements ----

    Flow run(Frame& frame, wye::ir::BlockId block) {
        for (const wye::ir::StmtId id : frame.code.blocks[block])
            if (const Flow flow = run(frame, frame.code.stmts[id]); flow != Flow::Next) return flow;
        return Flow::Next;
    }

    Flow run(Frame& frame, const Stmt& s) {
        const auto value = [&](unsigned k) { return evaluate(frame, s.args[k]); };
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
            case Op::ASSIGN:
                frame.set(s.local, value(0));
                return Flow::Next;
            case Op::VAR_ZERO:
                frame.set(s.local, {});
                return Flow::Next;
            case Op::VAR_ARRAY:
                frame.locals[s.local].assign(frame.code.locals[s.local].count, {});
                return Flow::Next;
            case Op::ASSIGN_COMPONENT:
                frame.locals[s.local][0][s.imm] = value(0)[0];
                return Flow::Next;
            case Op::STORE: {
                const std::uint64_t at = index(frame, s.args[0]);
                store(s.imm, at, value(1));  // evaluates the value first, as it may be an atomic
                return Flow::Next;
            }
            case Op::STORE_ARRAY: {
                const std::uint64_t at = index(frame, s.args[0]);
                const Value stored = value(1);
                if (at < frame.locals[s.local].size()) frame.locals[s.local][at] = stored;
                return Flow::Next;
            }
            case Op::EFFECT:
                (void)value(0);
                return Flow::Next;
            case Op::IF:
                return run(frame, value(0)[0] != 0 ? s.body : s.otherwise);
            case Op::FOR:
                return loop_over(frame, s);
            case Op::WHILE:
                while (value(0)[0] != 0) {
                    const Flow flow = run(frame, s.body);
                    if (flow == Flow::Break) break;
                    if (flow == Flow::Return) return flow;
                }
                return Flow::Next;
            case Op::BREAK:
                return Flow::Break;
            case Op::CONTINUE:
                return Flow::Continue;
            case Op::TRAP:
                if (group_.trap != nullptr) {
                    group_.trap[0] = std::max<std::uint32_t>(group_.trap[0], s.imm);
                    ++group_.trap[1];
                }
                return Flow::Return;
            case Op::BARRIER:
                group_.wait();
                return Flow::Next;
            default:  // RETURN
                return Flow::Return;
        }
    }

    // Runs a `for` loop. The bounds are evaluated once. A step below 1 counts as 1. A step past the
    // largest value of the type ends the loop.
    Flow loop_over(Frame& frame, const Stmt& s) {
        const Kind kind = frame.code.exprs[s.args[0]].type.kind;
        std::uint64_t at = evaluate(frame, s.args[0])[0];
        const std::uint64_t end = evaluate(frame, s.args[1])[0];
        const std::uint64_t step = binary(Op::MAX, kind, evaluate(frame, s.args[2])[0], 1);
        while (binary(Op::LT, kind, at, end) != 0) {
            frame.set(s.local, {at});
            const Flow flow = run(frame, s.body);
            if (flow == Flow::Return) return flow;
            const std::uint64_t next = binary(Op::ADD, kind, at, step);
            if (flow == Flow::Break || binary(Op::LE, kind, next, at) != 0) break;
            at = next;
        }
        return Flow::Next;
    }

    // ---- Memory ----

    // Returns an index as u64, so a negative index is out of range of every array.
    std::uint64_t index(Frame& frame, wye::ir::ExprId id) {
        const Kind kind = frame.code.exprs[id].type.kind;
        return convert(Kind::U64, kind, evaluate(frame, id)[0]);
    }

    Value load(std::uint32_t buffer, std::uint64_t at) const {
        const Type type = group_.program.buffers[buffer].type;
        const std::size_t bytes = type.component().bytes();
        Value out{};
        if (at >= group_.buffers[buffer].count) return out;
        for (std::size_t k = 0; k < type.lanes; ++k) {
            std::memcpy(&out[k], group_.buffers[buffer].data + at * type.bytes() + k * bytes,
                        bytes);
            if (type.kind == Kind::I8)
                out[k] = bits_of(std::int32_t{static_cast<std::int8_t>(out[k])});
            if (type.kind == Kind::I16)
                out[k] = bits_of(std::int32_t{static_cast<std::int16_t>(out[k])});
            if (type.kind == Kind::BF16) out[k] <<= 16U;
        }
        return out;
    }
    void store(std::uint32_t buffer, std::uint64_t at, const Value& value) const {
        const Type type = group_.program.buffers[buffer].type;
        const Kind kind = type.loaded().kind;
        const std::size_t bytes = type.component().bytes();
        if (at >= group_.buffers[buffer].count) return;
        for (std::size_t k = 0; k < type.lanes; ++k) {
            std::uint64_t bits = convert(kind, kind, value[k]);  // makes a NaN canonical
            if (type.kind == Kind::BF16) bits = bfloat_bits(value_of<float>(bits));
            std::memcpy(group_.buffers[buffer].data + at * type.bytes() + k * bytes, &bits, bytes);
        }
    }

    // One thread runs all of the device's work, so a load followed by a store is atomic.
    Value atomic(Frame& frame, const Expr& e) {
        const auto operands = frame.code.operands_of(e);
        const std::uint64_t at = index(frame, operands[0]);
        const Kind kind = group_.program.buffers[e.imm].type.kind;
        std::array<std::uint64_t, 2> given{};
        for (std::size_t k = 1; k < operands.size(); ++k)
            given[k - 1] = evaluate(frame, operands[k])[0];
        const Value old = load(e.imm, at);
        switch (e.op) {
            case Op::ATOMIC_LOAD:
                break;
            case Op::ATOMIC_STORE:
            case Op::ATOMIC_EXCHANGE:
                store(e.imm, at, {given[0]});
                break;
            case Op::ATOMIC_CAS:
                if (old[0] == given[0]) store(e.imm, at, {given[1]});
                break;
            default: {
                static constexpr Op kOps[] = {Op::ADD, Op::MIN, Op::MAX, Op::AND, Op::OR, Op::XOR};
                const auto number =
                    static_cast<std::size_t>(e.op) - static_cast<std::size_t>(Op::ATOMIC_ADD);
                store(e.imm, at, {binary(kOps[number], kind, old[0], given[0])});
            }
        }
        return old;
    }

    // ---- Expressions ----

    Value builtin(std::uint16_t which) const {
        Value out{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint32_t each[] = {
                group_.id[axis], local_[axis],
                group_.id[axis] * group_.size[axis] + local_[axis],  // modulo 2^32
                group_.count[axis], group_.size[axis]};
            if (which < std::size(each)) out[axis] = each[which];
        }
        if (which == WYE_BUILTIN_LOCAL_INDEX)
            out[0] = local_[0] + group_.size[0] * (local_[1] + group_.size[1] * local_[2]);
        return out;
    }

    static Value length(std::uint64_t count, bool wide) {
        return {wide ? count : std::min<std::uint64_t>(count, UINT32_MAX)};
    }

    Value call(Frame& frame, const Expr& e) {
        const wye::ir::Function& function = group_.program.functions[e.imm];
        Frame inner(function.code);
        const auto operands = frame.code.operands_of(e);
        for (std::uint32_t k = 0; k < function.arguments; ++k)
            inner.set(k, evaluate(frame, operands[k]));
        run(inner, inner.code.root);
        return evaluate(inner, inner.code.result);
    }

    Value evaluate(Frame& frame, wye::ir::ExprId id) {
        const Expr& e = frame.code.exprs[id];
        const wye::ir::Program& program = group_.program;
        switch (e.op) {
            case Op::LITERAL:
                return {e.extra};
            case Op::PARAM: {
                Value out{};
                std::memcpy(out.data(), group_.params + group_.offsets[e.imm],
                            program.params[e.imm].type.bytes());
                return out;
            }
            case Op::LOCAL:
                return frame.locals[e.extra][0];
            case Op::BUILTIN:
                return builtin(e.imm);
            case Op::LEN:
            case Op::LEN64:
                return length(group_.buffers[e.imm].count, e.op == Op::LEN64);
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
                return length(program.tables[e.imm].bits.size(), e.op == Op::LEN64_TABLE);
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
                return length(frame.locals[e.extra].size(), e.op == Op::LEN64_ARRAY);
            case Op::LOAD:
                return load(e.imm, index(frame, frame.code.operands_of(e)[0]));
            case Op::LOAD_TABLE: {
                const auto& bits = program.tables[e.imm].bits;
                const std::uint64_t at = index(frame, frame.code.operands_of(e)[0]);
                return {at < bits.size() ? bits[at] : 0};
            }
            case Op::LOAD_ARRAY: {
                const auto& array = frame.locals[e.extra];
                const std::uint64_t at = index(frame, frame.code.operands_of(e)[0]);
                return at < array.size() ? array[at] : Value{};
            }
            case Op::CALL:
                return call(frame, e);
            case Op::WORKGROUP_UNIFORM_LOAD: {  // between two barriers
                const std::uint64_t at = index(frame, frame.code.operands_of(e)[0]);
                group_.wait();
                const Value out = load(e.imm, at);
                group_.wait();
                return out;
            }
            default:
                return wye::ir::op_atomic(e.op) ? atomic(frame, e) : operation(frame, e);
        }
    }

    // Computes operations without memory, component by component.
    Value operation(Frame& frame, const Expr& e) {
        const auto operands = frame.code.operands_of(e);
        std::array<Value, 4> v{};
        for (std::size_t k = 0; k < operands.size(); ++k) v[k] = evaluate(frame, operands[k]);
        const Type from = frame.code.exprs[operands[0]].type;
        if (e.op == Op::BITCAST) return reinterpreted(v[0], from, e.type);
        Value out{};
        for (std::size_t k = 0; k < e.type.lanes; ++k) {
            switch (e.op) {
                case Op::CONSTRUCT:
                    out[k] = v[k][0];
                    break;
                case Op::SPLAT:
                    out[k] = v[0][0];
                    break;
                case Op::COMPONENT:
                    out[k] = v[0][e.imm];
                    break;
                case Op::CONVERT:
                    out[k] = convert(e.type.kind, from.kind, v[0][k]);
                    break;
                case Op::SELECT:  // by one condition, or by one for each component
                    out[k] = v[0][from.lanes == 1 ? 0 : k] != 0 ? v[1][k] : v[2][k];
                    break;
                case Op::ANY:
                case Op::ALL: {
                    const auto end = v[0].begin() + from.lanes;
                    out[0] = e.op == Op::ANY ? *std::max_element(v[0].begin(), end)
                                             : *std::min_element(v[0].begin(), end);
                    break;
                }
                case Op::CLAMP:
                    out[k] = binary(Op::MIN, from.kind,
                                    binary(Op::MAX, from.kind, v[0][k], v[1][k]), v[2][k]);
                    break;
                case Op::FMA:
                    out[k] = fused(from.kind, v[0][k], v[1][k], v[2][k]);
                    break;
                default:
                    if (operands.size() == 1)
                        out[k] = unary(e.op, from.kind, v[0][k]);
                    else
                        out[k] = binary(e.op, from.kind, v[0][k], v[1][k]);
            }
        }
        return out;
    }

    // Returns the bytes of a value as a value of another type of the same size.
    static Value reinterpreted(const Value& value, Type from, Type to) {
        std::array<std::byte, 32> bytes{};
        const std::size_t size = from.component().bytes(), part = to.component().bytes();
        for (std::size_t k = 0; k < from.lanes; ++k) {
            const std::uint64_t bits = convert(from.kind, from.kind, value[k]);  // canonical NaN
            std::memcpy(bytes.data() + k * size, &bits, size);
        }
        Value out{};
        for (std::size_t k = 0; k < to.lanes; ++k) {
            std::memcpy(&out[k], bytes.data() + k * part, part);
            out[k] = convert(to.kind, to.kind, out[k]);
        }
        return out;
    }

    const Workgroup& group_;
    const Ids local_;
};

}  // namespace driver
