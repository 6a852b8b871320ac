// SPDX-License-Identifier: Apache-2.0
#include "oracle/together.hpp"

#include <span>

#include "oracle/arithmetic.hpp"

namespace oracle {
namespace {

std::uint32_t operation(std::uint32_t op) {  // of a reduction or scan
    switch (op) {
        case WYE_OP_SUBGROUP_MIN:
            return WYE_OP_MIN;
        case WYE_OP_SUBGROUP_MAX:
            return WYE_OP_MAX;
        case WYE_OP_SUBGROUP_AND:
            return WYE_OP_AND;
        case WYE_OP_SUBGROUP_OR:
            return WYE_OP_OR;
        case WYE_OP_SUBGROUP_XOR:
            return WYE_OP_XOR;
        default:
            return WYE_OP_ADD;
    }
}

std::vector<Value> reduce(std::uint32_t op, std::vector<Value> v) {
    for (std::size_t d = 1; d < v.size(); d *= 2) {
        const std::vector<Value> before = v;
        for (std::size_t lane = 0; lane < v.size(); ++lane)
            v[lane] = apply2(operation(op), before[lane], before[lane ^ d]);
    }
    return v;
}

std::vector<Value> scan(bool exclusive, std::vector<Value> v) {
    for (std::size_t d = 1; d < v.size(); d *= 2) {
        const std::vector<Value> before = v;
        for (std::size_t lane = d; lane < v.size(); ++lane)
            v[lane] = apply2(WYE_OP_ADD, before[lane - d], before[lane]);
    }
    if (exclusive) {
        for (std::size_t lane = v.size() - 1; lane > 0; --lane) v[lane] = v[lane - 1];
        v[0] = Value(v[0].type);
    }
    return v;
}

// The statement at which all invocations of a range wait; null if they do not all wait at the same
// one.
const Statement* common(std::span<const Invocation> invocations) {
    for (const Invocation& i : invocations)
        if (i.waiting() != invocations.front().waiting()) return nullptr;
    return invocations.front().waiting();
}

bool meet_subgroup(std::span<Invocation> lanes) {
    bool any = false;
    for (const Invocation& i : lanes)
        any |= i.waiting() != nullptr && is_subgroup(together(*i.waiting()));
    if (!any) return false;
    const Statement* s = common(lanes);
    if (s == nullptr) throw Refused("a subgroup operation is not reached by all lanes");
    std::vector<std::vector<Value>> operands;
    for (const Invocation& i : lanes) operands.push_back(i.operands());
    const std::vector<Value> results = subgroup(together(*s), operands);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].finish(results[i]);
    return true;
}

}  // namespace

std::vector<Value> subgroup(std::uint32_t op, const std::vector<std::vector<Value>>& operands) {
    const std::size_t width = operands.size();
    std::vector<Value> v;
    for (const auto& o : operands) v.push_back(o[0]);
    std::vector<Value> out = v;
    switch (op) {
        case WYE_OP_SUBGROUP_BROADCAST:
        case WYE_OP_SUBGROUP_SHUFFLE:
            for (std::size_t i = 0; i < width; ++i) out[i] = v[operands[i][1].c[0] & (width - 1)];
            return out;
        case WYE_OP_SUBGROUP_SHUFFLE_XOR:
            for (std::size_t i = 0; i < width; ++i)
                out[i] = v[(i ^ operands[i][1].c[0]) & (width - 1)];
            return out;
        case WYE_OP_SUBGROUP_ANY:
        case WYE_OP_SUBGROUP_ALL:
        case WYE_OP_SUBGROUP_BALLOT: {
            Value ballot(Type{WYE_KIND_U32, 4});
            std::size_t on = 0;
            for (std::size_t i = 0; i < width; ++i) {
                ballot.c[i / 32] |= v[i].c[0] << (i % 32);
                on += v[i].c[0];
            }
            const bool yes = op == WYE_OP_SUBGROUP_ANY ? on > 0 : on == width;
            const Value result = op == WYE_OP_SUBGROUP_BALLOT ? ballot : Value(kBool, yes ? 1 : 0);
            return std::vector<Value>(width, result);
        }
        case WYE_OP_SUBGROUP_INCLUSIVE_ADD:
        case WYE_OP_SUBGROUP_EXCLUSIVE_ADD:
            return scan(op == WYE_OP_SUBGROUP_EXCLUSIVE_ADD, v);
        default:
            return reduce(op, v);
    }
}

bool meet(Machine& machine, std::vector<Invocation>& invocations) {
    const std::size_t width = machine.subgroup_size;
    bool any_subgroup = false;
    for (const Invocation& i : invocations)
        any_subgroup |= i.waiting() != nullptr && is_subgroup(together(*i.waiting()));
    if (any_subgroup) {
        if (invocations.size() % width != 0 || width > 128)
            throw Refused("the workgroup size is no multiple of the subgroup size");
        for (std::size_t i = 0; i < invocations.size(); i += width)
            (void)meet_subgroup(std::span(invocations).subspan(i, width));
        return true;
    }

    const Statement* s = common(invocations);
    if (s == nullptr) {
        for (const Invocation& i : invocations)
            if (!i.ended()) throw Refused("a barrier is not reached by the whole workgroup");
        return false;
    }
    if (s->op == WYE_OP_GRID_BARRIER) return false;
    ++machine.interval;
    if (s->op == WYE_OP_BARRIER) {
        for (Invocation& i : invocations) i.pass();
        return true;
    }
    // workgroup_uniform_load: all invocations read, then all continue.
    std::vector<Value> loads;
    for (Invocation& i : invocations)
        loads.push_back(machine.arrays[s->args.back().imm].load(i.operands()[0], i.accessor()));
    ++machine.interval;
    for (std::size_t i = 0; i < invocations.size(); ++i) invocations[i].finish(loads[i]);
    return true;
}

}  // namespace oracle
