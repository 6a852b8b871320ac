// SPDX-License-Identifier: Apache-2.0
#include "oracle/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "oracle/arithmetic.hpp"

namespace oracle {
namespace {

Access access_of(std::uint32_t op, bool used, bool floating) {
    if (used || floating) return Access::Ordered;
    switch (op) {
        case WYE_OP_ATOMIC_ADD:
            return Access::Add;
        case WYE_OP_ATOMIC_MIN:
            return Access::Min;
        case WYE_OP_ATOMIC_MAX:
            return Access::Max;
        case WYE_OP_ATOMIC_AND:
            return Access::And;
        case WYE_OP_ATOMIC_OR:
            return Access::Or;
        case WYE_OP_ATOMIC_XOR:
            return Access::Xor;
        default:
            return Access::Ordered;
    }
}

}  // namespace

Type loaded(Type element) {
    switch (element.kind) {
        case WYE_KIND_I8:
        case WYE_KIND_I16:
            return {WYE_KIND_I32, element.lanes};
        case WYE_KIND_U8:
        case WYE_KIND_U16:
            return {WYE_KIND_U32, element.lanes};
        case WYE_KIND_BF16:
            return {WYE_KIND_F32, element.lanes};
        default:
            return element;
    }
}

Array::Array(std::string name, Type type, std::vector<std::byte> bytes)
    : name_(std::move(name)), type_(type), bytes_(std::move(bytes)) {
    const unsigned element = kind_bytes(type.kind) * type.lanes;
    if (element == 0 || bytes_.size() % element != 0)
        throw Refused("the bytes of `" + name_ + "` are no whole number of elements");
    count_ = bytes_.size() / element;
}

void Array::watch() { cells_.resize(count_); }
void Array::clear() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0}); }

bool Array::find(const Value& index, std::uint64_t& element) const {
    const unsigned kind = index.type.kind;
    if (!is_integer(kind) || index.type.lanes != 1)
        throw Refused("index of `" + name_ + "` is no scalar integer");
    if (is_signed(kind) && to_signed(kind, index.c[0]) < 0) return false;
    element = index.c[0];
    // For 32-bit indices, len() is at most 2^32-1.
    const std::uint64_t length =
        kind_bits(kind) == 32 ? std::min<std::uint64_t>(count_, 0xffffffffU) : count_;
    return element < length;
}

Value Array::get(std::uint64_t element) const {
    const unsigned bytes = kind_bytes(type_.kind);
    Value out(loaded(type_));
    for (unsigned i = 0; i < type_.lanes; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes_.data() + (element * type_.lanes + i) * bytes, bytes);
        if (type_.kind == WYE_KIND_I8 || type_.kind == WYE_KIND_I16)
            bits = static_cast<std::uint32_t>(to_signed(type_.kind, bits));
        if (type_.kind == WYE_KIND_BF16) bits <<= 16;
        out.c[i] = bits;
    }
    return out;
}

void Array::put(std::uint64_t element, const Value& value) {
    if (value.type != loaded(type_)) throw Refused("a store of another type to `" + name_ + "`");
    const unsigned bytes = kind_bytes(type_.kind);
    for (unsigned i = 0; i < type_.lanes; ++i) {
        std::uint64_t bits = canonical(value.type.kind, value.c[i]);
        if (type_.kind == WYE_KIND_BF16)
            bits = bf16_from_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        std::memcpy(bytes_.data() + (element * type_.lanes + i) * bytes, &bits, bytes);
    }
}

Value Array::load(const Value& index, const Accessor& who) {
    std::uint64_t element = 0;
    if (!find(index, element)) return Value(loaded(type_));
    note(element, Access::Read, who);
    return get(element);
}

void Array::store(const Value& index, const Value& value, const Accessor& who) {
    std::uint64_t element = 0;
    if (!find(index, element)) return;
    note(element, Access::Write, who);
    put(element, value);
}

Value Array::atomic(std::uint32_t op, const Value& index, const Value& value, const Value& expected,
                    bool used, const Accessor& who) {
    const bool sum_of_floats =
        op == WYE_OP_ATOMIC_ADD && (type_.kind == WYE_KIND_F32 || type_.kind == WYE_KIND_F64);
    if (type_.lanes != 1 || (!is_integer(type_.kind) && !sum_of_floats))
        throw Refused("`" + name_ + "` has no such atomics");
    if (op != WYE_OP_ATOMIC_LOAD && value.type != type_)
        throw Refused("an atomic of another type on `" + name_ + "`");

    std::uint64_t element = 0;
    if (!find(index, element)) return op == WYE_OP_ATOMIC_STORE ? Value() : Value(type_);
    note(element, access_of(op, used, sum_of_floats), who);
    const Value old = get(element);
    switch (op) {
        case WYE_OP_ATOMIC_LOAD:
            break;
        case WYE_OP_ATOMIC_STORE:
            put(element, value);
            return {};
        case WYE_OP_ATOMIC_EXCHANGE:
            put(element, value);
            break;
        case WYE_OP_ATOMIC_ADD:
            put(element, apply2(WYE_OP_ADD, old, value));
            break;
        case WYE_OP_ATOMIC_MIN:
            put(element, apply2(WYE_OP_MIN, old, value));
            break;
        case WYE_OP_ATOMIC_MAX:
            put(element, apply2(WYE_OP_MAX, old, value));
            break;
        case WYE_OP_ATOMIC_AND:
            put(element, apply2(WYE_OP_AND, old, value));
            break;
        case WYE_OP_ATOMIC_OR:
            put(element, apply2(WYE_OP_OR, old, value));
            break;
        case WYE_OP_ATOMIC_XOR:
            put(element, apply2(WYE_OP_XOR, old, value));
            break;
        case WYE_OP_ATOMIC_CAS:
            if (old.c[0] == expected.c[0]) put(element, value);
            break;
        default:
            throw Refused("unknown atomic " + std::to_string(op));
    }
    return old;
}

void Array::note(std::uint64_t element, Access access, const Accessor& who) {
    if (cells_.empty()) return;
    Cell& cell = cells_[element];
    for (int other = 0; other < kAccesses; ++other) {
        const bool harmless = other == static_cast<int>(access) && access != Access::Write &&
                              access != Access::Ordered;
        const Seen& seen = cell.seen[other];
        if (harmless || !seen.any || !race_.empty()) continue;
        const bool same_group = seen.last.workgroup == who.workgroup;
        const bool same_interval = same_group && seen.last.interval == who.interval;
        if (seen.other_workgroups || !same_group ||
            (same_interval && (seen.several || seen.last.invocation != who.invocation)))
            race_ = (other >= static_cast<int>(Access::Ordered) && access >= Access::Ordered
                         ? "the order of atomics shows in element "
                         : "race on element ") +
                    std::to_string(element) + " of `" + name_ + "` between invocations " +
                    std::to_string(seen.last.invocation) + " and " + std::to_string(who.invocation);
    }
    Seen& seen = cell.seen[static_cast<int>(access)];
    if (seen.any && seen.last.workgroup != who.workgroup) {
        seen.other_workgroups = true;
        seen.several = false;
    } else if (seen.any && seen.last.interval == who.interval) {
        seen.several |= seen.last.invocation != who.invocation;
    } else {
        seen.several = false;
    }
    seen.any = true;
    seen.last = who;
}

}  // namespace oracle
