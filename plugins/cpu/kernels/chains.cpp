// SPDX-License-Identifier: Apache-2.0
//
// Fused chains of two operations: second(first(a, b), c). One pass over the lanes instead of two
// saves a store, a load and a call. Shift-xor, rotate-add, add-add and multiply-add are common in
// hashes, generators and polynomials. Float chains keep both roundings.
#include <utility>

#include "lanes.hpp"

namespace wye::cpu::WYE_CPU_ISA {
namespace {

template <First kOp>
struct FirstOf;
template <>
struct FirstOf<First::Add> {
    using type = AddOp;
};
template <>
struct FirstOf<First::Sub> {
    using type = SubOp;
};
template <>
struct FirstOf<First::Mul> {
    using type = MulOp;
};
template <>
struct FirstOf<First::And> {
    using type = AndOp;
};
template <>
struct FirstOf<First::Or> {
    using type = OrOp;
};
template <>
struct FirstOf<First::Xor> {
    using type = XorOp;
};
template <>
struct FirstOf<First::AndNot> {
    using type = AndNotOp;
};
template <>
struct FirstOf<First::Shl> {
    using type = ShlOp;
};
template <>
struct FirstOf<First::Shr> {
    using type = ShrOp;
};
template <>
struct FirstOf<First::Rotl> {
    using type = RotlOp;
};

template <Second kOp>
struct SecondOf;
template <>
struct SecondOf<Second::Add> {
    using type = AddOp;
};
template <>
struct SecondOf<Second::Sub> {
    using type = SubOp;
};
template <>
struct SecondOf<Second::ReverseSub> {
    using type = ReverseSubOp;
};
template <>
struct SecondOf<Second::Mul> {
    using type = MulOp;
};
template <>
struct SecondOf<Second::And> {
    using type = AndOp;
};
template <>
struct SecondOf<Second::Or> {
    using type = OrOp;
};
template <>
struct SecondOf<Second::Xor> {
    using type = XorOp;
};
template <>
struct SecondOf<Second::Shl> {
    using type = ShlOp;
};
template <>
struct SecondOf<Second::Shr> {
    using type = ShrOp;
};
template <>
struct SecondOf<Second::Rotl> {
    using type = RotlOp;
};

constexpr bool shifts(First op) { return op >= First::Shl; }
constexpr bool shifts(Second op) { return op >= Second::Shl; }

// Whether a chain is built. Fewer chains are built for 64 bits, where they gain less; each chain
// costs build time.
template <typename T>
constexpr bool built(First one, Second two) {
    if (kFloat<T>)
        return (one == First::Add || one == First::Sub || one == First::Mul) && two <= Second::Mul;
    if (sizeof(T) == 4) return true;
    return (one == First::Add || one == First::Mul || one == First::Xor || shifts(one)) &&
           (two == Second::Add || two == Second::Xor || two == Second::Or || two == Second::Rotl);
}

template <typename One, typename Two, typename T, bool kB, bool kC>
void fill_cell(KernelSet& set, Kernel& cell) {
    cell = chain<One, Two, T, T, T, kB, kC>;
    if constexpr (kFloat<T>) add_twin(set, cell, chain<One, CanonicalOf<Two>, T, T, T, kB, kC>);
}

template <typename T, First kOne, Second kTwo>
void fill_pair(KernelSet& set, Kernel (&cell)[2][2]) {
    if constexpr (built<T>(kOne, kTwo)) {
        using One = typename FirstOf<kOne>::type;
        using Two = typename SecondOf<kTwo>::type;
        constexpr bool count_b = shifts(kOne);
        constexpr bool count_c = shifts(kTwo);
        if constexpr (count_b && count_c) {
            cell[1][1] = chain<One, Two, T, u32, u32, true, true>;
        } else if constexpr (count_b) {
            cell[1][0] = chain<One, Two, T, u32, T, true, false>;
            cell[1][1] = chain<One, Two, T, u32, T, true, true>;
        } else if constexpr (count_c) {
            cell[0][1] = chain<One, Two, T, T, u32, false, true>;
            cell[1][1] = chain<One, Two, T, T, u32, true, true>;
        } else {
            fill_cell<One, Two, T, false, false>(set, cell[0][0]);
            fill_cell<One, Two, T, false, true>(set, cell[0][1]);
            fill_cell<One, Two, T, true, false>(set, cell[1][0]);
            fill_cell<One, Two, T, true, true>(set, cell[1][1]);
        }
    }
}

template <typename T, First kOne, std::size_t... kTwo>
void fill_row(KernelSet& set, Kernel (&row)[at(Second::Count)][2][2],
              std::index_sequence<kTwo...>) {
    (fill_pair<T, kOne, static_cast<Second>(kTwo)>(set, row[kTwo]), ...);
}

template <typename T, std::size_t... kOne>
void fill_type(KernelSet& set, ChainType type, std::index_sequence<kOne...>) {
    (fill_row<T, static_cast<First>(kOne)>(set, set.chain[at(type)][kOne],
                                           std::make_index_sequence<at(Second::Count)>{}),
     ...);
}

}  // namespace

void fill_chains(KernelSet& set) {
    const std::make_index_sequence<at(First::Count)> all;
    fill_type<u32>(set, ChainType::W32, all);
    fill_type<u64>(set, ChainType::W64, all);
    fill_type<f32>(set, ChainType::F32, all);
    fill_type<f64>(set, ChainType::F64, all);
}

}  // namespace wye::cpu::WYE_CPU_ISA
