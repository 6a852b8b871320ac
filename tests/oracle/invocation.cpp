// SPDX-License-Identifier: Apache-2.0
#include "oracle/invocation.hpp"

#include <algorithm>
#include <span>

#include "oracle/arithmetic.hpp"

namespace oracle {
namespace {

__extension__ using Wide = __int128;

Wide exact(const Value& v) {
    return is_signed(v.type.kind) ? static_cast<Wide>(to_signed(v.type.kind, v.c[0]))
                                  : static_cast<Wide>(v.c[0]);
}

Value three(const std::array<std::uint32_t, 3>& v) {
    Value out(Type{WYE_KIND_U32, 3});
    std::copy(v.begin(), v.end(), out.c.begin());
    return out;
}

Value length(std::uint64_t count, bool wide) {
    return wide ? Value(kU64, count) : Value(kU32, std::min<std::uint64_t>(count, 0xffffffffU));
}

}  // namespace

bool is_effect(std::uint32_t op) { return (op & 0xf00U) == 0x400U; }
bool is_subgroup(std::uint32_t op) {
    return op >= WYE_OP_SUBGROUP_BROADCAST && op <= WYE_OP_SUBGROUP_XOR;
}

std::uint32_t together(const Statement& statement) {
    if (statement.op == WYE_OP_IF || statement.op == WYE_OP_FOR || statement.op == WYE_OP_WHILE ||
        statement.args.empty())
        return 0;
    const std::uint32_t op = statement.args.back().op;
    return is_subgroup(op) || op == WYE_OP_WORKGROUP_UNIFORM_LOAD ? op : 0;
}

Invocation::Invocation(Machine& machine, const Position& position, const Code& code,
                       const std::vector<Value>& arguments)
    : machine_(machine), position_(position), locals_(code.locals) {
    for (std::size_t i = 0; i < arguments.size(); ++i) locals_[i].value = arguments[i];
    enter(code.block);
}

Accessor Invocation::accessor() const {
    return {position_.workgroup, machine_.interval, position_.invocation};
}

void Invocation::count_step() {
    if (machine_.steps_left-- == 0) throw Refused("the step limit is reached");
}

void Invocation::check_claim(std::uint32_t claim, const Value& index, std::uint64_t count) const {
    if (!claimed(claim)) return;
    if (exact(index) < 0 || exact(index) >= static_cast<Wide>(count))
        throw Refused("claim " + std::to_string(claim) + " is false: an index of " +
                      std::to_string(static_cast<std::int64_t>(exact(index))) + " among " +
                      std::to_string(count) + " elements");
}

// ---- Control ----------------------------------------------------------------------------------

void Invocation::enter(const Block& block, const Statement* loop) {
    stack_.push_back(Scope{&block, loop, 0, {}, {}, {}});
}

void Invocation::run() {
    while (waiting_ == nullptr && !stack_.empty()) {
        Scope& scope = stack_.back();
        if (scope.next < scope.block->size()) {
            count_step();
            execute((*scope.block)[scope.next++]);
        } else if (scope.loop != nullptr) {
            next_round();
        } else {
            stack_.pop_back();
        }
    }
}

bool Invocation::condition(const Node& node) {
    const Value value = evaluate(node);
    if (value.type != kBool) throw Refused("a condition is no scalar bool");
    return value.c[0] != 0;
}

void Invocation::begin_for(const Statement& s) {
    const Value first = evaluate(s.args[0]);
    const Value end = evaluate(s.args[1]);
    Value step = evaluate(s.args[2]);
    if (!is_integer(first.type.kind) || first.type != end.type || first.type != step.type ||
        first.type.lanes != 1)
        throw Refused("the bounds of a for have not one integer type");
    if (exact(step) < 1) step = Value(first.type, 1);
    if (exact(first) >= exact(end)) return;
    locals_[s.local].value = first;
    stack_.push_back(Scope{&s.body, &s, 0, first, end, step});
}

void Invocation::next_round() {
    count_step();
    Scope& scope = stack_.back();
    if (scope.loop->op == WYE_OP_WHILE) {
        if (!condition(scope.loop->args[0])) {
            stack_.pop_back();
            return;
        }
    } else {
        // Compares the exact sum, so that an overflow ends the loop.
        const Wide next = exact(scope.i) + exact(scope.step);
        if (claimed(scope.loop->claim) && next != exact(apply2(WYE_OP_ADD, scope.i, scope.step)))
            throw Refused("claim " + std::to_string(scope.loop->claim) +
                          " is false: the counter of a loop overflows");
        if (next >= exact(scope.end)) {
            stack_.pop_back();
            return;
        }
        scope.i = apply2(WYE_OP_ADD, scope.i, scope.step);
        locals_[scope.loop->local].value = scope.i;
    }
    scope.next = 0;
}

void Invocation::leave_to_loop() {
    while (!stack_.empty() && stack_.back().loop == nullptr) stack_.pop_back();
    if (stack_.empty()) throw Refused("break or continue outside a loop");
}

void Invocation::execute(const Statement& s) {
    switch (s.op) {
        case WYE_OP_VAR_ZERO:
            locals_[s.local].value = Value(type_of_code(s.imm));
            return;
        case WYE_OP_VAR_ARRAY:
            locals_[s.local].array.assign(s.count, Value(type_of_code(s.imm)));
            return;
        case WYE_OP_IF:
            enter(condition(s.args[0]) ? s.body : s.otherwise);
            return;
        case WYE_OP_FOR:
            begin_for(s);
            return;
        case WYE_OP_WHILE:
            if (condition(s.args[0])) enter(s.body, &s);
            return;
        case WYE_OP_BREAK:
            leave_to_loop();
            stack_.pop_back();
            return;
        case WYE_OP_CONTINUE:
            leave_to_loop();
            next_round();
            return;
        case WYE_OP_TRAP:
            machine_.trap.code = std::max(machine_.trap.code, s.imm);
            ++machine_.trap.count;
            stack_.clear();
            return;
        case WYE_OP_RETURN:
            stack_.clear();
            return;
        case WYE_OP_BARRIER:
        case WYE_OP_GRID_BARRIER:
            waiting_ = &s;
            return;
        default:
            break;
    }
    // Stores a value. If it is the result of an effect, the index is evaluated before the effect
    // and the store happens after it.
    const bool store = s.op == WYE_OP_STORE || s.op == WYE_OP_STORE_ARRAY;
    const Value index = store ? evaluate(s.args[0]) : Value();
    const Node& node = s.args.back();
    if (together(s) != 0) {
        index_ = index;
        operands_ = evaluate_all(node.args);
        if (node.op == WYE_OP_WORKGROUP_UNIFORM_LOAD)
            check_claim(node.claim, operands_[0], machine_.arrays[node.imm].count());
        waiting_ = &s;
        return;
    }
    assign(s, index, is_effect(node.op) ? atomic(node, s.op != WYE_OP_EFFECT) : evaluate(node));
}

void Invocation::finish(const Value& result) {
    const Statement& s = *waiting_;
    waiting_ = nullptr;
    assign(s, index_, result);
}

void Invocation::assign(const Statement& s, const Value& index, const Value& value) {
    if (s.op == WYE_OP_EFFECT) return;
    if (s.op == WYE_OP_STORE) {
        check_claim(s.claim, index, machine_.arrays[s.imm].count());
        machine_.arrays[s.imm].store(index, value, accessor());
        return;
    }
    Slot& slot = locals_[s.local];
    switch (s.op) {
        case WYE_OP_LET:
        case WYE_OP_VAR:
            if (value.type.kind == 0) throw Refused("a local of no value");
            slot.value = value;
            return;
        case WYE_OP_ASSIGN:
            if (slot.value.type != value.type) throw Refused("an assignment of another type");
            slot.value = value;
            return;
        case WYE_OP_ASSIGN_COMPONENT:
            if (s.imm >= slot.value.type.lanes || value.type != Type{slot.value.type.kind, 1})
                throw Refused("a bad assignment to a component");
            slot.value.c[s.imm] = value.c[0];
            return;
        default: {  // STORE_ARRAY
            if (slot.array.empty() || slot.array[0].type != value.type)
                throw Refused("a bad store to a local array");
            check_claim(s.claim, index, slot.array.size());
            if (exact(index) >= 0 && exact(index) < static_cast<Wide>(slot.array.size()))
                slot.array[index.c[0]] = value;
        }
    }
}

// ---- Expressions ------------------------------------------------------------------------------

Value Invocation::atomic(const Node& node, bool used) {
    const std::vector<Value> v = evaluate_all(node.args);
    const Value none;
    check_claim(node.claim, v[0], machine_.arrays[node.imm].count());
    const bool cas = node.op == WYE_OP_ATOMIC_CAS;
    return machine_.arrays[node.imm].atomic(node.op, v[0], v.size() > 1 ? v.back() : none,
                                            cas ? v[1] : none, used, accessor());
}

std::vector<Value> Invocation::evaluate_all(const std::vector<Node>& nodes) {
    std::vector<Value> out;
    out.reserve(nodes.size());
    for (const Node& n : nodes) out.push_back(evaluate(n));
    return out;
}

Value Invocation::builtin(std::uint32_t index) const {
    const auto& size = machine_.workgroup;
    const std::uint32_t w = machine_.subgroup_size;
    switch (index) {
        case WYE_BUILTIN_WORKGROUP_ID:
            return three(position_.workgroup_id);
        case WYE_BUILTIN_LOCAL_ID:
            return three(position_.local_id);
        case WYE_BUILTIN_GLOBAL_ID: {
            std::array<std::uint32_t, 3> id{};
            for (int i = 0; i < 3; ++i)
                id[i] = position_.workgroup_id[i] * size[i] + position_.local_id[i];
            return three(id);
        }
        case WYE_BUILTIN_NUM_WORKGROUPS:
            return three(machine_.groups);
        case WYE_BUILTIN_WORKGROUP_SIZE:
            return three(size);
        case WYE_BUILTIN_LOCAL_INDEX:
            return {kU32, position_.local_index};
        case WYE_BUILTIN_SUBGROUP_SIZE:
            return {kU32, w};
        case WYE_BUILTIN_NUM_SUBGROUPS:
            return {kU32, size[0] * size[1] * size[2] / w};
        case WYE_BUILTIN_SUBGROUP_ID:
            return {kU32, position_.local_index / w};
        default:
            return {kU32, position_.local_index % w};
    }
}

Value Invocation::element(const Slot& slot, const Value& index) const {
    if (slot.array.empty()) throw Refused("an index on no local array");
    if (!is_integer(index.type.kind)) throw Refused("an index is no integer");
    const Wide i = exact(index);
    if (i < 0 || i >= static_cast<Wide>(slot.array.size())) return Value(slot.array[0].type);
    return slot.array[static_cast<std::size_t>(i)];
}

Value Invocation::evaluate(const Node& node) {
    if (node.known) return *node.known;
    switch (node.op) {
        case WYE_OP_LITERAL:
            return {type_of_code(node.imm), node.extra};
        case WYE_OP_PARAM:
            return {machine_.module.params[node.imm], machine_.params[node.imm]};
        case WYE_OP_LOCAL:
            return locals_[node.extra].value;
        case WYE_OP_BUILTIN:
            return builtin(node.imm);
        case WYE_OP_LEN:
        case WYE_OP_LEN64:
            return length(machine_.arrays[node.imm].count(), node.op == WYE_OP_LEN64);
        case WYE_OP_LEN_TABLE:
        case WYE_OP_LEN64_TABLE:
            return length(machine_.module.tables[node.imm].bits.size(),
                          node.op == WYE_OP_LEN64_TABLE);
        case WYE_OP_LEN_ARRAY:
        case WYE_OP_LEN64_ARRAY:
            return length(locals_[node.extra].array.size(), node.op == WYE_OP_LEN64_ARRAY);
        case WYE_OP_LOAD: {
            const Value index = evaluate(node.args[0]);
            check_claim(node.claim, index, machine_.arrays[node.imm].count());
            return machine_.arrays[node.imm].load(index, accessor());
        }
        case WYE_OP_SELECT:
            if (!claimed(node.claim)) break;
            return evaluate(node.args[condition(node.args[0]) ? 1 : 2]);
        case WYE_OP_LOAD_TABLE: {
            const Table& table = machine_.module.tables[node.imm];
            const Value index = evaluate(node.args[0]);
            if (!is_integer(index.type.kind)) throw Refused("an index is no integer");
            check_claim(node.claim, index, table.bits.size());
            const Wide i = exact(index);
            const bool inside = i >= 0 && i < static_cast<Wide>(table.bits.size());
            return {table.type, inside ? table.bits[static_cast<std::size_t>(i)] : 0};
        }
        case WYE_OP_LOAD_ARRAY: {
            const Slot& slot = locals_[node.extra];
            const Value index = evaluate(node.args[0]);
            check_claim(node.claim, index, slot.array.size());
            return element(slot, index);
        }
        case WYE_OP_CALL: {
            const Function& f = machine_.module.functions[node.imm];
            Invocation call(machine_, position_, f.code, evaluate_all(node.args));
            call.run();
            if (!call.ended()) throw Refused("a function waits");
            return call.evaluate(*f.code.result);
        }
        default:
            if (is_effect(node.op)) throw Refused("an effect inside an expression");
    }
    // Allocates nothing, since nearly all time is spent here.
    const auto& args = node.args;
    if (args.size() == 1) return apply(node.op, node.imm, std::array{evaluate(args[0])});
    if (args.size() == 2)
        return apply(node.op, node.imm, std::array{evaluate(args[0]), evaluate(args[1])});
    std::array<Value, 4> v;  // the maximum number of operands
    if (args.size() > v.size()) throw Refused("too many operands");
    for (std::size_t i = 0; i < args.size(); ++i) v[i] = evaluate(args[i]);
    return apply(node.op, node.imm, std::span(v).first(args.size()));
}

}  // namespace oracle
