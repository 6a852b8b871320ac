// SPDX-License-Identifier: Apache-2.0
//
// The interface of the lane kernels: Instr, an instruction of a compiled program, and Frame, in
// which it runs. Plain structures without functions: this header is compiled once per instruction
// set, and its contents must not differ between those copies.
//
// A frame belongs to one thread at a time. `base` points to the lane registers: each is an array of
// `lanes` elements of 1 byte (bool: 0 or 1), 4 or 8 bytes. `scalars` holds the values that are the
// same for all lanes of a block, one u64 each, zero-extended. A view register points to loaded
// elements: in read-only memory itself, where alignment and range allow it, else to a copy. Kernels
// read views like other registers, and never write them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wye::cpu {

struct Frame;
struct Instr;
struct KernelSet;

// Runs one instruction and writes its result to `to`. Never fails or throws; accesses only the
// frame and elements of bound arrays that are in range.
using Kernel = void (*)(Frame& frame, const Instr& instr, std::byte* to);

// What an instruction does. `target` is the instruction to which a jump goes. A mask slot is a lane
// register in which inactive lanes are parked; the scalar `array` counts the parked lanes.
enum class Step : std::uint8_t {
    Lanes,        // run the kernel into lane register d
    Direct,       // like Lanes, but directly into the array of the following store, if possible
    Scalar,       // run the kernel into scalar d
    Assign,       // run the kernel into d if all live lanes are active, else into `target`
    Blend,        // follows Assign: run the kernel only if not all live lanes are active
    Jump,         // jump to target
    JumpIfNot,    // jump to target if scalar a is 0
    View,         // affine load: view register `target` becomes the array itself, or a copy in d
    If,           // a: condition lanes; d: mask slot; target: taken if no lane is active
    IfRamp,       // like If; the condition is the ramps at scalars a, b, c (kNoSlot: none)
    Else,         // d: mask slot; target: after the EndIf, taken if no lane is parked
    EndIf,        // d: mask slot
    LoopBegin,    // empties the slots; d: exit slot; b: count of the continue slot, or kNoSlot
    LoopTest,     // a: condition lanes; d: exit slot; target: LoopEnd, taken if no lane is left
    Leave,        // d: mask slot to which all active lanes move (break, continue)
    Drop,         // return: makes all active lanes inactive
    LoopMerge,    // d: continue slot: its lanes become active again
    LoopEnd,      // d: exit slot: its lanes become active again
    ExitIfEmpty,  // jump to target if no lane is active
    ForNext,      // scalar loop: d counter of c bits, a end, b step (at least 1); target: body
    BackEdge,     // jump to target; a program can be stopped here
    Trap,         // c: the trap code of the active lanes
    End
};

inline constexpr std::uint32_t kNoSlot = 0xffffffffU;

// A flag in the number of a view register. The other bits are an index into `views`, not an offset
// into `base`.
inline constexpr std::uint32_t kView = 0x80000000U;

struct Instr {
    Kernel run = nullptr;
    Step step = Step::End;
    std::uint8_t stride = 1;  // memory kernels: components of an element
    std::uint8_t part = 0;    // memory kernels: the component
    // For View and for the store after Direct: whether the index is i32, so that values from 2^31
    // on are out of range.
    std::uint8_t i32 = 0;
    std::uint32_t array = 0;  // memory kernels: index into Frame::bound; mask steps: count scalar
    std::uint32_t d = 0;      // byte offset of a lane register, or number of a scalar
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::uint32_t target = 0;  // number of an instruction, or the other destination of Assign
};

// A buffer, shared array or table that a program accesses. Element 0 can be read even if `count` is
// 0.
struct Bound {
    std::byte* data = nullptr;
    std::uint64_t count = 0;    // elements: the limit of 64-bit indices
    std::uint64_t count32 = 0;  // min(count, 2^32 - 1): the limit of 32-bit indices
};

struct Frame {
    std::byte* base = nullptr;
    const std::byte** views = nullptr;
    std::uint64_t* scalars = nullptr;
    const Bound* bound = nullptr;
    std::uint8_t* mask = nullptr;  // one byte per lane, 0 or 1; lanes from `live` on are 0
    const KernelSet* kernels = nullptr;
    std::uint32_t lanes = 0;     // loop count of kernels: `live` rounded up to kTile
    std::uint32_t capacity = 0;  // lanes that a register, or a row of a local array, has room for
    std::uint32_t live = 0;      // lanes of this block
    std::uint32_t active = 0;    // lanes that are 1 in `mask`
    std::uint32_t pc = 0;
    std::uint32_t budget = 0;     // back edges left until run() returns
    std::uint32_t trap_code = 0;  // the largest code so far
    std::uint32_t trap_count = 0;
};

// A condition on an affine index as one scalar: lane k meets it if u32(k - start) < count. A ramp
// can express ranges of 32-bit integers, their complements and single values. `start` 0 with
// `count` 2^32 - 1 means all lanes.
struct Ramp {
    std::uint32_t start = 0;
    std::uint32_t count = 0;
};

// Lane counts are multiples of this, so that kernels need no remainder loops.
inline constexpr std::uint32_t kTile = 64;

}  // namespace wye::cpu
