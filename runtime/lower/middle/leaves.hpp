// SPDX-License-Identifier: Apache-2.0
//
// The leaves of expressions: literals, and values from outside the code. Values that are known when
// a program is lowered (sizes, counts, an axis with one invocation) become literals. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// A value from outside the code. Buffers, arrays, lengths, parameters and axes also have a number.
enum class Outer : std::uint8_t {
    Buffer,         // the elements of a buffer
    Length,         // len(b), u32
    SignedLength,   // min(len(b), 2^31), against which an i32 index is checked
    Length64,       // the exact count, u64
    Shared,         // the elements of a workgroup array
    Param,          // has the parameter's kind; other values are u32 unless stated
    WorkgroupId,    // by axis
    LocalId,        // by axis
    GlobalId,       // by axis
    NumWorkgroups,  // by axis
    LocalIndex,
    SubgroupId,
    SubgroupLane,
    OpaqueZero,  // u64, zero, but unknown to compilers, since it is passed at launch
    Trap,        // the trap words
    End
};

// A literal of `kind`, or the outer value `outer`.
struct Leaf {
    std::optional<Outer> outer = std::nullopt;
    ir::Kind kind = ir::Kind::U32;
    std::uint64_t bits = 0;  // bits of the literal, or number of the outer value

    friend bool operator==(const Leaf&, const Leaf&) = default;
};

// The sizes for which a kernel is lowered.
struct Sizes {
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t subgroup = 0;

    [[nodiscard]] std::uint32_t invocations() const {
        return workgroup[0] * workgroup[1] * workgroup[2];
    }
};

// The element count of an array. It is fixed, or the count of the bound buffer.
struct Count {
    bool fixed = false;
    std::uint64_t elements = 0;        // if the count is fixed
    std::uint32_t buffer = ir::kNone;  // else this buffer has the count
};
[[nodiscard]] Count count_of(const ir::Program& program, std::uint32_t buffer);

// The length that an index of this kind is compared with, unsigned and of the index's width. It is
// min(count, 2^32 - 1) for u32; at most 2^31 for i32, so that negative indices compare as too
// large; else the count.
[[nodiscard]] Leaf length_of(const Count& count, ir::Kind index);

// Returns a component of a BUILTIN.
[[nodiscard]] Leaf built_in(std::uint16_t which, unsigned component, const Sizes& sizes);

// Whether an operation is a leaf: LITERAL, PARAM and the six LEN operations. They are scalars and
// never change.
[[nodiscard]] constexpr bool is_leaf(ir::Op op) {
    using ir::Op;
    constexpr auto bit = [](Op of) {
        return std::uint64_t{1} << (static_cast<unsigned>(of) - static_cast<unsigned>(Op::LITERAL));
    };
    constexpr std::uint64_t leaves = bit(Op::LITERAL) | bit(Op::PARAM) | bit(Op::LEN) |
                                     bit(Op::LEN64) | bit(Op::LEN_TABLE) | bit(Op::LEN64_TABLE) |
                                     bit(Op::LEN_ARRAY) | bit(Op::LEN64_ARRAY);
    const unsigned place = static_cast<unsigned>(op) - static_cast<unsigned>(Op::LITERAL);
    return place < 64 && (leaves >> place & 1U) != 0;
}
[[nodiscard]] Leaf leaf_of(const ir::Program& program, const ir::Code& code, const ir::Expr& e);

}  // namespace wye::lower::middle
