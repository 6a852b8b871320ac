// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of bound arrays and of local arrays. A load out of range gives zero, and a store
// out of range is dropped. Where neighbouring lanes use neighbouring elements, 16 lanes are moved
// at once; other lanes are moved one by one, which is as fast as gather instructions on current
// machines, and much faster on some machines.
#include "elements.hpp"

namespace wye::cpu::WYE_CPU_ISA {
namespace {

constexpr u32 kPiece = 16;

// An index as u64; a negative index becomes larger than any array.
template <typename I>
[[gnu::always_inline]] inline u64 wide(I index) {
    if constexpr (kSigned<I>) return u64(i64(index));
    return index;
}
template <typename I>
[[gnu::always_inline]] inline u64 limit_of(const Bound& bound) {
    return sizeof(I) == 4 ? bound.count32 : bound.count;
}

// Whether these 16 lanes use consecutive elements, all of them in range.
template <typename I>
[[gnu::always_inline]] inline bool consecutive(const I* index, u64 limit) {
    using U = Bits<I>;
    const U first = U(index[0]);
    U other = 0;
    for (std::size_t k = 0; k < kPiece; ++k) other |= U(index[k]) - first - U(k);
    return other == 0 && wide(index[0]) < limit && wide(index[0]) + kPiece <= limit;
}

[[gnu::always_inline]] inline bool none_on(const u8* mask) {
    u64 low, high;
    __builtin_memcpy(&low, mask, 8);
    __builtin_memcpy(&high, mask + 8, 8);
    return (low | high) == 0;
}

template <Elem kElem, typename I>
void load(Frame& f, const Instr& i, std::byte* to) {
    using E = typename ElemOf<kElem>::type;
    using L = typename ElemOf<kElem>::lanes;
    const Bound& bound = f.bound[i.array];
    const E* data = reinterpret_cast<const E*>(bound.data) + i.part;
    const u64 limit = limit_of<I>(bound);
    const u64 stride = i.stride;
    const I* index = lane<I>(f, i.b);
    L* d = target<L>(to);
    for (std::size_t t = 0; t < f.live; t += kPiece) {
        if (none_on(f.mask + t)) continue;
        if (consecutive(index + t, limit)) {
            const E* from = data + wide(index[t]) * stride;
            if (stride == 1) {
                WYE_CPU_LANES
                for (std::size_t k = 0; k < kPiece; ++k) d[t + k] = from_memory<kElem>(from[k]);
            } else {
                for (std::size_t k = 0; k < kPiece; ++k)
                    d[t + k] = from_memory<kElem>(from[k * stride]);
            }
        } else {
            for (std::size_t k = 0; k < kPiece; ++k) {
                const u64 w = wide(index[t + k]);
                const L value = from_memory<kElem>(data[w < limit ? w * stride : 0]);
                d[t + k] = w < limit ? value : L(0);
            }
        }
    }
}

template <Elem kElem, typename I>
void store(Frame& f, const Instr& i, std::byte*) {
    using E = typename ElemOf<kElem>::type;
    using L = typename ElemOf<kElem>::lanes;
    const Bound& bound = f.bound[i.array];
    E* data = reinterpret_cast<E*>(bound.data) + i.part;
    const u64 limit = limit_of<I>(bound);
    const u64 stride = i.stride;
    const I* index = lane<I>(f, i.b);
    const L* value = lane<L>(f, i.a);
    const bool full = f.active == f.live;
    for (std::size_t t = 0; t < f.live; t += kPiece) {
        const u8* mask = f.mask + t;
        if (full && t + kPiece <= f.live && consecutive(index + t, limit)) {
            E* at = data + wide(index[t]) * stride;
            if (stride == 1) {
                WYE_CPU_LANES
                for (std::size_t k = 0; k < kPiece; ++k) at[k] = to_memory<kElem>(value[t + k]);
            } else {
                for (std::size_t k = 0; k < kPiece; ++k)
                    at[k * stride] = to_memory<kElem>(value[t + k]);
            }
        } else if (!none_on(mask)) {
            for (std::size_t k = 0; k < kPiece; ++k) {
                const u64 w = wide(index[t + k]);
                if (mask[k] != 0 && w < limit) data[w * stride] = to_memory<kElem>(value[t + k]);
            }
        }
    }
}

// The number of leading lanes that are in range without wrapping around. Lane k uses element first
// + k, in 32-bit arithmetic.
template <bool kI32>
[[gnu::always_inline]] inline u64 in_range(const Bound& bound, u64 first, u64 lanes) {
    u64 limit = bound.count32;
    if (kI32 && limit > (u64(1) << 31)) limit = u64(1) << 31;
    if (first >= limit) return 0;
    return limit - first < lanes ? limit - first : lanes;
}

template <Elem kElem, bool kI32>
void load_affine(Frame& f, const Instr& i, std::byte* to) {
    using E = typename ElemOf<kElem>::type;
    using L = typename ElemOf<kElem>::lanes;
    const Bound& bound = f.bound[i.array];
    const E* data = reinterpret_cast<const E*>(bound.data) + i.part;
    const u64 stride = i.stride;
    const u64 first = scalar<u32>(f, i.b);
    L* d = target<L>(to);
    if (first + f.lanes > (u64(1) << 32)) {
        for (std::size_t k = 0; k < f.live; ++k) {
            const u64 w = u32(first + k);
            const bool inside = in_range<kI32>(bound, w, 1) != 0;
            const L value = from_memory<kElem>(data[inside ? w * stride : 0]);
            d[k] = inside ? value : L(0);
        }
        return;
    }
    const u64 count = in_range<kI32>(bound, first, f.lanes);
    const E* from = data + first * stride;
    if (count == f.lanes && stride == 1) {
        // Prefetches the elements that the next block will read.
        for (std::size_t k = 0; k < f.lanes; k += 64 / sizeof(E))
            __builtin_prefetch(from + f.lanes + k, 0, 3);
        each_lane(f.lanes, [=](std::size_t k) { d[k] = from_memory<kElem>(from[k]); });
        return;
    }
    if (stride == 1) {
        WYE_CPU_LANES
        for (std::size_t k = 0; k < count; ++k) d[k] = from_memory<kElem>(from[k]);
    } else {
        for (std::size_t k = 0; k < count; ++k) d[k] = from_memory<kElem>(from[k * stride]);
    }
    for (std::size_t k = count; k < f.lanes; ++k) d[k] = L(0);
}

template <Elem kElem, bool kI32>
void store_affine(Frame& f, const Instr& i, std::byte*) {
    using E = typename ElemOf<kElem>::type;
    using L = typename ElemOf<kElem>::lanes;
    const Bound& bound = f.bound[i.array];
    E* data = reinterpret_cast<E*>(bound.data) + i.part;
    const u64 stride = i.stride;
    const u64 first = scalar<u32>(f, i.b);
    const L* value = lane<L>(f, i.a);
    if (first + f.live > (u64(1) << 32)) {
        for (std::size_t k = 0; k < f.live; ++k) {
            const u64 w = u32(first + k);
            if (f.mask[k] != 0 && in_range<kI32>(bound, w, 1) != 0)
                data[w * stride] = to_memory<kElem>(value[k]);
        }
        return;
    }
    const u32 count = u32(in_range<kI32>(bound, first, f.live));
    E* at = data + first * stride;
    if (f.active != f.live) {
        const u8* mask = f.mask;
        for (std::size_t k = 0; k < count; ++k)
            if (mask[k] != 0) at[k * stride] = to_memory<kElem>(value[k]);
    } else if (stride == 1) {
        WYE_CPU_LANES
        for (std::size_t k = 0; k < count; ++k) at[k] = to_memory<kElem>(value[k]);
    } else {
        for (std::size_t k = 0; k < count; ++k) at[k * stride] = to_memory<kElem>(value[k]);
    }
}

// ---- Local arrays: row w holds element w of all lanes ------------------------------------------

template <typename T, typename I, bool kScalar>
void load_local(Frame& f, const Instr& i, std::byte* to) {
    const T* rows = lane<T>(f, i.a);
    const Operand<I, kScalar> index(f, i.b);
    const u64 count = i.c;
    const u64 row = f.capacity;
    T* d = target<T>(to);
    if constexpr (kScalar) {
        const u64 w = wide(index[0]);
        const T* from = rows + (w < count ? w * row : 0);
        const T keep = w < count ? T(~T(0)) : T(0);
        each_lane(f.lanes, [=](std::size_t k) { d[k] = from[k] & keep; });
    } else {
        for (std::size_t k = 0; k < f.live; ++k) {
            const u64 w = wide(index[k]);
            const T value = rows[(w < count ? w * row : 0) + k];
            d[k] = w < count ? value : T(0);
        }
    }
}

template <typename T, typename I, bool kScalar>
void store_local(Frame& f, const Instr& i, std::byte* to) {
    T* rows = target<T>(to);
    const Operand<I, kScalar> index(f, i.b);
    const u64 count = i.c;
    const u64 row = f.capacity;
    const T* value = lane<T>(f, i.a);
    const u8* mask = f.mask;
    if constexpr (kScalar) {
        const u64 w = wide(index[0]);
        if (w >= count) return;
        T* d = rows + w * row;
        if (f.active == f.live) {
            each_lane(f.lanes, [=](std::size_t k) { d[k] = value[k]; });
        } else {
            each_lane(f.lanes, [=](std::size_t k) { d[k] = mask[k] != 0 ? value[k] : d[k]; });
        }
    } else {
        for (std::size_t k = 0; k < f.live; ++k) {
            const u64 w = wide(index[k]);
            if (mask[k] != 0 && w < count) rows[w * row + k] = value[k];
        }
    }
}

void zero_local(Frame&, const Instr& i, std::byte* to) { __builtin_memset(to, 0, i.c); }

template <Elem kElem>
void fill_elem(KernelSet& set) {
    auto& loads = set.load[at(kElem)];
    loads[at(Index::U32)] = load<kElem, u32>;
    loads[at(Index::I32)] = load<kElem, i32>;
    loads[at(Index::W64)] = load<kElem, u64>;
    set.load_affine[at(kElem)][0] = load_affine<kElem, false>;
    set.load_affine[at(kElem)][1] = load_affine<kElem, true>;
}
template <Elem kElem>
void fill_store(KernelSet& set) {
    auto& stores = set.store[at(kElem)];
    stores[at(Index::U32)] = store<kElem, u32>;
    stores[at(Index::I32)] = store<kElem, i32>;
    stores[at(Index::W64)] = store<kElem, u64>;
    set.store_affine[at(kElem)][0] = store_affine<kElem, false>;
    set.store_affine[at(kElem)][1] = store_affine<kElem, true>;
}
template <typename I, Index kIndex>
void fill_local(KernelSet& set) {
    set.load_local[0][at(kIndex)][0] = load_local<u32, I, false>;
    set.load_local[0][at(kIndex)][1] = load_local<u32, I, true>;
    set.load_local[1][at(kIndex)][0] = load_local<u64, I, false>;
    set.load_local[1][at(kIndex)][1] = load_local<u64, I, true>;
    set.store_local[0][at(kIndex)][0] = store_local<u32, I, false>;
    set.store_local[0][at(kIndex)][1] = store_local<u32, I, true>;
    set.store_local[1][at(kIndex)][0] = store_local<u64, I, false>;
    set.store_local[1][at(kIndex)][1] = store_local<u64, I, true>;
}

}  // namespace

void fill_memory(KernelSet& set) {
    fill_elem<Elem::I8>(set);
    fill_elem<Elem::U8>(set);
    fill_elem<Elem::I16>(set);
    fill_elem<Elem::U16>(set);
    fill_elem<Elem::W32>(set);
    fill_elem<Elem::W64>(set);
    fill_elem<Elem::F16>(set);
    fill_elem<Elem::BF16>(set);
    fill_store<Elem::U8>(set);
    fill_store<Elem::U16>(set);
    fill_store<Elem::W32>(set);
    fill_store<Elem::W64>(set);
    fill_store<Elem::F32>(set);
    fill_store<Elem::F64>(set);
    fill_store<Elem::F16>(set);
    fill_store<Elem::BF16>(set);
    fill_local<u32, Index::U32>(set);
    fill_local<i32, Index::I32>(set);
    fill_local<u64, Index::W64>(set);
    set.zero_local = zero_local;
}

}  // namespace wye::cpu::WYE_CPU_ISA
