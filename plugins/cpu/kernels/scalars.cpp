// SPDX-License-Identifier: Apache-2.0
//
// Scalar kernels: the operations of the lane kernels on one value that serves all lanes of a block.
// Built once, for any machine.
#define WYE_CPU_ISA scalar_forms
#include "elements.hpp"

namespace wye::cpu {
namespace WYE_CPU_ISA {
namespace {

// Results are zero-extended, so that equal values have equal scalars.
template <typename T>
void put(std::byte* to, T value) {
    *reinterpret_cast<u64*>(to) = bits(value);
}

template <typename Op, typename A>
void one(Frame& f, const Instr& i, std::byte* to) {
    put(to, Op::run(scalar<A>(f, i.a)));
}
template <typename Op, typename A, typename B>
void two(Frame& f, const Instr& i, std::byte* to) {
    put(to, Op::run(scalar<A>(f, i.a), scalar<B>(f, i.b)));
}
template <typename Op, typename A>
void three(Frame& f, const Instr& i, std::byte* to) {
    put(to, Op::run(scalar<A>(f, i.a), scalar<A>(f, i.b), scalar<A>(f, i.c)));
}
void select_scalar(Frame& f, const Instr& i, std::byte* to) {
    put(to, scalar<u8>(f, i.a) != 0 ? f.scalars[i.b] : f.scalars[i.c]);
}
void pack(Frame& f, const Instr& i, std::byte* to) {
    put(to, u64(scalar<u32>(f, i.b)) << 32 | scalar<u32>(f, i.a));
}

template <Elem kElem, typename I>
void load(Frame& f, const Instr& i, std::byte* to) {
    using E = typename ElemOf<kElem>::type;
    using L = typename ElemOf<kElem>::lanes;
    const Bound& bound = f.bound[i.array];
    const E* data = reinterpret_cast<const E*>(bound.data) + i.part;
    const I index = scalar<I>(f, i.b);
    const u64 wide = kSigned<I> ? u64(i64(index)) : u64(index);
    const u64 limit = sizeof(I) == 4 ? bound.count32 : bound.count;
    put(to, wide < limit ? L(from_memory<kElem>(data[wide * i.stride])) : L(0));
}

// ---- Ramps: the lanes whose index is in a range of 32-bit integers ------------------------------

constexpr Ramp kNoLane = {0, 0};
constexpr Ramp kAllLanes = {0, ~u32(0)};

void put_ramp(std::byte* to, Ramp ramp) {
    *reinterpret_cast<u64*>(to) = __builtin_bit_cast(u64, ramp);
}

// Lanes are numbered modulo 2^32, with lane 0 at index `first`, so the lanes of a range are
// consecutive even if the index wraps around.
template <RampOp kOp, bool kI32>
void ramp(Frame& f, const Instr& i, std::byte* to) {
    const u32 first = scalar<u32>(f, i.a);
    const u32 value = scalar<u32>(f, i.b);
    constexpr u32 least = kI32 ? kTop<u32> : 0;
    const u32 below = value - least;  // how many indices are below `value`
    if constexpr (kOp == RampOp::Eq) {
        put_ramp(to, {value - first, 1});
    } else if constexpr (kOp == RampOp::Lt) {
        put_ramp(to, {least - first, below});
    } else {
        put_ramp(to, below == ~u32(0) ? kAllLanes : Ramp{least - first, below + 1});
    }
}

void ramp_not(Frame& f, const Instr& i, std::byte* to) {
    const Ramp on = scalar<Ramp>(f, i.a);
    put_ramp(to, on.count == 0 ? kAllLanes : Ramp{on.start + on.count, 0U - on.count});
}

void ramp_if(Frame& f, const Instr& i, std::byte* to) {
    put_ramp(to, scalar<u8>(f, i.b) != 0 ? scalar<Ramp>(f, i.a) : kNoLane);
}

struct MaxOneOp {
    template <typename T>
    WYE_CPU_OP T run(T a) {
        return a < 1 ? T(1) : a;
    }
};

template <Num kNum>
void fill_number(ScalarSet& set) {
    using T = NumType<kNum>;
    const auto n = at(kNum);
    set.unary[at(Unary::Copy)][n] = one<CopyOp, Bits<T>>;
    set.unary[at(Unary::Neg)][n] = one<NegOp, T>;
    auto& of = set.binary;
    of[at(Binary::Add)][n] = two<AddOp, T, T>;
    of[at(Binary::Sub)][n] = two<SubOp, T, T>;
    of[at(Binary::Mul)][n] = two<MulOp, T, T>;
    of[at(Binary::Div)][n] = two<DivOp, T, T>;
    of[at(Binary::Min)][n] = two<MinOp, T, T>;
    of[at(Binary::Max)][n] = two<MaxOp, T, T>;
    of[at(Binary::Eq)][n] = two<EqOp, T, T>;
    of[at(Binary::Ne)][n] = two<NeOp, T, T>;
    of[at(Binary::Lt)][n] = two<LtOp, T, T>;
    of[at(Binary::Le)][n] = two<LeOp, T, T>;
}

template <Num kNum>
void fill_integer(ScalarSet& set) {
    using T = NumType<kNum>;
    using U = Bits<T>;
    const auto n = at(kNum);
    fill_number<kNum>(set);
    set.unary[at(Unary::Not)][n] = one<NotOp, T>;
    set.unary[at(Unary::Popcount)][n] = one<PopcountOp, U>;
    set.unary[at(Unary::Clz)][n] = one<ClzOp, U>;
    set.unary[at(Unary::Ctz)][n] = one<CtzOp, U>;
    set.unary[at(Unary::Reverse)][n] = one<ReverseOp, U>;
    if constexpr (kSigned<T>) set.unary[at(Unary::Abs)][n] = one<AbsOp, T>;
    auto& of = set.binary;
    // Wrapping arithmetic in the unsigned type.
    of[at(Binary::Add)][n] = two<AddOp, U, U>;
    of[at(Binary::Sub)][n] = two<SubOp, U, U>;
    of[at(Binary::Mul)][n] = two<MulOp, U, U>;
    of[at(Binary::Rem)][n] = two<RemOp, T, T>;
    of[at(Binary::And)][n] = two<AndOp, U, U>;
    of[at(Binary::Or)][n] = two<OrOp, U, U>;
    of[at(Binary::Xor)][n] = two<XorOp, U, U>;
    of[at(Binary::AndNot)][n] = two<AndNotOp, U, U>;
    of[at(Binary::Shl)][n] = two<ShlOp, U, u32>;
    of[at(Binary::Shr)][n] = two<ShrOp, T, u32>;
    of[at(Binary::Rotl)][n] = two<RotlOp, U, u32>;
    of[at(Binary::Rotr)][n] = two<RotrOp, U, u32>;
    of[at(Binary::MulHi)][n] = two<MulHiOp, T, T>;
    of[at(Binary::AddSat)][n] = two<AddSatOp, T, T>;
    of[at(Binary::SubSat)][n] = two<SubSatOp, T, T>;
    set.max_one[n] = one<MaxOneOp, T>;
}

template <Num kNum>
void fill_float(ScalarSet& set) {
    using T = NumType<kNum>;
    const auto n = at(kNum);
    fill_number<kNum>(set);
    set.unary[at(Unary::Abs)][n] = one<AbsOp, T>;
    set.unary[at(Unary::Sqrt)][n] = one<SqrtOp, T>;
    set.unary[at(Unary::Floor)][n] = one<FloorOp, T>;
    set.unary[at(Unary::Ceil)][n] = one<CeilOp, T>;
    set.unary[at(Unary::Trunc)][n] = one<TruncOp, T>;
    set.unary[at(Unary::Round)][n] = one<RoundOp, T>;
    set.unary[at(Unary::IsNan)][n] = one<IsNanOp, T>;
    set.unary[at(Unary::IsInf)][n] = one<IsInfOp, T>;
    set.unary[at(Unary::Canonical)][n] = one<CanonicalOp, Bits<T>>;
    set.binary[at(Binary::Copysign)][n] = two<CopysignOp, T, T>;
    set.fma[kNum == Num::F64 ? 1 : 0] = three<FmaOp, T>;
}

// Operations that do not round use the kernels of f32.
void fill_half(ScalarSet& set) {
    constexpr auto f32_at = at(Num::F32);
    constexpr auto n = at(Num::F16);
    for (auto& row : set.unary) row[n] = row[f32_at];
    for (auto& row : set.binary) row[n] = row[f32_at];
    set.unary[at(Unary::Sqrt)][n] = one<HalfOf<SqrtOp>, f32>;
    set.unary[at(Unary::HalfBits)][n] = one<HalfBitsOp, u32>;
    set.unary[at(Unary::BitsHalf)][at(Num::U32)] = one<BitsHalfOp, u32>;
    set.binary[at(Binary::Add)][n] = two<HalfOf<AddOp>, f32, f32>;
    set.binary[at(Binary::Sub)][n] = two<HalfOf<SubOp>, f32, f32>;
    set.binary[at(Binary::Mul)][n] = two<HalfOf<MulOp>, f32, f32>;
    set.binary[at(Binary::Div)][n] = two<HalfOf<DivOp>, f32, f32>;
    set.fma[2] = three<HalfOf<MulAddOp>, f32>;
    for (std::size_t to = 0; to < at(Num::Count); ++to)
        set.convert[n][to] = set.convert[f32_at][to];
    set.convert[at(Num::Bool)][n] = set.convert[at(Num::Bool)][f32_at];
    set.convert[at(Num::I32)][n] = one<HalfOf<ConvertOp<f32>>, i32>;
    set.convert[at(Num::U32)][n] = one<HalfOf<ConvertOp<f32>>, u32>;
    set.convert[at(Num::I64)][n] = one<HalfOf<ConvertOp<f32>>, i64>;
    set.convert[at(Num::U64)][n] = one<HalfOf<ConvertOp<f32>>, u64>;
    set.convert[f32_at][n] = one<HalfOp, f32>;
    set.convert[at(Num::F64)][n] = one<HalfOp, f64>;
}

template <Num kFrom, Num kTo>
void fill_convert(ScalarSet& set) {
    if constexpr (kTo != Num::Bool)
        set.convert[at(kFrom)][at(kTo)] = one<ConvertOp<NumType<kTo>>, NumType<kFrom>>;
}
template <Num kFrom>
void fill_converts(ScalarSet& set) {
    fill_convert<kFrom, Num::I32>(set);
    fill_convert<kFrom, Num::U32>(set);
    fill_convert<kFrom, Num::I64>(set);
    fill_convert<kFrom, Num::U64>(set);
    fill_convert<kFrom, Num::F32>(set);
    fill_convert<kFrom, Num::F64>(set);
}

template <Elem kElem>
void fill_load(ScalarSet& set) {
    set.load[at(kElem)][at(Index::U32)] = load<kElem, u32>;
    set.load[at(kElem)][at(Index::I32)] = load<kElem, i32>;
    set.load[at(kElem)][at(Index::W64)] = load<kElem, u64>;
}

ScalarSet make_set() {
    ScalarSet set{};
    fill_integer<Num::I32>(set);
    fill_integer<Num::U32>(set);
    fill_integer<Num::I64>(set);
    fill_integer<Num::U64>(set);
    fill_float<Num::F32>(set);
    fill_float<Num::F64>(set);
    const auto b = at(Num::Bool);
    set.unary[at(Unary::Copy)][b] = one<CopyOp, u8>;
    set.unary[at(Unary::Not)][b] = one<LogicalNotOp, u8>;
    set.binary[at(Binary::And)][b] = two<AndOp, u8, u8>;
    set.binary[at(Binary::Or)][b] = two<OrOp, u8, u8>;
    set.binary[at(Binary::Xor)][b] = two<XorOp, u8, u8>;
    set.binary[at(Binary::Eq)][b] = two<EqOp, u8, u8>;
    set.binary[at(Binary::Ne)][b] = two<NeOp, u8, u8>;
    fill_converts<Num::I32>(set);
    fill_converts<Num::U32>(set);
    fill_converts<Num::I64>(set);
    fill_converts<Num::U64>(set);
    fill_converts<Num::F32>(set);
    fill_converts<Num::F64>(set);
    fill_converts<Num::Bool>(set);
    fill_half(set);
    set.select = select_scalar;
    set.pack = pack;
    set.ramp[at(RampOp::Lt)][0] = ramp<RampOp::Lt, false>;
    set.ramp[at(RampOp::Lt)][1] = ramp<RampOp::Lt, true>;
    set.ramp[at(RampOp::Le)][0] = ramp<RampOp::Le, false>;
    set.ramp[at(RampOp::Le)][1] = ramp<RampOp::Le, true>;
    set.ramp[at(RampOp::Eq)][0] = ramp<RampOp::Eq, false>;
    set.ramp[at(RampOp::Eq)][1] = ramp<RampOp::Eq, true>;
    set.ramp_not = ramp_not;
    set.ramp_if = ramp_if;
    fill_load<Elem::I8>(set);
    fill_load<Elem::U8>(set);
    fill_load<Elem::I16>(set);
    fill_load<Elem::U16>(set);
    fill_load<Elem::W32>(set);
    fill_load<Elem::W64>(set);
    fill_load<Elem::F16>(set);
    fill_load<Elem::BF16>(set);
    return set;
}

}  // namespace
}  // namespace WYE_CPU_ISA

const ScalarSet& scalar_kernels() {
    static const ScalarSet set = scalar_forms::make_set();
    return set;
}

}  // namespace wye::cpu
