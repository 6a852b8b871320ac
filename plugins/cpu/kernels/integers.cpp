// SPDX-License-Identifier: Apache-2.0
//
// Lane kernels for integers and bool. Operations that do not depend on the sign are built for the
// unsigned type only, and serve both types.
#include "lanes.hpp"

namespace wye::cpu::WYE_CPU_ISA {
namespace {

template <typename Op, typename T, Num kNum>
void fill_unary(KernelSet& set, Unary op) {
    set.unary[at(op)][at(kNum)] = unary<Op, T, T>;
}

// Fills in the operand shapes: LL and LS if the operation is commutative, else all three.
template <typename Op, typename D, typename A>
void fill_shapes(Kernel (&row)[kShapes], bool commutative) {
    row[LL] = binary<Op, D, A, A, false, false>;
    row[LS] = binary<Op, D, A, A, false, true>;
    if (!commutative) row[SL] = binary<Op, D, A, A, true, false>;
}

template <typename Op, typename T>
void fill_shift(Kernel (&row)[kShapes]) {
    row[LL] = binary<Op, T, T, u32, false, false>;
    row[LS] = binary<Op, T, T, u32, false, true>;
}

// Fills in operations that are the same for the signed and the unsigned type.
template <typename T, Num kSignedNum, Num kUnsignedNum>
void fill_bits(KernelSet& set) {
    const Num both[] = {kSignedNum, kUnsignedNum};
    for (const Num num : both) {
        auto& binary_of = set.binary;
        const auto n = at(num);
        set.unary[at(Unary::Copy)][n] = unary<CopyOp, T, T>;
        set.unary[at(Unary::Neg)][n] = unary<NegOp, T, T>;
        set.unary[at(Unary::Not)][n] = unary<NotOp, T, T>;
        set.unary[at(Unary::Popcount)][n] = unary<PopcountOp, T, T>;
        set.unary[at(Unary::Clz)][n] = unary<ClzOp, T, T>;
        set.unary[at(Unary::Ctz)][n] = unary<CtzOp, T, T>;
        set.unary[at(Unary::Reverse)][n] = unary<ReverseOp, T, T>;
        fill_shapes<AddOp, T, T>(binary_of[at(Binary::Add)][n], true);
        fill_shapes<SubOp, T, T>(binary_of[at(Binary::Sub)][n], false);
        fill_shapes<MulOp, T, T>(binary_of[at(Binary::Mul)][n], true);
        fill_shapes<AndOp, T, T>(binary_of[at(Binary::And)][n], true);
        fill_shapes<OrOp, T, T>(binary_of[at(Binary::Or)][n], true);
        fill_shapes<XorOp, T, T>(binary_of[at(Binary::Xor)][n], true);
        binary_of[at(Binary::AndNot)][n][LL] = binary<AndNotOp, T, T, T, false, false>;
        fill_shapes<EqOp, u8, T>(binary_of[at(Binary::Eq)][n], true);
        fill_shapes<NeOp, u8, T>(binary_of[at(Binary::Ne)][n], true);
        fill_shift<ShlOp, T>(binary_of[at(Binary::Shl)][n]);
        fill_shift<RotlOp, T>(binary_of[at(Binary::Rotl)][n]);
        fill_shift<RotrOp, T>(binary_of[at(Binary::Rotr)][n]);
    }
}

template <Num kNum>
void fill_arithmetic(KernelSet& set) {
    using T = NumType<kNum>;
    const auto n = at(kNum);
    auto& of = set.binary;
    of[at(Binary::Div)][n][LL] = binary<DivOp, T, T, T, false, false>;
    of[at(Binary::Div)][n][LS] = binary<DivOp, T, T, T, false, true>;
    of[at(Binary::Rem)][n][LL] = binary<RemOp, T, T, T, false, false>;
    of[at(Binary::Rem)][n][LS] = binary<RemOp, T, T, T, false, true>;
    of[at(Binary::MulHi)][n][LL] = binary<MulHiOp, T, T, T, false, false>;
    of[at(Binary::AddSat)][n][LL] = binary<AddSatOp, T, T, T, false, false>;
    of[at(Binary::SubSat)][n][LL] = binary<SubSatOp, T, T, T, false, false>;
    fill_shapes<MinOp, T, T>(of[at(Binary::Min)][n], true);
    fill_shapes<MaxOp, T, T>(of[at(Binary::Max)][n], true);
    fill_shapes<LtOp, u8, T>(of[at(Binary::Lt)][n], false);
    fill_shapes<LeOp, u8, T>(of[at(Binary::Le)][n], false);
    fill_shift<ShrOp, T>(of[at(Binary::Shr)][n]);
}

template <Num kTo, Num kFrom>
void fill_convert(KernelSet& set) {
    using To = NumType<kTo>;
    using From = NumType<kFrom>;
    set.convert[at(kFrom)][at(kTo)] = unary<ConvertOp<To>, To, From>;
}

void pack(Frame& f, const Instr& i, std::byte* to) {
    u64* d = target<u64>(to);
    const u32* a = lane<u32>(f, i.a);
    const u32* b = lane<u32>(f, i.b);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = u64(b[k]) << 32 | a[k]; });
}

void iota(Frame& f, const Instr& i, std::byte* to) {
    u32* d = target<u32>(to);
    const u32 base = scalar<u32>(f, i.a);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = base + u32(k); });
}

template <typename T>
void splat(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T value = scalar<T>(f, i.a);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = value; });
}

}  // namespace

void fill_integers(KernelSet& set) {
    fill_bits<u32, Num::I32, Num::U32>(set);
    fill_bits<u64, Num::I64, Num::U64>(set);
    fill_arithmetic<Num::I32>(set);
    fill_arithmetic<Num::U32>(set);
    fill_arithmetic<Num::I64>(set);
    fill_arithmetic<Num::U64>(set);
    fill_unary<AbsOp, i32, Num::I32>(set, Unary::Abs);
    fill_unary<AbsOp, i64, Num::I64>(set, Unary::Abs);

    const auto b = at(Num::Bool);
    set.unary[at(Unary::Copy)][b] = unary<CopyOp, u8, u8>;
    set.unary[at(Unary::Not)][b] = unary<LogicalNotOp, u8, u8>;
    fill_shapes<AndOp, u8, u8>(set.binary[at(Binary::And)][b], true);
    fill_shapes<OrOp, u8, u8>(set.binary[at(Binary::Or)][b], true);
    fill_shapes<XorOp, u8, u8>(set.binary[at(Binary::Xor)][b], true);
    fill_shapes<EqOp, u8, u8>(set.binary[at(Binary::Eq)][b], true);
    fill_shapes<NeOp, u8, u8>(set.binary[at(Binary::Ne)][b], true);

    fill_convert<Num::U64, Num::U32>(set);
    fill_convert<Num::I64, Num::I32>(set);
    set.convert[at(Num::U32)][at(Num::I64)] = unary<ConvertOp<u64>, u64, u32>;
    set.convert[at(Num::I32)][at(Num::U64)] = unary<ConvertOp<i64>, i64, i32>;
    const Num narrow[] = {Num::I32, Num::U32};
    const Num wide[] = {Num::I64, Num::U64};
    for (const Num from : wide)
        for (const Num to : narrow) set.convert[at(from)][at(to)] = unary<ConvertOp<u32>, u32, u64>;
    for (const Num to : narrow) set.convert[b][at(to)] = unary<ConvertOp<u32>, u32, u8>;
    for (const Num to : wide) set.convert[b][at(to)] = unary<ConvertOp<u64>, u64, u8>;

    set.pack = pack;
    set.iota = iota;
    set.splat[B1] = splat<u8>;
    set.splat[B4] = splat<u32>;
    set.splat[B8] = splat<u64>;
}

}  // namespace wye::cpu::WYE_CPU_ISA
