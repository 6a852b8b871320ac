// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations, lane by lane in ascending order, with relaxed memory order. Buffers need
// atomic instructions, since different threads run different workgroups. Shared arrays need none,
// since only one thread runs a workgroup.
#define WYE_CPU_ISA atomic_forms
#include "lanes.hpp"

namespace wye::cpu {
namespace WYE_CPU_ISA {
namespace {

constexpr int kOrder = __ATOMIC_RELAXED;

// The value that an operation stores, given the old value and the operand.
template <Atomic kOp, typename T>
WYE_CPU_OP T combine(T old, T value) {
    switch (kOp) {
        case Atomic::Add:
            if constexpr (kFloat<T>)
                return old + value;
            else
                return T(Bits<T>(old) + Bits<T>(value));
        case Atomic::Min:
            return value < old ? value : old;
        case Atomic::Max:
            return value > old ? value : old;
        case Atomic::And:
            return from_bits<T>(bits(old) & bits(value));
        case Atomic::Or:
            return from_bits<T>(bits(old) | bits(value));
        case Atomic::Xor:
            return from_bits<T>(bits(old) ^ bits(value));
        default:  // Store, Exchange
            return value;
    }
}

// Applies an operation to an element's bits and returns the old value.
template <Atomic kOp, typename T, bool kShared>
WYE_CPU_OP Bits<T> update(Bits<T>* element, Bits<T> value) {
    using W = Bits<T>;
    if constexpr (kShared) {
        const W old = *element;
        if constexpr (kOp != Atomic::Load)
            *element = bits(combine<kOp, T>(from_bits<T>(old), from_bits<T>(value)));
        return old;
    } else if constexpr (kOp == Atomic::Load) {
        return __atomic_load_n(element, kOrder);
    } else if constexpr (kOp == Atomic::Store) {
        __atomic_store_n(element, value, kOrder);
        return 0;
    } else if constexpr (kOp == Atomic::Exchange) {
        return __atomic_exchange_n(element, value, kOrder);
    } else if constexpr (kOp == Atomic::Add && !kFloat<T>) {
        return __atomic_fetch_add(element, value, kOrder);
    } else if constexpr (kOp == Atomic::And) {
        return __atomic_fetch_and(element, value, kOrder);
    } else if constexpr (kOp == Atomic::Or) {
        return __atomic_fetch_or(element, value, kOrder);
    } else if constexpr (kOp == Atomic::Xor) {
        return __atomic_fetch_xor(element, value, kOrder);
    } else {
        W old = __atomic_load_n(element, kOrder);
        while (!__atomic_compare_exchange_n(
            element, &old, bits(combine<kOp, T>(from_bits<T>(old), from_bits<T>(value))), true,
            kOrder, kOrder)) {
        }
        return old;
    }
}

template <typename W, bool kShared>
WYE_CPU_OP W swap_if(W* element, W expected, W value) {
    if constexpr (kShared) {
        const W old = *element;
        if (old == expected) *element = value;
        return old;
    } else {
        __atomic_compare_exchange_n(element, &expected, value, false, kOrder, kOrder);
        return expected;
    }
}

template <Atomic kOp, typename T, typename I, bool kShared>
void atomic(Frame& f, const Instr& i, std::byte* to) {
    using W = Bits<T>;
    const Bound& bound = f.bound[i.array];
    W* data = reinterpret_cast<W*>(bound.data);
    const u64 limit = sizeof(I) == 4 ? bound.count32 : bound.count;
    const I* index = lane<I>(f, i.b);
    W* d = target<W>(to);
    for (std::size_t k = 0; k < f.live; ++k) {
        if (f.mask[k] == 0) continue;
        const u64 w = kSigned<I> ? u64(i64(index[k])) : u64(index[k]);
        W old = 0;
        if (w < limit) {
            if constexpr (kOp == Atomic::Load) {
                old = update<kOp, T, kShared>(data + w, W(0));
            } else if constexpr (kOp == Atomic::Cas) {
                old = swap_if<W, kShared>(data + w, lane<W>(f, i.a)[k], lane<W>(f, i.c)[k]);
            } else {
                old = update<kOp, T, kShared>(data + w, lane<W>(f, i.a)[k]);
            }
        }
        if constexpr (kOp != Atomic::Store) d[k] = old;
    }
}

template <Atomic kOp, typename T>
Kernel pick(Index index, bool shared) {
    switch (index) {
        case Index::U32:
            return shared ? atomic<kOp, T, u32, true> : atomic<kOp, T, u32, false>;
        case Index::I32:
            return shared ? atomic<kOp, T, i32, true> : atomic<kOp, T, i32, false>;
        default:
            return shared ? atomic<kOp, T, u64, true> : atomic<kOp, T, u64, false>;
    }
}

template <Atomic kOp>
Kernel pick_type(Num type, Index index, bool shared) {
    constexpr bool ordered = kOp == Atomic::Min || kOp == Atomic::Max;
    switch (type) {
        case Num::I32:
            if constexpr (ordered)
                return pick<kOp, i32>(index, shared);
            else
                return pick<kOp, u32>(index, shared);
        case Num::U32:
            return pick<kOp, u32>(index, shared);
        case Num::I64:
            if constexpr (ordered)
                return pick<kOp, i64>(index, shared);
            else
                return pick<kOp, u64>(index, shared);
        case Num::U64:
            return pick<kOp, u64>(index, shared);
        case Num::F32:
            if constexpr (kOp == Atomic::Add)
                return pick<kOp, f32>(index, shared);
            else
                return nullptr;
        case Num::F64:
            if constexpr (kOp == Atomic::Add)
                return pick<kOp, f64>(index, shared);
            else
                return nullptr;
        default:
            return nullptr;
    }
}

}  // namespace
}  // namespace WYE_CPU_ISA

Kernel atomic_kernel(Atomic op, Num type, Index index, bool shared) {
    using namespace atomic_forms;
    switch (op) {
        case Atomic::Load:
            return pick_type<Atomic::Load>(type, index, shared);
        case Atomic::Store:
            return pick_type<Atomic::Store>(type, index, shared);
        case Atomic::Exchange:
            return pick_type<Atomic::Exchange>(type, index, shared);
        case Atomic::Add:
            return pick_type<Atomic::Add>(type, index, shared);
        case Atomic::Min:
            return pick_type<Atomic::Min>(type, index, shared);
        case Atomic::Max:
            return pick_type<Atomic::Max>(type, index, shared);
        case Atomic::And:
            return pick_type<Atomic::And>(type, index, shared);
        case Atomic::Or:
            return pick_type<Atomic::Or>(type, index, shared);
        case Atomic::Xor:
            return pick_type<Atomic::Xor>(type, index, shared);
        case Atomic::Cas:
            return pick_type<Atomic::Cas>(type, index, shared);
        case Atomic::Count:
            break;
    }
    return nullptr;
}

}  // namespace wye::cpu
