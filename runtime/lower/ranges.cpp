// SPDX-License-Identifier: Apache-2.0
//
// One walk over main, then over the functions from the last to the first (callers before callees),
// with a number for every integer value and the facts that hold where the walk stands. Variables
// get a new number at each assignment, and where paths meet.
#include "lower/ranges.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lower/range_facts.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// Buffers that always have equal lengths share a class: equal literal counts, equal size
// expressions, and `len(x)` with x itself.
class Lengths {
  public:
    explicit Lengths(const ir::Program& program) : of_(program.buffers.size()) {
        for (std::uint32_t b = 0; b < program.buffers.size(); ++b) of_[b] = b;
        for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
            const ir::Buffer& buffer = program.buffers[b];
            if (buffer.count_kind != ir::Buffer::Count::Computed) continue;
            if (buffer.size.size() == 1 && buffer.size[0].op == WYE_SIZE_LEN) {
                of_[b] = of_[buffer.size[0].index];
                continue;
            }
            for (std::uint32_t other = 0; other < b; ++other)
                if (program.buffers[other].count_kind == ir::Buffer::Count::Computed &&
                    program.buffers[other].size == buffer.size) {
                    of_[b] = of_[other];
                    break;
                }
        }
    }
    [[nodiscard]] std::uint32_t of(std::uint32_t buffer) const { return of_[buffer]; }

  private:
    std::vector<std::uint32_t> of_;
};

struct Shared {
    const ir::Program& program;
    std::array<std::uint32_t, 3> workgroup;
    Lengths lengths;
    // What the calls seen so far pass, by function and argument.
    std::vector<std::vector<std::optional<Interval>>> arguments;
};

class Walk {
  public:
    Walk(Shared& shared, const ir::Code& code) : shared_(shared), code_(code) {
        result_.accesses.resize(code.exprs.size());
        result_.stores.resize(code.stmts.size());
        result_.plain_loops.resize(code.stmts.size());
        locals_.assign(code.locals.size(), kNoValue);
        parts_.assign(code.locals.size(), ir::kNone);
        values_.assign(code.exprs.size(), kNoValue);
    }

    CodeRanges run(const std::vector<std::optional<Interval>>& arguments) {
        for (std::uint32_t a = 0; a < arguments.size(); ++a) {
            const ir::Type type = code_.locals[a].type;
            if (tracked(type))
                locals_[a] = facts_.opaque(type.kind, arguments[a].value_or(whole(type.kind)));
        }
        block(code_.root);
        if (code_.result != ir::kNone) value(code_.result);
        return std::move(result_);
    }

  private:
    static bool tracked(ir::Type type) {
        return type.scalar() && (type.integer() || type.boolean());
    }
    Value length(std::uint32_t buffer, bool wide);
    bool in_range(std::uint32_t buffer, ir::ExprId index);
    bool below(std::uint64_t count, ir::ExprId index);
    bool below_length(std::uint32_t buffer, Value index);
    void access(ir::ExprId id, bool proven) { result_.accesses[id] = proven; }

    Value value(ir::ExprId id);
    Value compute(ir::ExprId id);
    Value built_in(const ir::Expr& e, unsigned component);
    Value component(const ir::Expr& e);
    Value loaded(ir::Type element) {
        const ir::Type type = element.loaded();
        return facts_.opaque(type.kind, whole(element.kind));
    }
    Value constant(Kind kind, std::uint64_t bits) {
        ValueNode node;
        node.op = Op::LITERAL;
        node.kind = kind;
        node.detail = bits;
        node.base = literal_interval(kind, bits);
        return facts_.number(node);
    }
    Value call(const ir::Expr& e, const std::vector<Value>& operands);

    void block(ir::BlockId id);
    void statement(ir::StmtId id);
    void for_statement(ir::StmtId id);
    void set(std::uint32_t local, Value value) {
        undo_.emplace_back(local, locals_[local]);
        locals_[local] = value;
    }
    void rewind(std::size_t mark) {
        for (; undo_.size() > mark; undo_.pop_back())
            locals_[undo_.back().first] = undo_.back().second;
    }
    void forget_assigned(ir::BlockId id);
    void collect_assigned(ir::BlockId id, std::set<std::uint32_t>& out) const;
    bool leaves(ir::BlockId id) const;
    void assume(ir::ExprId condition, bool truth, unsigned depth = 0);
    void assume_order(Op op, Value a, Value b);

    Shared& shared_;
    const ir::Code& code_;
    CodeRanges result_;
    RangeFacts facts_;
    std::vector<Value> locals_;         // by local: its value now; kNoValue: not tracked
    std::vector<std::uint32_t> parts_;  // by local: the built-in vector it stands for
    std::vector<Value> values_;         // by expression, once it was met
    std::vector<std::pair<std::uint32_t, Value>> undo_;  // assignments, to go back before a branch
};

Value Walk::length(std::uint32_t buffer, bool wide) {
    const ir::Buffer& b = shared_.program.buffers[buffer];
    const Kind kind = wide ? Kind::U64 : Kind::U32;
    if (b.count_kind == ir::Buffer::Count::Literal)
        return constant(kind, wide ? b.count : std::min<std::uint64_t>(b.count, 0xffffffffU));
    ValueNode node;
    node.op = wide ? Op::LEN64 : Op::LEN;
    node.kind = kind;
    node.detail = shared_.lengths.of(buffer);
    node.base = whole(kind);
    const std::uint32_t first = shared_.lengths.of(buffer);
    if (const ir::Buffer& same = shared_.program.buffers[first];
        same.count_kind == ir::Buffer::Count::Literal)
        return length(first, wide);
    return facts_.number(node);
}

bool Walk::below_length(std::uint32_t buffer, Value index) {
    const Kind kind = facts_.node(index).kind;
    if (facts_.interval(index).low < 0) return false;
    if (facts_.certainly_less(index, length(buffer, false), true)) return true;
    const bool wide = kind == Kind::I64 || kind == Kind::U64;
    return wide && facts_.certainly_less(index, length(buffer, true), true);
}

bool Walk::in_range(std::uint32_t buffer, ir::ExprId index) {
    return below_length(buffer, value(index));
}

bool Walk::below(std::uint64_t count, ir::ExprId index) {
    const Value v = value(index);
    const Interval i = facts_.interval(v);
    const bool open = facts_.node(v).kind == Kind::U64 && i.high == Interval::kMost;
    return i.low >= 0 && !open && static_cast<std::uint64_t>(i.high) < count;
}

Value Walk::built_in(const ir::Expr& e, unsigned component) {
    const auto& w = shared_.workgroup;
    Interval interval = whole(Kind::U32);
    const auto up_to = [](std::uint64_t count) {
        return Interval{0, static_cast<std::int64_t>(count) - 1};
    };
    if (e.imm == WYE_BUILTIN_LOCAL_ID) interval = up_to(w[component]);
    if (e.imm == WYE_BUILTIN_LOCAL_INDEX) interval = up_to(std::uint64_t{w[0]} * w[1] * w[2]);
    if (e.imm == WYE_BUILTIN_WORKGROUP_SIZE) return constant(Kind::U32, w[component]);
    // At most 2^32 - 1 of these on an axis.
    if (e.imm == WYE_BUILTIN_GLOBAL_ID || e.imm == WYE_BUILTIN_WORKGROUP_ID)
        interval = {0, whole(Kind::U32).high - 1};
    ValueNode node;
    node.op = Op::BUILTIN;
    node.kind = Kind::U32;
    node.detail = e.imm * 4U + component;
    node.base = interval;
    return facts_.number(node);
}

Value Walk::component(const ir::Expr& e) {
    const ir::Expr* from = &code_.exprs[code_.operands_of(e)[0]];
    const unsigned part = e.imm;
    value(code_.operands_of(e)[0]);
    if (from->op == Op::LOCAL) {
        const std::uint32_t source = parts_[static_cast<std::uint32_t>(from->extra)];
        if (source != ir::kNone) from = &code_.exprs[source];
    }
    if (from->op == Op::BUILTIN) return built_in(*from, part);
    if (from->op == Op::CONSTRUCT && tracked(e.type)) return value(code_.operands_of(*from)[part]);
    return facts_.opaque(e.type.kind, whole(e.type.kind));
}

// An expression stands at one place, so the first visit decides, with the facts that hold before
// its statement. A condition's own comparisons do not guard its own loads.
Value Walk::value(ir::ExprId id) {
    if (values_[id] == kNoValue) {
        const Value computed = compute(id);
        values_[id] = computed;
    }
    return values_[id];
}

Value Walk::compute(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    switch (e.op) {
        case Op::LITERAL:
            if (tracked(e.type)) return constant(e.type.kind, e.extra);
            return facts_.opaque(e.type.kind, {});
        case Op::LOCAL: {
            const Value known = locals_[static_cast<std::uint32_t>(e.extra)];
            return known != kNoValue ? known : facts_.opaque(e.type.kind, whole(e.type.kind));
        }
        case Op::BUILTIN:
            return built_in(e, 0);
        case Op::COMPONENT:
            return component(e);
        case Op::PARAM: {
            ValueNode node;
            node.op = Op::PARAM;
            node.kind = e.type.kind;
            node.detail = e.imm;
            node.base = whole(e.type.kind);
            return facts_.number(node);
        }
        case Op::LEN:
            return length(e.imm, false);
        case Op::LEN64:
            return length(e.imm, true);
        case Op::LEN_TABLE:
        case Op::LEN64_TABLE:
            return constant(e.type.kind, shared_.program.tables[e.imm].bits.size());
        case Op::LEN_ARRAY:
        case Op::LEN64_ARRAY:
            return constant(e.type.kind, code_.locals[static_cast<std::uint32_t>(e.extra)].count);
        case Op::LOAD:
        case Op::WORKGROUP_UNIFORM_LOAD:
            access(id, in_range(e.imm, ids[0]));
            return loaded(shared_.program.buffers[e.imm].type);
        case Op::LOAD_TABLE: {
            const ir::Table& table = shared_.program.tables[e.imm];
            access(id, below(table.bits.size(), ids[0]));
            if (!tracked(table.type)) return loaded(table.type);
            Interval all{0, 0};  // out of range gives zero
            for (const std::uint64_t bits : table.bits)
                all = join(all, literal_interval(table.type.kind, bits));
            return facts_.opaque(table.type.kind, all);
        }
        case Op::LOAD_ARRAY:
            access(id, below(code_.locals[static_cast<std::uint32_t>(e.extra)].count, ids[0]));
            return facts_.opaque(e.type.kind, whole(e.type.kind));
        default:
            break;
    }
    std::vector<Value> operands;
    for (const ir::ExprId operand : ids) operands.push_back(value(operand));
    if (ir::op_atomic(e.op)) {
        access(id, below_length(e.imm, operands[0]));
        return facts_.opaque(e.type.kind, whole(e.type.kind));
    }
    if (e.op == Op::CALL) return call(e, operands);
    if (!tracked(e.type) || operands.size() > 3) return facts_.opaque(e.type.kind, {});
    if (e.op == Op::CONVERT && e.type.kind == facts_.node(operands[0]).kind) return operands[0];

    ValueNode node;
    node.op = e.op;
    node.kind = e.type.kind;
    std::copy(operands.begin(), operands.end(), node.operands.begin());
    const auto base = [&](unsigned i) { return facts_.node(operands[i]).base; };
    const bool comparison = e.type.boolean();
    if (comparison)
        node.base = whole(Kind::BOOL);
    else if (e.op == Op::CONVERT)
        node.base = converted(facts_.node(operands[0]).kind, node.kind, base(0));
    else if (e.op == Op::SELECT)
        node.base = join(base(1), base(2));
    else if (e.op == Op::CLAMP)
        node.base =
            binary(Op::MIN, node.kind, binary(Op::MAX, node.kind, base(0), base(1)), base(2));
    else if (operands.size() == 1)
        node.base = unary(node.op, node.kind, base(0));
    else if (operands.size() == 2)
        node.base = binary(node.op, node.kind, base(0), base(1));
    else
        node.base = whole(node.kind);
    return facts_.number(node);
}

// The result of a function whose body only names values: its intervals, given the arguments'.
// Others, and what this version does not follow, give every value of the type.
Value Walk::call(const ir::Expr& e, const std::vector<Value>& operands) {
    const ir::Function& f = shared_.program.functions[e.imm];
    auto& seen = shared_.arguments[e.imm];
    for (std::size_t a = 0; a < operands.size(); ++a) {
        const ir::Type type = f.code.locals[a].type;
        if (!tracked(type)) continue;
        const Interval now = facts_.interval(operands[a]);
        seen[a] = seen[a] ? join(*seen[a], now) : now;
    }
    const Interval all = whole(f.type.kind);
    if (!tracked(f.type) || f.code.exprs.size() > 64 || f.code.locals.size() > 64)
        return facts_.opaque(f.type.kind, all);
    std::vector<Interval> locals(f.code.locals.size());
    for (std::size_t l = 0; l < locals.size(); ++l) locals[l] = whole(f.code.locals[l].type.kind);
    for (std::size_t a = 0; a < operands.size(); ++a)
        if (tracked(f.code.locals[a].type)) locals[a] = facts_.interval(operands[a]);
    std::vector<Interval> values(f.code.exprs.size());
    std::vector<bool> done(f.code.exprs.size());
    const auto evaluate = [&](ir::ExprId last) {
        for (ir::ExprId id = 0; id <= last; ++id) {
            if (done[id]) continue;
            done[id] = true;
            const ir::Expr& x = f.code.exprs[id];
            const auto ids = f.code.operands_of(x);
            values[id] = whole(x.type.kind);
            if (!tracked(x.type) || x.type.boolean()) continue;
            const bool plain = std::all_of(ids.begin(), ids.end(), [&](ir::ExprId operand) {
                return tracked(f.code.exprs[operand].type);
            });
            if (x.op == Op::LITERAL) values[id] = literal_interval(x.type.kind, x.extra);
            if (x.op == Op::LOCAL) values[id] = locals[static_cast<std::uint32_t>(x.extra)];
            if (x.op == Op::LOAD) values[id] = whole(shared_.program.buffers[x.imm].type.kind);
            if (!plain) continue;
            if (x.op == Op::CONVERT)
                values[id] = converted(f.code.exprs[ids[0]].type.kind, x.type.kind, values[ids[0]]);
            else if (x.op == Op::SELECT)
                values[id] = join(values[ids[1]], values[ids[2]]);
            else if (ids.size() == 2 && static_cast<unsigned>(x.op) >= 0x200)
                values[id] = binary(x.op, x.type.kind, values[ids[0]], values[ids[1]]);
            else if (ids.size() == 1 && static_cast<unsigned>(x.op) >= 0x200)
                values[id] = unary(x.op, x.type.kind, values[ids[0]]);
        }
    };
    for (const ir::StmtId id : f.code.blocks[f.code.root]) {
        const ir::Stmt& s = f.code.stmts[id];
        if (s.op != Op::LET) return facts_.opaque(f.type.kind, all);
        evaluate(s.args[0]);
        locals[s.local] = values[s.args[0]];
    }
    evaluate(f.code.result);
    return facts_.opaque(f.type.kind, values[f.code.result]);
}

void Walk::block(ir::BlockId id) {
    const std::size_t mark = facts_.mark();
    for (const ir::StmtId s : code_.blocks[id]) statement(s);
    facts_.release(mark);
}

bool Walk::leaves(ir::BlockId id) const {
    if (code_.blocks[id].empty()) return false;
    const ir::Stmt& last = code_.stmts[code_.blocks[id].back()];
    switch (last.op) {
        case Op::BREAK:
        case Op::CONTINUE:
        case Op::RETURN:
        case Op::TRAP:
            return true;
        case Op::IF:
            return leaves(last.body) && last.otherwise != ir::kNone && leaves(last.otherwise);
        default:
            return false;
    }
}

void Walk::collect_assigned(ir::BlockId id, std::set<std::uint32_t>& out) const {
    for (const ir::StmtId s : code_.blocks[id]) {
        const ir::Stmt& statement = code_.stmts[s];
        if (statement.op == Op::ASSIGN || statement.op == Op::ASSIGN_COMPONENT)
            out.insert(statement.local);
        if (statement.body != ir::kNone) collect_assigned(statement.body, out);
        if (statement.otherwise != ir::kNone) collect_assigned(statement.otherwise, out);
    }
}

// Where paths meet, variables that one of them changed may hold anything.
void Walk::forget_assigned(ir::BlockId id) {
    std::set<std::uint32_t> assigned;
    collect_assigned(id, assigned);
    for (const std::uint32_t local : assigned) {
        const ir::Type type = code_.locals[local].type;
        if (tracked(type)) set(local, facts_.opaque(type.kind, whole(type.kind)));
    }
}

void Walk::statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    switch (s.op) {
        case Op::LET:
        case Op::VAR:
        case Op::ASSIGN: {
            const Value v = value(s.args[0]);
            const ir::Expr& e = code_.exprs[s.args[0]];
            if (tracked(code_.locals[s.local].type)) set(s.local, v);
            if (s.op == Op::LET && e.op == Op::BUILTIN) parts_[s.local] = s.args[0];
            return;
        }
        case Op::VAR_ZERO:
            if (tracked(code_.locals[s.local].type))
                set(s.local, constant(code_.locals[s.local].type.kind, 0));
            return;
        case Op::ASSIGN_COMPONENT:
        case Op::EFFECT:
            value(s.args[0]);
            return;
        case Op::STORE:
            result_.stores[id] = in_range(s.imm, s.args[0]);
            value(s.args[1]);
            return;
        case Op::STORE_ARRAY:
            result_.stores[id] = below(code_.locals[s.local].count, s.args[0]);
            value(s.args[1]);
            return;
        case Op::IF: {
            value(s.args[0]);
            const std::size_t mark = facts_.mark();
            const std::size_t before = undo_.size();
            assume(s.args[0], true);
            block(s.body);
            facts_.release(mark);
            rewind(before);
            const bool has_else = s.otherwise != ir::kNone;
            assume(s.args[0], false);
            if (has_else) block(s.otherwise);
            facts_.release(mark);
            rewind(before);
            // The condition is read with the variables as they were before either side ran.
            if (leaves(s.body)) assume(s.args[0], false);
            if (has_else && leaves(s.otherwise)) assume(s.args[0], true);
            if (!leaves(s.body)) forget_assigned(s.body);
            if (has_else && !leaves(s.otherwise)) forget_assigned(s.otherwise);
            return;
        }
        case Op::FOR:
            return for_statement(id);
        case Op::WHILE: {
            forget_assigned(s.body);
            const std::size_t mark = facts_.mark();
            value(s.args[0]);
            assume(s.args[0], true);
            block(s.body);
            facts_.release(mark);
            forget_assigned(s.body);
            return;
        }
        default:
            return;
    }
}

void Walk::for_statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    const Kind kind = code_.locals[s.local].type.kind;
    const Value first = value(s.args[0]);
    const Value end = value(s.args[1]);
    const Value step = value(s.args[2]);
    const Interval from = facts_.interval(first);
    const Interval to = facts_.interval(end);
    const Interval by = facts_.interval(step);
    // Stepping from a value below `end` stays in the type. The greatest u64 is beyond intervals.
    const std::int64_t most = kind == Kind::U64 ? Interval::kMost : whole(kind).high;
    std::int64_t last = 0;
    const bool overflow =
        __builtin_add_overflow(to.high, std::max<std::int64_t>(by.high, 1) - 1, &last);
    result_.plain_loops[id] =
        by.high <= 1 || (!overflow && last <= most && !(kind == Kind::U64 && to.high == most));
    forget_assigned(s.body);
    const std::size_t mark = facts_.mark();
    Interval range{from.low, to.high};
    const bool open = kind == Kind::U64 && to.high == Interval::kMost;
    if (!open && to.high > Interval::kLeast) range.high = to.high - 1;
    if (range.low > range.high) range = whole(kind);
    // From a known start in known steps, the last value is known too.
    std::int64_t span = 0;
    if (!open && from.exact() && by.exact() && by.low > 1 && range.high >= from.low &&
        !__builtin_sub_overflow(range.high, from.low, &span))
        range.high = from.low + span / by.low * by.low;
    set(s.local, facts_.opaque(kind, range));
    facts_.less(locals_[s.local], end, true);
    facts_.less(first, locals_[s.local], false);
    block(s.body);
    facts_.release(mark);
    forget_assigned(s.body);
}

void Walk::assume(ir::ExprId condition, bool truth, unsigned depth) {
    const ir::Expr& e = code_.exprs[condition];
    const auto ids = code_.operands_of(e);
    if (depth > 16) return;
    switch (e.op) {
        case Op::LOGICAL_NOT:
            return assume(ids[0], !truth, depth + 1);
        case Op::LOGICAL_AND:
        case Op::LOGICAL_OR:
            if ((e.op == Op::LOGICAL_AND) != truth) return;
            assume(ids[0], truth, depth + 1);
            assume(ids[1], truth, depth + 1);
            return;
        case Op::EQ:
        case Op::NE:
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
            break;
        default:
            return;
    }
    const ir::Type type = code_.exprs[ids[0]].type;
    if (!type.scalar() || !type.integer()) return;
    const Value a = value(ids[0]);
    const Value b = value(ids[1]);
    static const std::map<Op, Op> kNegated = {{Op::EQ, Op::NE}, {Op::NE, Op::EQ}, {Op::LT, Op::GE},
                                              {Op::GE, Op::LT}, {Op::GT, Op::LE}, {Op::LE, Op::GT}};
    assume_order(truth ? e.op : kNegated.at(e.op), a, b);
}

void Walk::assume_order(Op op, Value a, Value b) {
    switch (op) {
        case Op::LT:
            return facts_.less(a, b, true);
        case Op::LE:
            return facts_.less(a, b, false);
        case Op::GT:
            return facts_.less(b, a, true);
        case Op::GE:
            return facts_.less(b, a, false);
        case Op::EQ:
            facts_.less(a, b, false);
            return facts_.less(b, a, false);
        default: {  // an end of the interval is cut off: `x != 0` makes an unsigned x at least 1
            const Interval left = facts_.interval(a);
            const Interval right = facts_.interval(b);
            if (right.exact() && left.low == right.low && left.low < Interval::kMost)
                facts_.within(a, {left.low + 1, Interval::kMost});
            if (left.exact() && right.low == left.low && right.low < Interval::kMost)
                facts_.within(b, {right.low + 1, Interval::kMost});
        }
    }
}

}  // namespace

Ranges::Ranges(const ir::Program& program, std::array<std::uint32_t, 3> workgroup)
    : functions_(program.functions.size()) {
    Shared shared{program, workgroup, Lengths(program), {}};
    for (const ir::Function& f : program.functions) shared.arguments.emplace_back(f.arguments);
    main_ = Walk(shared, program.main).run({});
    for (std::size_t f = program.functions.size(); f-- > 0;)
        functions_[f] = Walk(shared, program.functions[f].code).run(shared.arguments[f]);
}

}  // namespace wye::lower
