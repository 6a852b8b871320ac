// SPDX-License-Identifier: Apache-2.0
//
// The middle forms of all scalar operations and conversions for one target, made on first use. All
// writers share them, so that edge cases (division by zero, shifts, NaNs, saturation, f16 through
// f32) are decided in one place.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "lower/middle/form.hpp"
#include "lower/middle/target.hpp"

namespace wye::lower::middle {

// ---- Names of forms ---------------------------------------------------------------------------

inline constexpr FormKey kNoKey = 0;  // no form: the value is unchanged

namespace key {
inline constexpr unsigned kFirstOperation = 0x200;  // the first operation is NEG
inline constexpr FormKey kExact = 1024;
inline constexpr FormKey kConversions = 2048;
inline constexpr FormKey kStored = 2304;
inline constexpr FormKey kLoaded = 2320;
inline constexpr FormKey kBitcasts = 2336;
inline constexpr FormKey kSubgroups = 2352;
inline constexpr unsigned kFirstSubgroup = 0x420;  // the first operation is SUBGROUP_BROADCAST
inline constexpr FormKey kLoops = 2576;
inline constexpr FormKey kAddedBits = 2736;
inline constexpr FormKey kInverseRoot = 2752;  // RSQRT of f32
inline constexpr FormKey kEnd = 2753;
}  // namespace key

// The form of an operator or exact function (NEG to ISINF) on operands of one kind. Shift counts
// are u32.
[[nodiscard]] constexpr FormKey operation(ir::Op op, ir::Kind kind) {
    return static_cast<FormKey>((static_cast<unsigned>(op) - key::kFirstOperation) * 16 +
                                static_cast<unsigned>(kind));
}
// The same operation, but not affected by an error budget.
[[nodiscard]] constexpr FormKey exact_operation(ir::Op op, ir::Kind kind) {
    return static_cast<FormKey>(key::kExact + operation(op, kind));
}
// The form of a conversion. A conversion from float to integer saturates and turns NaN into 0. All
// other conversions are as in C.
[[nodiscard]] constexpr FormKey conversion(ir::Kind from, ir::Kind to) {
    return static_cast<FormKey>(key::kConversions + static_cast<unsigned>(from) * 16 +
                                static_cast<unsigned>(to));
}
// The form that converts a value to its bits in memory. An f16 or bf16 becomes a u32; other floats
// get canonical NaNs.
[[nodiscard]] constexpr FormKey stored(ir::Kind kind) {
    return static_cast<FormKey>(key::kStored + static_cast<unsigned>(kind));
}
// The form that converts the bits of an f16 or bf16, as a u32, to the value.
[[nodiscard]] constexpr FormKey loaded(ir::Kind kind) {
    return static_cast<FormKey>(key::kLoaded + static_cast<unsigned>(kind));
}
// The part of a bitcast between different numbers of components.
enum class BitcastPart : std::uint8_t {
    LowHalf,    // low half of a u32, as f16
    HighHalf,   // high half of a u32, as f16
    Halves,     // two f16 to a u32
    LowWord,    // low word of a u64
    HighWord,   // high word of a u64
    JoinWords,  // two u32 to a u64
};
[[nodiscard]] constexpr FormKey bitcast_part(BitcastPart part) {
    return static_cast<FormKey>(key::kBitcasts + static_cast<unsigned>(part));
}

// The form of a subgroup operation except SUBGROUP_BALLOT. The last operand of a scan is the lane
// of the invocation.
[[nodiscard]] constexpr FormKey subgroup(ir::Op op, ir::Kind kind) {
    return static_cast<FormKey>(key::kSubgroups +
                                (static_cast<unsigned>(op) - key::kFirstSubgroup) * 16 +
                                static_cast<unsigned>(kind));
}

// The arithmetic of counted loops, on operands of the counter's kind.
enum class LoopPart : std::uint8_t {
    AtLeastOne,           // (step): a step below 1 counts as 1
    Rounds,               // (first, end, step): the number of iterations, for a step of at least 1
    RoundsByOne,          // (first, end)
    RoundsFromZero,       // (end, step)
    RoundsFromZeroByOne,  // (end)
    // (end, step, 4 * step): a counter below this value can start 4 iterations without overflow.
    StopOfFour,
    StopOfEight,       // as StopOfFour, for groups of 8
    EndInLength,       // (end, length): the smaller of the two, compared unsigned
    EndIfNotNegative,  // (end, a, b): the kind's least value if a or b is negative, else the end
    Last               // (i, end, step): whether this iteration is the last, if i is below the end
};
[[nodiscard]] constexpr FormKey loop_part(LoopPart part, ir::Kind kind) {
    return static_cast<FormKey>(key::kLoops + static_cast<unsigned>(part) * 16 +
                                static_cast<unsigned>(kind));
}
[[nodiscard]] FormKey loop_rounds(ir::Kind kind, bool from_zero, bool by_one);
[[nodiscard]] FormKey group_stop(ir::Kind kind, unsigned together);

// The form that adds a float of this kind (the second operand) to the float whose bits are the
// first operand, and returns the bits of the sum.
[[nodiscard]] constexpr FormKey added_bits(ir::Kind kind) {
    return static_cast<FormKey>(key::kAddedBits + static_cast<unsigned>(kind));
}

// ---- Forms ------------------------------------------------------------------------------------

// Whether every target has an operator or instruction for the operation, so that it needs no form.
[[nodiscard]] constexpr bool is_plain(ir::Op op, ir::Kind kind) {
    using ir::Op;
    if (kind == ir::Kind::F16) return op >= Op::EQ && op <= Op::GE;
    const bool floating = kind == ir::Kind::F32 || kind == ir::Kind::F64;
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::NOT:
        case Op::AND:
        case Op::OR:
        case Op::XOR:
        case Op::LOGICAL_NOT:
        case Op::LOGICAL_AND:
        case Op::LOGICAL_OR:
        case Op::EQ:
        case Op::LT:
            return true;
        case Op::NE:
            return floating || kind == ir::Kind::BOOL;
        case Op::LE:
        case Op::GT:
        case Op::GE:
            return floating;
        default:
            return false;
    }
}
// Whether the operation has a special form for a literal second operand. Divisions, remainders,
// shifts and rotations have one.
[[nodiscard]] constexpr bool asks_for_literal(ir::Op op, ir::Kind kind) {
    const bool integer = kind >= ir::Kind::I32 && kind <= ir::Kind::U64;
    return integer && (op == ir::Op::DIV || op == ir::Op::REM || op == ir::Op::SHL ||
                       op == ir::Op::SHR || op == ir::Op::ROTL || op == ir::Op::ROTR);
}

class Forms {
  public:
    explicit Forms(const Target& target) : target_(target) {}

    // Returns the form of a key, or null if the operation cannot be emulated.
    [[nodiscard]] const Form* find(FormKey key) {
        const std::uint16_t known = found_[key];
        return known != 0 ? known_form(known) : make(key);
    }
    // For operations with asks_for_literal: returns the literal operand with which a single word
    // does the operation, or nothing if no single word does.
    [[nodiscard]] std::optional<std::uint64_t> word_with_literal(ir::Op op, ir::Kind kind,
                                                                 std::uint64_t literal) const;
    // If word_with_literal returns nothing: returns the special form, which has no second operand.
    // Returns null if there is no special form; the general form must be used then.
    [[nodiscard]] const Form* with_literal(ir::Op op, ir::Kind kind, std::uint64_t literal);

    [[nodiscard]] const Target& target() const { return target_; }

  private:
    const Form* make(FormKey key);
    const Form* known_form(std::uint16_t number) const {
        return number == kNoForm ? nullptr : &forms_[number - 1U];
    }

    static constexpr std::uint16_t kNoForm = 0xffff;
    const Target target_;
    std::array<std::uint16_t, key::kEnd> found_{};  // by key; 0 if not yet made
    std::deque<Form> forms_;
    std::map<std::pair<FormKey, std::uint64_t>, Form> with_literals_;
};

}  // namespace wye::lower::middle
