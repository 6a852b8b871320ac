// SPDX-License-Identifier: Apache-2.0
//
// The tables of lane kernels and scalar kernels, by operation, type and operand shape. A null entry
// means that there is no such kernel: either the type lacks the operation, or the compiler copies
// uniform operands to lanes and uses another shape. The tables are built once and then never
// change, so that any thread may read them.
#pragma once

#include "cpu/run/frame.hpp"

namespace wye::cpu {

// The types of values in registers. An F16 is held as the f32 of equal value; its arithmetic rounds
// to f16.
enum class Num : std::uint8_t { I32, U32, I64, U64, F32, F64, F16, Bool, Count };

enum class Unary : std::uint8_t {
    Copy,
    Neg,
    Not,
    Popcount,
    Clz,
    Ctz,
    Reverse,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Round,
    IsNan,
    IsInf,
    Canonical,  // makes a NaN canonical
    HalfBits,   // F16 to its 16 bits in memory, as U32
    BitsHalf,   // the low 16 bits of U32 to F16
    Count
};

enum class Binary : std::uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    AndNot,
    Shl,
    Shr,
    Rotl,
    Rotr,
    MulHi,
    AddSat,
    SubSat,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Copysign,
    Count
};

// The operand shapes: L means lanes, S means a scalar.
enum Shape : std::uint8_t { LL, LS, SL, kShapes };

// Fused chains: second(first(a, b), c). ReverseSub is c - first(a, b). Shifts and rotates take a
// scalar count.
enum class First : std::uint8_t { Add, Sub, Mul, And, Or, Xor, AndNot, Shl, Shr, Rotl, Count };
enum class Second : std::uint8_t { Add, Sub, ReverseSub, Mul, And, Or, Xor, Shl, Shr, Rotl, Count };
// The types of chains: bit patterns of 32 and 64 bits, f32 and f64.
enum class ChainType : std::uint8_t { W32, W64, F32, F64, Count };

// The operators of conditions `affine index OP uniform value` that become ramps: less, less or
// equal, equal. The negated conditions are the complements of these ramps.
enum class RampOp : std::uint8_t { Lt, Le, Eq, Count };

// The sizes of register elements: 1, 4 or 8 bytes.
enum Width : std::uint8_t { B1, B4, B8, kWidths };

// Operations across the lanes of a subgroup.
enum class Subgroup : std::uint8_t {
    Shuffle,
    ShuffleXor,
    Ballot,
    Add,
    Min,
    Max,
    InclusiveAdd,
    ExclusiveAdd,
    And,
    Or,
    Xor,
    Count
};

// The types of elements in memory. F32 and F64 differ from W32 and W64 only in stores: a NaN
// becomes canonical. F16 and BF16 are F32 in registers; storing BF16 rounds.
enum class Elem : std::uint8_t { I8, U8, I16, U16, W32, W64, F32, F64, F16, BF16, Count };
enum class Index : std::uint8_t { U32, I32, W64, Count };

template <typename E>
constexpr std::size_t at(E e) {
    return static_cast<std::size_t>(e);
}

struct KernelSet {
    const char* name;
    Kernel unary[at(Unary::Count)][at(Num::Count)];
    Kernel binary[at(Binary::Count)][at(Num::Count)][kShapes];
    Kernel fma[3];                                   // [f32, f64, f16]; a, b, c: lanes
    Kernel select[kWidths][2][2];                    // [b is scalar][c is scalar]; a: condition
    Kernel convert[at(Num::Count)][at(Num::Count)];  // [from][to]
    Kernel chain[at(ChainType::Count)][at(First::Count)][at(Second::Count)][2][2];
    Kernel splat[kWidths];  // copies scalar a to lanes
    Kernel iota;            // u32: scalar a + lane number
    Kernel ramp;            // bool: whether a lane is in all ramps a, b, c (kNoSlot: none)
    Kernel blend[kWidths];  // to = mask ? a : to
    Kernel pack;            // u64 from u32 a (low), b (high)
    Kernel for_next[2];     // [32, 64 bits]: adds c to counter b; to: whether b is below end a
    // Loads and stores. Operand b is the index: one value for each lane or, in the affine kernels,
    // one scalar, to which each lane adds its number. `array`, `stride` and `part` are members of
    // the instruction.
    Kernel load[at(Elem::Count)][at(Index::Count)];
    Kernel load_affine[at(Elem::Count)][2];           // [the index is I32]
    Kernel store[at(Elem::Count)][at(Index::Count)];  // value a; for active lanes only
    Kernel store_affine[at(Elem::Count)][2];
    // Local arrays of c elements: [4 or 8 bytes][type of index b][b is a scalar].
    Kernel load_local[2][at(Index::Count)][2];   // array at a
    Kernel store_local[2][at(Index::Count)][2];  // array at d, value a; for active lanes only
    Kernel zero_local;                           // sets c bytes at d to zero
    // A float kernel and its twin. The twin makes a NaN canonical, for results that go to memory.
    struct Twin {
        Kernel plain;
        Kernel canonical;
    };
    Twin twins[128];
    std::uint32_t twin_count;
    // Subgroup operations on lanes a. b: the lane numbers of shuffles; c: the lanes of a subgroup.
    // A ballot takes bool lanes and gives one u32 component of its result: number `part` of the
    // instruction.
    Kernel subgroup[at(Subgroup::Count)][at(Num::Count)];
    // Mask operations. count() returns the number of lanes that are 1 in the frame's mask and in
    // the condition. split() moves lanes from the mask to `off`: those where the condition is 0.
    std::uint32_t (*count)(const Frame& frame, const std::byte* condition);
    void (*split)(Frame& frame, const std::byte* condition, std::byte* off);
    void (*join)(const Frame& frame, std::byte* to, const std::byte* from);  // to |= from
};

// Scalar kernels: operands and results are scalars, given by number. One build serves every
// machine.
struct ScalarSet {
    Kernel unary[at(Unary::Count)][at(Num::Count)];
    Kernel binary[at(Binary::Count)][at(Num::Count)];
    Kernel fma[3];
    Kernel select;  // a ? b : c
    Kernel convert[at(Num::Count)][at(Num::Count)];
    Kernel pack;
    Kernel load[at(Elem::Count)][at(Index::Count)];  // index b
    Kernel max_one[at(Num::Count)];                  // integers: max(a, 1), for loop steps
    Kernel ramp[at(RampOp::Count)][2];               // the lanes where `a + lane OP b`; [is i32]
    Kernel ramp_not;                                 // lanes outside ramp a
    Kernel ramp_if;                                  // ramp a if b, else no lane
};
const ScalarSet& scalar_kernels();

enum class Atomic : std::uint8_t { Load, Store, Exchange, Add, Min, Max, And, Or, Xor, Cas, Count };
// The kernel of an atomic operation, which runs for each active lane, in ascending order. All
// operands are lanes: index b, value a; for Cas, expected value a and new value c. `shared`: the
// array belongs to one workgroup, so only one thread uses it.
Kernel atomic_kernel(Atomic op, Num type, Index index, bool shared);

// The kernel sets of the instruction sets. avx2_kernels() exists only in builds with WYE_CPU_AVX2,
// and avx512_kernels() only with WYE_CPU_AVX512. kernels_named() gives the sets that the machine
// can run.
const KernelSet* baseline_kernels();
const KernelSet* avx2_kernels();
const KernelSet* avx512_kernels();

}  // namespace wye::cpu
