// SPDX-License-Identifier: Apache-2.0
//
// Walks main once and, at each call, the callee. Every integer value has a number, and the walk
// keeps the facts that hold at the current place. Variables get a new number at each assignment,
// and where control flow joins. A function whose calls are too many or too deeply nested is walked
// once instead, with arguments in the joined intervals of all calls.
#include "lower/analysis/ranges.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "lower/analysis/barrier_data.hpp"
#include "lower/analysis/range_facts.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// The comparison that holds where `op` does not.
Op negated(Op op) {
    switch (op) {
        case Op::EQ:
            return Op::NE;
        case Op::NE:
            return Op::EQ;
        case Op::LT:
            return Op::GE;
        case Op::GE:
            return Op::LT;
        case Op::GT:
            return Op::LE;
        default:
            return Op::GT;
    }
}

// Groups buffers whose lengths are always equal into classes. Buffers with equal size expressions
// share a class. A buffer of size `len(x)` is in the class of x. Literal counts need no class.
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

// The result for an access or a loop. If the access or loop is walked several times, the greatest
// result counts.
enum class State : std::uint8_t { Unseen, Proven, Conditional, Checked };

struct CodeStates {
    explicit CodeStates(const ir::Code& code)
        : accesses(code.exprs.size()),
          stores(code.stmts.size()),
          plain_loops(code.stmts.size()),
          guarded(code.exprs.size()) {}

    [[nodiscard]] CodeRanges ranges(bool assume) const {
        const auto proven = [&](const std::vector<State>& states) {
            std::vector<bool> out;
            for (const State s : states)
                out.push_back(s == State::Proven || (assume && s == State::Conditional));
            return out;
        };
        const auto checked = [](const std::vector<State>& states) {
            std::vector<bool> out;
            for (const State s : states) out.push_back(s == State::Checked);
            return out;
        };
        return {proven(accesses),    guarded,           proven(stores),
                proven(plain_loops), checked(accesses), checked(stores)};
    }

    std::vector<State> accesses, stores, plain_loops;
    std::vector<bool> guarded;
};

struct Note {
    std::vector<State>* states;
    std::uint32_t at;
    State state;
};

struct Shared {
    const ir::Program& program;
    std::array<std::uint32_t, 3> workgroup;
    Lengths lengths;
    // The joined intervals of the arguments of all calls so far, by function and argument.
    std::vector<std::vector<std::optional<Interval>>> arguments;
    std::vector<CodeStates> functions;
    std::vector<bool> given_up;  // by function: whether some call was not walked
    std::size_t budget;          // number of nodes that walks of calls may still visit
    Bounds bounds;
    std::vector<Note>* notes;  // if not null, results are tentative and are collected here
    unsigned levels = 0;       // current nesting of expressions and blocks, calls included
};

// Calls at this level of nesting (of expressions, blocks and calls) or deeper are not walked. With
// the nesting that one function may add, the stack of a walk stays below 1 MiB.
constexpr unsigned kMaxLevels = 1024;

// Counts one level of nesting while the object exists.
class Deeper {
  public:
    explicit Deeper(unsigned& levels) : levels_(levels) { ++levels_; }
    ~Deeper() { --levels_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    unsigned& levels_;
};

class Walk {
  public:
    Walk(Shared& shared, const ir::Code& code, RangeFacts& facts, CodeStates& result)
        : shared_(shared), code_(code), facts_(facts), result_(result) {
        locals_.assign(code.locals.size(), kNoValue);
        parts_.assign(code.locals.size(), ir::kNone);
        values_.assign(code.exprs.size(), kNoValue);
    }

    // Returns the value of a function's result.
    Value run(const std::vector<Value>& arguments) {
        for (std::uint32_t a = 0; a < arguments.size(); ++a)
            if (tracked(code_.locals[a].type)) locals_[a] = arguments[a];
        block(code_.root);
        return code_.result != ir::kNone ? value(code_.result) : kNoValue;
    }

  private:
    static bool tracked(ir::Type type) {
        return type.scalar() && (type.integer() || type.boolean());
    }
    Value length(std::uint32_t buffer, bool wide);
    bool below_length(std::uint32_t buffer, Value index);
    State in_range(std::uint32_t buffer, Value index);
    State below(std::uint64_t count, Value index);
    void note(std::vector<State>& states, std::uint32_t at, State state) {
        if (shared_.notes != nullptr)
            shared_.notes->push_back({&states, at, state});
        else
            states[at] = std::max(states[at], state);
    }
    void access(ir::ExprId id, State state) { note(result_.accesses, id, state); }

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
    Value select(ir::ExprId id);
    Value select_arms(ir::ExprId id, bool assuming);
    void forget_values(ir::ExprId id);

    void block(ir::BlockId id);
    void statement(ir::StmtId id);
    void for_statement(ir::StmtId id);
    State plain_where(Kind kind, Value end, Value step);
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
    RangeFacts& facts_;
    CodeStates& result_;
    unsigned selects_ = 0;       // number of selects around the expression being walked
    std::vector<Value> locals_;  // by local: its current value, or kNoValue if it is not tracked
    std::vector<std::uint32_t> parts_;  // by local: the built-in vector that it is equal to
    std::vector<Value> values_;         // by expression, once it was visited
    std::vector<std::pair<std::uint32_t, Value>> undo_;  // assignments to revert after a branch
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

State Walk::in_range(std::uint32_t buffer, Value index) {
    if (below_length(buffer, index)) return State::Proven;
    const Kind kind = facts_.node(index).kind;
    const bool wide = kind == Kind::I64 || kind == Kind::U64;
    const std::uint32_t at = facts_.bound(index, shared_.bounds);
    const std::uint32_t length_at = facts_.bound(length(buffer, wide), shared_.bounds);
    return shared_.bounds.ask(at, length_at) ? State::Conditional : State::Checked;
}

State Walk::below(std::uint64_t count, Value v) {
    const Interval i = facts_.interval(v);
    const bool open = facts_.node(v).kind == Kind::U64 && i.high == Interval::kMost;
    if (i.low >= 0 && !open && static_cast<std::uint64_t>(i.high) < count) return State::Proven;
    const std::uint32_t at = facts_.bound(v, shared_.bounds);
    const std::uint32_t length_at =
        shared_.bounds.fixed(Kind::U64, literal_interval(Kind::U64, count));
    return shared_.bounds.ask(at, length_at) ? State::Conditional : State::Checked;
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
    // A grid has at most 2^32 - 1 invocations on each axis.
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

// An expression occurs in one statement, so its first visit computes its value, with the facts that
// hold before that statement. A comparison in a condition does not guard loads in the condition.
Value Walk::value(ir::ExprId id) {
    if (values_[id] == kNoValue) {
        const Deeper deeper(shared_.levels);
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
            access(id, in_range(e.imm, value(ids[0])));
            return loaded(shared_.program.buffers[e.imm].type);
        case Op::LOAD_TABLE: {
            const ir::Table& table = shared_.program.tables[e.imm];
            access(id, below(table.bits.size(), value(ids[0])));
            if (!tracked(table.type)) return loaded(table.type);
            Interval all{0, 0};  // an access out of range yields zero
            for (const std::uint64_t bits : table.bits)
                all = join(all, literal_interval(table.type.kind, bits));
            return facts_.opaque(table.type.kind, all);
        }
        case Op::LOAD_ARRAY:
            access(id,
                   below(code_.locals[static_cast<std::uint32_t>(e.extra)].count, value(ids[0])));
            return facts_.opaque(e.type.kind, whole(e.type.kind));
        case Op::SELECT:
            if (code_.exprs[ids[0]].type.scalar()) return select(id);
            break;
        default:
            break;
    }
    std::vector<Value> operands;
    for (const ir::ExprId operand : ids) operands.push_back(value(operand));
    if (ir::op_atomic(e.op)) {
        access(id, in_range(e.imm, operands[0]));
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

Value Walk::call(const ir::Expr& e, const std::vector<Value>& operands) {
    const ir::Function& f = shared_.program.functions[e.imm];
    auto& seen = shared_.arguments[e.imm];
    for (std::size_t a = 0; a < operands.size(); ++a) {
        if (!tracked(f.code.locals[a].type)) continue;
        const Interval now = facts_.interval(operands[a]);
        seen[a] = seen[a] ? join(*seen[a], now) : now;
    }
    const std::size_t nodes = f.code.exprs.size() + f.code.stmts.size() + 1;
    Value result = kNoValue;
    if (nodes <= shared_.budget && shared_.levels < kMaxLevels) {
        shared_.budget -= nodes;
        const std::size_t mark = facts_.mark();
        result = Walk(shared_, f.code, facts_, shared_.functions[e.imm]).run(operands);
        facts_.release(mark);
    } else {
        shared_.given_up[e.imm] = true;
    }
    return tracked(f.type) && result != kNoValue ? result
                                                 : facts_.opaque(f.type.kind, whole(f.type.kind));
}

// A select inside this many others is not tried as a branch.
constexpr unsigned kMaxSelects = 3;

void Walk::forget_values(ir::ExprId id) {
    values_[id] = kNoValue;
    for (const ir::ExprId operand : code_.operands_of(code_.exprs[id])) forget_values(operand);
}

// Both arms of a select are evaluated, unless the lowering makes the select a branch. It does so if
// more accesses can then be proven in range.
Value Walk::select(ir::ExprId id) {
    const auto ids = code_.operands_of(code_.exprs[id]);
    value(ids[0]);
    std::vector<Note>* const outer = shared_.notes;
    const Bounds::Asked before = shared_.bounds.asked();
    const auto tried = [&](bool assuming, std::vector<Note>& notes) {
        shared_.notes = &notes;
        const Value v = select_arms(id, assuming);
        shared_.notes = outer;
        return v;
    };
    const auto worth = [](const std::vector<Note>& notes) {
        std::size_t sum = 0;
        for (const Note& n : notes) sum += static_cast<std::size_t>(n.state);
        return sum;
    };
    ++selects_;
    std::vector<Note> notes;
    Value result = tried(false, notes);
    const bool all_proven = worth(notes) == notes.size();
    if (selects_ <= kMaxSelects && (notes.empty() || !all_proven)) {
        const Bounds::Asked asked = shared_.bounds.asked();
        std::vector<Note> assumed;
        shared_.bounds.set_asked(before);
        forget_values(ids[1]);
        forget_values(ids[2]);
        const Value other = tried(true, assumed);
        // `better`: as a branch, the select has more accesses in range, or other preconditions.
        const bool better = assumed.size() == notes.size() && !notes.empty() &&
                            (worth(assumed) < worth(notes) ||
                             (worth(assumed) == worth(notes) && shared_.bounds.asked() != asked));
        // Without accesses, `other` holds even if both arms are evaluated: the select has the value
        // of the arm that its condition chooses.
        if (better || (notes.empty() && assumed.empty())) {
            result = other;
            notes = std::move(assumed);
        } else {
            shared_.bounds.set_asked(asked);
        }
        if (better) result_.guarded[id] = true;
    }
    --selects_;
    for (const Note& n : notes) note(*n.states, n.at, n.state);
    return result;
}

Value Walk::select_arms(ir::ExprId id, bool assuming) {
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    Interval intervals[2];
    std::uint32_t bounds[2] = {kNoBound, kNoBound};
    ValueNode node;
    node.op = Op::SELECT;
    node.kind = e.type.kind;
    node.operands[0] = value(ids[0]);
    for (const unsigned arm : {0U, 1U}) {
        const std::size_t mark = facts_.mark();
        if (assuming) assume(ids[0], arm == 0);
        const Value v = value(ids[1 + arm]);
        node.operands[1 + arm] = v;
        if (tracked(e.type) && !e.type.boolean()) {
            intervals[arm] = facts_.interval(v);
            if (assuming) bounds[arm] = facts_.bound(v, shared_.bounds);
        }
        facts_.release(mark);
    }
    if (!tracked(e.type)) return facts_.opaque(e.type.kind, {});
    if (e.type.boolean()) {
        node.base = whole(Kind::BOOL);
        return facts_.number(node);
    }
    if (!assuming) {
        node.base = join(facts_.node(node.operands[1]).base, facts_.node(node.operands[2]).base);
        return facts_.number(node);
    }
    // The interval is valid for this value only, since it uses conditions that hold at this place.
    node.base = join(intervals[0], intervals[1]);
    node.bound = shared_.bounds.joined(bounds[0], bounds[1], node.kind);
    return facts_.single(node);
}

void Walk::block(ir::BlockId id) {
    const Deeper deeper(shared_.levels);
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

// After control flow joins, variables that one path assigned may have any value.
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
            note(result_.stores, id, in_range(s.imm, value(s.args[0])));
            value(s.args[1]);
            return;
        case Op::STORE_ARRAY:
            note(result_.stores, id, below(code_.locals[s.local].count, value(s.args[0])));
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
            // The condition applies to the variables as they were before both branches.
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

// Adds the precondition that the loop's last step does not overflow.
State Walk::plain_where(Kind kind, Value end, Value step) {
    if (kind != Kind::U32 && kind != Kind::I32) return State::Checked;
    const std::int64_t most = whole(kind).high;
    const std::uint32_t last = shared_.bounds.binary(
        Op::ADD, kind, facts_.bound(end, shared_.bounds), facts_.bound(step, shared_.bounds));
    return shared_.bounds.ask(last, shared_.bounds.fixed(kind, {most, most})) ? State::Conditional
                                                                              : State::Checked;
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
    // `plain`: a step from a counter below `end` cannot overflow the type. A u64 end without an
    // upper bound (kMost) is plain only with a step of 1.
    const std::int64_t most = kind == Kind::U64 ? Interval::kMost : whole(kind).high;
    std::int64_t last = 0;
    const bool overflow =
        __builtin_add_overflow(to.high, std::max<std::int64_t>(by.high, 1) - 1, &last);
    const bool plain =
        by.high <= 1 || (!overflow && last <= most && !(kind == Kind::U64 && to.high == most));
    // Any other loop counts its iterations. Compilers unroll such loops, except those with
    // barriers: these use a precondition instead.
    const bool asks = !plain && by.exact() && holds_barrier(code_, s.body);
    note(result_.plain_loops, id,
         plain  ? State::Proven
         : asks ? plain_where(kind, end, step)
                : State::Checked);
    forget_assigned(s.body);
    const std::size_t mark = facts_.mark();
    Interval range{from.low, to.high};
    const bool open = kind == Kind::U64 && to.high == Interval::kMost;
    if (!open && to.high > Interval::kLeast) range.high = to.high - 1;
    if (range.low > range.high) range = whole(kind);
    // If start and step are known, so is the last value.
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
    assume_order(truth ? e.op : negated(e.op), a, b);
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
        default: {  // removes an end of the interval: `x != 0` makes an unsigned x at least 1
            facts_.apart(a, b);
            facts_.apart(b, a);
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

Ranges::Ranges(const ir::Program& program, std::array<std::uint32_t, 3> workgroup, bool assume) {
    Shared shared{program, workgroup, Lengths(program), {}, {}, {}, 1U << 16U, {}, nullptr};
    for (const ir::Function& f : program.functions) {
        shared.arguments.emplace_back(f.arguments);
        shared.functions.emplace_back(f.code);
    }
    shared.given_up.resize(program.functions.size());
    CodeStates main(program.main);
    {
        RangeFacts facts;
        Walk(shared, program.main, facts, main).run({});
    }
    for (std::size_t f = program.functions.size(); f-- > 0;) {
        if (!shared.given_up[f]) continue;  // walked at every call, or never called
        const ir::Code& code = program.functions[f].code;
        RangeFacts facts;
        std::vector<Value> arguments;
        for (std::uint32_t a = 0; a < program.functions[f].arguments; ++a) {
            const Kind kind = code.locals[a].type.kind;
            arguments.push_back(facts.opaque(kind, shared.arguments[f][a].value_or(whole(kind))));
        }
        shared.budget = 0;  // so that its callees are walked once as well
        shared.functions[f] = CodeStates(code);
        Walk(shared, code, facts, shared.functions[f]).run(arguments);
    }
    preconditions_ = shared.bounds.result();
    const bool assumed = assume && !preconditions_.empty();
    main_ = main.ranges(assumed);
    for (const CodeStates& states : shared.functions) functions_.push_back(states.ranges(assumed));
}

}  // namespace wye::lower
