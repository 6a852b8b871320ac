// SPDX-License-Identifier: Apache-2.0
//
// The types of elements in memory and in registers.
#pragma once

#include "lanes.hpp"

namespace wye::cpu::WYE_CPU_ISA {

template <typename E, typename L>
struct ElemTypes {
    using type = E;   // in memory
    using lanes = L;  // in a register
};
template <Elem kElem>
struct ElemOf;
template <>
struct ElemOf<Elem::I8> : ElemTypes<i8, i32> {};
template <>
struct ElemOf<Elem::U8> : ElemTypes<u8, u32> {};
template <>
struct ElemOf<Elem::I16> : ElemTypes<i16, i32> {};
template <>
struct ElemOf<Elem::U16> : ElemTypes<u16, u32> {};
template <>
struct ElemOf<Elem::W32> : ElemTypes<u32, u32> {};
template <>
struct ElemOf<Elem::W64> : ElemTypes<u64, u64> {};
template <>
struct ElemOf<Elem::F32> : ElemTypes<u32, u32> {};
template <>
struct ElemOf<Elem::F64> : ElemTypes<u64, u64> {};
template <>
struct ElemOf<Elem::F16> : ElemTypes<u16, u32> {};
template <>
struct ElemOf<Elem::BF16> : ElemTypes<u16, u32> {};

template <Elem kElem>
[[gnu::always_inline]] inline auto from_memory(typename ElemOf<kElem>::type value) {
    using L = typename ElemOf<kElem>::lanes;
    if constexpr (kElem == Elem::F16) {
        return BitsHalfOp::run(value);
    } else if constexpr (kElem == Elem::BF16) {
        return u32(value) << 16;
    } else {
        return L(value);
    }
}

// Converts a register's element to its form in memory; a NaN becomes canonical.
template <Elem kElem, typename L>
[[gnu::always_inline]] inline auto to_memory(L value) {
    using E = typename ElemOf<kElem>::type;
    if constexpr (kElem == Elem::F32 || kElem == Elem::F64) {
        return CanonicalOp::run(E(value));
    } else if constexpr (kElem == Elem::F16) {
        return E(HalfBitsOp::run(value));
    } else if constexpr (kElem == Elem::BF16) {
        return E(Bf16BitsOp::run(value));
    } else {
        return E(value);
    }
}

}  // namespace wye::cpu::WYE_CPU_ISA
