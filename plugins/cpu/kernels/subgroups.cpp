// SPDX-License-Identifier: Apache-2.0
//
// Subgroup operations. A subgroup is `c` neighbouring lanes; c is a power of two from 4 to 128.
// Whole subgroups take part, so masks are ignored, and the results of inactive subgroups are
// unused. A block is a workgroup here, and its size is a multiple of c. A destination is never an
// operand.
#include "lanes.hpp"

namespace wye::cpu::WYE_CPU_ISA {
namespace {

constexpr std::size_t kWidest = 128;

template <typename T, bool kXor>
void shuffle(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T* a = lane<T>(f, i.a);
    const u32* from = lane<u32>(f, i.b);
    const u32 in_group = i.c - 1;
    for (std::size_t k = 0; k < f.live; ++k) {
        const u32 source = kXor ? u32(k) ^ from[k] : from[k];
        d[k] = a[(k & ~std::size_t(in_group)) | (source & in_group)];
    }
}

// Lane k combines with lane k ^ distance, for distances 1, 2, 4 up to half the subgroup.
template <typename Op, typename T>
void reduce(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T* a = lane<T>(f, i.a);
    const std::size_t width = i.c;
    for (std::size_t group = 0; group < f.live; group += width) {
        T value[kWidest];
        T other[kWidest];
        for (std::size_t k = 0; k < width; ++k) value[k] = a[group + k];
        for (std::size_t distance = 1; distance < width; distance *= 2) {
            for (std::size_t k = 0; k < width; ++k) other[k] = value[k ^ distance];
            for (std::size_t k = 0; k < width; ++k) value[k] = Op::run(value[k], other[k]);
        }
        for (std::size_t k = 0; k < width; ++k) d[group + k] = value[k];
    }
}

// Lane k adds lane k - distance, for distances 1, 2, 4 up to half the subgroup.
template <typename T, bool kExclusive>
void scan(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T* a = lane<T>(f, i.a);
    const std::size_t width = i.c;
    for (std::size_t group = 0; group < f.live; group += width) {
        T value[kWidest];
        for (std::size_t k = 0; k < width; ++k) value[k] = a[group + k];
        for (std::size_t distance = 1; distance < width; distance *= 2)
            for (std::size_t k = width; k-- > distance;)
                value[k] = AddOp::run(value[k - distance], value[k]);
        if constexpr (kExclusive) {
            d[group] = T(0);
            for (std::size_t k = 1; k < width; ++k) d[group + k] = value[k - 1];
        } else {
            for (std::size_t k = 0; k < width; ++k) d[group + k] = value[k];
        }
    }
}

// Component `part` of the ballot: lanes 32 * part to 32 * part + 31 of the subgroup.
void ballot(Frame& f, const Instr& i, std::byte* to) {
    u32* d = target<u32>(to);
    const u8* a = lane<u8>(f, i.a);
    const std::size_t width = i.c;
    const std::size_t first = std::size_t(i.part) * 32;
    for (std::size_t group = 0; group < f.live; group += width) {
        u32 bits_of_group = 0;
        for (std::size_t k = first; k < width && k < first + 32; ++k)
            bits_of_group |= u32(a[group + k]) << (k - first);
        for (std::size_t k = 0; k < width; ++k) d[group + k] = bits_of_group;
    }
}

// The type of sums. Sums of integers are computed in the unsigned type, because they wrap.
template <typename T, bool kIsFloat>
struct SumOf {
    using type = Bits<T>;
};
template <typename T>
struct SumOf<T, true> {
    using type = T;
};

template <Num kNum>
void fill_number(KernelSet& set) {
    using T = NumType<kNum>;
    using W = Bits<T>;
    using Sum = typename SumOf<T, kFloat<T>>::type;
    const auto n = at(kNum);
    auto& of = set.subgroup;
    of[at(Subgroup::Shuffle)][n] = shuffle<W, false>;
    of[at(Subgroup::ShuffleXor)][n] = shuffle<W, true>;
    of[at(Subgroup::Add)][n] = reduce<AddOp, Sum>;
    of[at(Subgroup::Min)][n] = reduce<MinOp, T>;
    of[at(Subgroup::Max)][n] = reduce<MaxOp, T>;
    of[at(Subgroup::InclusiveAdd)][n] = scan<Sum, false>;
    of[at(Subgroup::ExclusiveAdd)][n] = scan<Sum, true>;
    if constexpr (!kFloat<T>) {
        of[at(Subgroup::And)][n] = reduce<AndOp, W>;
        of[at(Subgroup::Or)][n] = reduce<OrOp, W>;
        of[at(Subgroup::Xor)][n] = reduce<XorOp, W>;
    }
}

}  // namespace

void fill_subgroups(KernelSet& set) {
    fill_number<Num::I32>(set);
    fill_number<Num::U32>(set);
    fill_number<Num::I64>(set);
    fill_number<Num::U64>(set);
    fill_number<Num::F32>(set);
    fill_number<Num::F64>(set);
    const auto b = at(Num::Bool);
    set.subgroup[at(Subgroup::And)][b] = reduce<AndOp, u8>;
    set.subgroup[at(Subgroup::Or)][b] = reduce<OrOp, u8>;
    set.subgroup[at(Subgroup::Ballot)][b] = ballot;
}

}  // namespace wye::cpu::WYE_CPU_ISA
