// SPDX-License-Identifier: Apache-2.0
//
// How arrays lie in memory, and how their accesses are made safe. Plain data.
#pragma once

#include "lower/middle/forms.hpp"
#include "lower/middle/leaves.hpp"

namespace wye::lower::middle {

// An array of a buffer, of `shared`, a table or a local array.
struct Array {
    Space space = Space::Private;
    std::uint32_t number = 0;  // of the buffer (also if shared), table or local
    ir::Type type;             // of an element, in the program
    Count count;
    bool packed = false;  // of 2 or 4 lanes in a buffer: an element is accessed as one vector
    // A component in memory. Integers of 32 and 64 bits are unsigned. A float may be stored as the
    // integer of its width (as_bits).
    ir::Kind cell = ir::Kind::U32;
    FormKey loaded = kNoKey;  // from a component, extended to 32 bits, to its value
    // The reverse: a component, in 32 bits or more. For floats of 32 and 64 bits it makes a NaN
    // canonical, in buffers only, where hosts can see its bits; see Access::clean.
    FormKey stored = kNoKey;
    // Atomic addition is a loop around compare and swap of bits: the next ones are added_bits() of
    // those seen.
    bool adds_in_loop = false;

    [[nodiscard]] unsigned lanes() const { return type.lanes; }
    // Of 8 or 16 bits in memory: extended by the sign of `cell` when loaded; the low bits are
    // stored.
    [[nodiscard]] bool narrow() const { return ir::Type{cell, 1}.storage(); }
    [[nodiscard]] bool extends_sign() const {
        return cell == ir::Kind::I8 || cell == ir::Kind::I16;
    }
    [[nodiscard]] bool as_bits() const {
        return type.floating() && !narrow() && !ir::Type{cell, 1}.floating();
    }
    // Of an array with a literal count.
    [[nodiscard]] std::uint64_t components() const { return count.elements * type.lanes; }
    [[nodiscard]] std::uint64_t bytes() const { return count.elements * element_bytes(); }
    [[nodiscard]] unsigned element_bytes() const { return ir::Type{cell, type.lanes}.bytes(); }
};

// A load, store or atomic operation.
struct Access {
    enum class Check : std::uint8_t {
        None,  // the index is in range
        Zero,  // a load; out of range it reads element 0 and yields zero, without a branch
        Skip   // out of range a store does nothing, and an atomic operation also yields zero
    };
    Array array;
    ir::ExprId index = ir::kNone;
    Check check = Check::None;
    ir::Kind kind = ir::Kind::U32;  // the index as held: U32 or U64
    Leaf length = {};               // the index is in range if it is less, unsigned
    bool clean = false;             // a stored float that is no NaN: `stored` is not applied

    // The form to apply to a component before it is stored.
    [[nodiscard]] FormKey stored() const {
        return clean && !array.narrow() ? kNoKey : array.stored;
    }
};

}  // namespace wye::lower::middle
