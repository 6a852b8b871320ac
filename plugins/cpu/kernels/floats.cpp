// SPDX-License-Identifier: Apache-2.0
//
// Lane kernels for f32, f64 and f16, and conversions from and to these types.
#include "lanes.hpp"

namespace wye::cpu::WYE_CPU_ISA {
namespace {

template <typename Op, typename D, typename A>
void fill_shapes(Kernel (&row)[kShapes]) {
    row[LL] = binary<Op, D, A, A, false, false>;
    row[LS] = binary<Op, D, A, A, false, true>;
    row[SL] = binary<Op, D, A, A, true, false>;
}

// Fills in the kernels of an operation that can produce a NaN, and their twins (KernelSet::Twin).
template <typename Op, typename T>
void fill_arithmetic(KernelSet& set, Kernel (&row)[kShapes]) {
    fill_shapes<Op, T, T>(row);
    Kernel twins[kShapes] = {};
    fill_shapes<CanonicalOf<Op>, T, T>(twins);
    for (std::size_t shape = 0; shape < kShapes; ++shape) add_twin(set, row[shape], twins[shape]);
}

template <Num kNum>
void fill_float(KernelSet& set) {
    using T = NumType<kNum>;
    using W = Bits<T>;
    const auto n = at(kNum);
    auto& one = set.unary;
    auto& two = set.binary;
    one[at(Unary::Copy)][n] = unary<CopyOp, W, W>;
    one[at(Unary::Neg)][n] = unary<NegOp, T, T>;
    one[at(Unary::Abs)][n] = unary<AbsOp, T, T>;
    one[at(Unary::Sqrt)][n] = unary<SqrtOp, T, T>;
    one[at(Unary::Floor)][n] = unary<FloorOp, T, T>;
    one[at(Unary::Ceil)][n] = unary<CeilOp, T, T>;
    one[at(Unary::Trunc)][n] = unary<TruncOp, T, T>;
    one[at(Unary::Round)][n] = unary<RoundOp, T, T>;
    one[at(Unary::IsNan)][n] = unary<IsNanOp, u8, T>;
    one[at(Unary::IsInf)][n] = unary<IsInfOp, u8, T>;
    one[at(Unary::Canonical)][n] = unary<CanonicalOp, W, W>;
    fill_arithmetic<AddOp, T>(set, two[at(Binary::Add)][n]);
    fill_arithmetic<SubOp, T>(set, two[at(Binary::Sub)][n]);
    fill_arithmetic<MulOp, T>(set, two[at(Binary::Mul)][n]);
    fill_arithmetic<DivOp, T>(set, two[at(Binary::Div)][n]);
    two[at(Binary::Min)][n][LL] = binary<MinOp, T, T, T, false, false>;
    two[at(Binary::Max)][n][LL] = binary<MaxOp, T, T, T, false, false>;
    two[at(Binary::Copysign)][n][LL] = binary<CopysignOp, T, T, T, false, false>;
    fill_shapes<EqOp, u8, T>(two[at(Binary::Eq)][n]);
    fill_shapes<NeOp, u8, T>(two[at(Binary::Ne)][n]);
    fill_shapes<LtOp, u8, T>(two[at(Binary::Lt)][n]);
    fill_shapes<LeOp, u8, T>(two[at(Binary::Le)][n]);
    Kernel& fma = set.fma[kNum == Num::F64 ? 1 : 0];
    fma = ternary<FmaOp, T, T>;
    add_twin(set, fma, ternary<CanonicalOf<FmaOp>, T, T>);
}

template <Num kFrom, Num kTo>
void fill_convert(KernelSet& set) {
    using To = NumType<kTo>;
    using From = NumType<kFrom>;
    set.convert[at(kFrom)][at(kTo)] = unary<ConvertOp<To>, To, From>;
}

template <Num kFloat>
void fill_converts(KernelSet& set) {
    fill_convert<kFloat, Num::I32>(set);
    fill_convert<kFloat, Num::U32>(set);
    fill_convert<kFloat, Num::I64>(set);
    fill_convert<kFloat, Num::U64>(set);
    fill_convert<Num::I32, kFloat>(set);
    fill_convert<Num::U32, kFloat>(set);
    fill_convert<Num::I64, kFloat>(set);
    fill_convert<Num::U64, kFloat>(set);
    fill_convert<Num::Bool, kFloat>(set);
}

// Operations that do not round use the kernels of f32.
void fill_half(KernelSet& set) {
    constexpr auto f32_at = at(Num::F32);
    constexpr auto n = at(Num::F16);
    for (auto& row : set.unary) row[n] = row[f32_at];
    for (auto& row : set.binary)
        for (std::size_t shape = 0; shape < kShapes; ++shape) row[n][shape] = row[f32_at][shape];
    set.unary[at(Unary::Sqrt)][n] = unary<HalfOf<SqrtOp>, f32, f32>;
    set.unary[at(Unary::HalfBits)][n] = unary<HalfBitsOp, u32, u32>;
    set.unary[at(Unary::BitsHalf)][at(Num::U32)] = unary<BitsHalfOp, u32, u32>;
    fill_shapes<HalfOf<AddOp>, f32, f32>(set.binary[at(Binary::Add)][n]);
    fill_shapes<HalfOf<SubOp>, f32, f32>(set.binary[at(Binary::Sub)][n]);
    fill_shapes<HalfOf<MulOp>, f32, f32>(set.binary[at(Binary::Mul)][n]);
    fill_shapes<HalfOf<DivOp>, f32, f32>(set.binary[at(Binary::Div)][n]);
    set.fma[2] = ternary<HalfOf<MulAddOp>, f32, f32>;

    for (std::size_t to = 0; to < at(Num::Count); ++to)
        set.convert[n][to] = set.convert[f32_at][to];
    set.convert[at(Num::Bool)][n] = set.convert[at(Num::Bool)][f32_at];
    // Integers convert through f32, which rounds only values far above the largest f16.
    set.convert[at(Num::I32)][n] = unary<HalfOf<ConvertOp<f32>>, f32, i32>;
    set.convert[at(Num::U32)][n] = unary<HalfOf<ConvertOp<f32>>, f32, u32>;
    set.convert[at(Num::I64)][n] = unary<HalfOf<ConvertOp<f32>>, f32, i64>;
    set.convert[at(Num::U64)][n] = unary<HalfOf<ConvertOp<f32>>, f32, u64>;
    set.convert[f32_at][n] = unary<HalfOp, f32, f32>;
    set.convert[at(Num::F64)][n] = unary<HalfOp, f32, f64>;
}

template <typename T>
void fill_select(Kernel (&row)[2][2]) {
    row[0][0] = select<T, false, false>;
    row[0][1] = select<T, false, true>;
    row[1][0] = select<T, true, false>;
    row[1][1] = select<T, true, true>;
}

}  // namespace

void fill_floats(KernelSet& set) {
    fill_float<Num::F32>(set);
    fill_float<Num::F64>(set);
    fill_converts<Num::F32>(set);
    fill_converts<Num::F64>(set);
    fill_convert<Num::F32, Num::F64>(set);
    fill_convert<Num::F64, Num::F32>(set);
    fill_half(set);
    fill_select<u8>(set.select[B1]);
    fill_select<u32>(set.select[B4]);
    fill_select<u64>(set.select[B8]);
}

}  // namespace wye::cpu::WYE_CPU_ISA
