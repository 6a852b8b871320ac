// SPDX-License-Identifier: Apache-2.0
//
// Loops over lanes. Every loop runs in tiles of a constant length, so that it needs no remainder
// loop. Lanes are independent. A destination may be an operand itself, but must not partly overlap
// an operand.
#pragma once

#include "ops.hpp"

#if defined(__clang__)
#define WYE_CPU_LANES _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define WYE_CPU_LANES _Pragma("GCC ivdep")
#endif

namespace wye::cpu::WYE_CPU_ISA {

template <typename Body>
[[gnu::always_inline]] inline void each_lane(u32 lanes, Body body) {
    // The index is a size_t, since a 32-bit index might wrap around, which prevents vectorisation.
    for (std::size_t tile = 0; tile < lanes; tile += kTile) {
        WYE_CPU_LANES
        for (std::size_t k = 0; k < kTile; ++k) {
            if constexpr (requires { body(tile, k); }) {
                body(tile + k, k);
            } else {
                body(tile + k);
            }
        }
    }
}

// An operand's register, for reading.
template <typename T>
[[gnu::always_inline]] inline const T* lane(const Frame& f, u32 number) {
    const std::byte* at = (number & kView) != 0 ? f.views[number & ~kView] : f.base + number;
    return static_cast<const T*>(__builtin_assume_aligned(at, 64));
}
template <typename T>
[[gnu::always_inline]] inline T* target(std::byte* to) {
    return static_cast<T*>(__builtin_assume_aligned(to, 64));
}
template <typename T>
[[gnu::always_inline]] inline T scalar(const Frame& f, u32 number) {
    return *reinterpret_cast<const T*>(f.scalars + number);
}

// An operand: lanes, or one scalar that serves all lanes.
template <typename T, bool kScalar>
struct Operand {
    const T* lanes = nullptr;
    T value{};
    [[gnu::always_inline]] Operand(const Frame& f, u32 where) {
        if constexpr (kScalar) {
            value = scalar<T>(f, where);
        } else {
            lanes = lane<T>(f, where);
        }
    }
    [[gnu::always_inline]] T operator[](std::size_t k) const {
        if constexpr (kScalar) return value;
        return lanes[k];
    }
    [[gnu::always_inline]] T at(std::size_t k, std::size_t) const { return (*this)[k]; }
};

// A scalar shift count, copied to lanes: a vector shift by per-lane counts takes one operation, but
// a vector shift by a common count takes two.
struct Counts {
    alignas(64) u32 lanes[kTile];
    [[gnu::always_inline]] Counts(const Frame& f, u32 where) {
        const u32 count = scalar<u32>(f, where);
        for (std::size_t k = 0; k < kTile; ++k) lanes[k] = count;
        asm("" : "+m"(lanes));  // hides from the compiler that all counts are equal
    }
    [[gnu::always_inline]] u32 at(std::size_t, std::size_t in_tile) const { return lanes[in_tile]; }
};
template <typename Op>
inline constexpr bool kShifts = false;
template <>
inline constexpr bool kShifts<ShlOp> = true;
template <>
inline constexpr bool kShifts<ShrOp> = true;
template <>
inline constexpr bool kShifts<RotlOp> = true;
template <>
inline constexpr bool kShifts<RotrOp> = true;
template <bool kCount, typename T, bool kScalar>
struct PickOperand {
    using type = Operand<T, kScalar>;
};
#if defined(__AVX2__)  // older instruction sets have no shifts by per-lane counts
template <>
struct PickOperand<true, u32, true> {
    using type = Counts;
};
#endif
// The type of an operation's second operand.
template <typename Op, typename T, bool kScalar>
using SecondOperand = typename PickOperand<kShifts<Op>, T, kScalar>::type;

template <typename Op, typename D, typename A>
void unary(Frame& f, const Instr& i, std::byte* to) {
    D* d = target<D>(to);
    const A* a = lane<A>(f, i.a);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = Op::run(a[k]); });
}

template <typename Op, typename D, typename A, typename B, bool kA, bool kB>
void binary(Frame& f, const Instr& i, std::byte* to) {
    D* d = target<D>(to);
    const Operand<A, kA> a(f, i.a);
    const SecondOperand<Op, B, kB> b(f, i.b);
    each_lane(f.lanes, [&](std::size_t k, std::size_t j) { d[k] = Op::run(a[k], b.at(k, j)); });
}

template <typename Op, typename D, typename A>
void ternary(Frame& f, const Instr& i, std::byte* to) {
    D* d = target<D>(to);
    const A* a = lane<A>(f, i.a);
    const A* b = lane<A>(f, i.b);
    const A* c = lane<A>(f, i.c);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = Op::run(a[k], b[k], c[k]); });
}

// Computes second(first(a, b), c) in one pass. Shifts and rotates take u32 counts.
template <typename One, typename Two, typename T, typename B, typename C, bool kB, bool kC>
void chain(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T* a = lane<T>(f, i.a);
    const SecondOperand<One, B, kB> b(f, i.b);
    const SecondOperand<Two, C, kC> c(f, i.c);
    each_lane(f.lanes, [&](std::size_t k, std::size_t j) {
        d[k] = Two::run(One::run(a[k], b.at(k, j)), c.at(k, j));
    });
}

template <typename T, bool kB, bool kC>
void select(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const u8* a = lane<u8>(f, i.a);
    const Operand<T, kB> b(f, i.b);
    const Operand<T, kC> c(f, i.c);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = a[k] != 0 ? b[k] : c[k]; });
}

// The C++ type of a Num; Bool is a byte.
template <Num kNum>
struct TypeOf;
template <>
struct TypeOf<Num::I32> {
    using type = i32;
};
template <>
struct TypeOf<Num::U32> {
    using type = u32;
};
template <>
struct TypeOf<Num::I64> {
    using type = i64;
};
template <>
struct TypeOf<Num::U64> {
    using type = u64;
};
template <>
struct TypeOf<Num::F32> {
    using type = f32;
};
template <>
struct TypeOf<Num::F64> {
    using type = f64;
};
template <>
struct TypeOf<Num::F16> {
    using type = f32;
};
template <>
struct TypeOf<Num::Bool> {
    using type = u8;
};
template <Num kNum>
using NumType = typename TypeOf<kNum>::type;

inline void add_twin(KernelSet& set, Kernel plain, Kernel canonical) {
    set.twins[set.twin_count++] = {plain, canonical};
}

// Each kernel file fills its part of the set.
void fill_integers(KernelSet& set);
void fill_floats(KernelSet& set);
void fill_chains(KernelSet& set);
void fill_memory(KernelSet& set);
void fill_subgroups(KernelSet& set);

}  // namespace wye::cpu::WYE_CPU_ISA
