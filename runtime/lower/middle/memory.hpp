// SPDX-License-Identifier: Apache-2.0
//
// How arrays are stored in memory, and how accesses to them are made safe. Plain data.
#pragma once

#include "lower/middle/forms.hpp"
#include "lower/middle/leaves.hpp"

namespace wye::lower::middle {

// An array: a buffer, a `shared` array, a table or a local array.
struct Array {
    Space space = Space::Private;
    std::uint32_t number = 0;  // of the buffer (also if `shared`), table or local
    ir::Type type;             // the type of an element in the program
    Count count;
    bool packed = false;  // an element of 2 or 4 lanes in a buffer is accessed as one vector
    // The kind of a component in memory. Integers of 32 and 64 bits are unsigned. A float may be
    // stored as the integer of its width (see as_bits).
    ir::Kind cell = ir::Kind::U32;
    FormKey loaded = kNoKey;  // converts a component, widened to 32 bits, to its value
    // Converts a value to a component of 32 bits or more. For floats of 32 and 64 bits this form
    // makes NaNs canonical, but only in buffers, where the host can see their bits. See
    // Access::clean.
    FormKey stored = kNoKey;
    // Whether atomic addition is a compare-and-swap loop on the bits, which uses added_bits().
    bool adds_in_loop = false;

    [[nodiscard]] unsigned lanes() const { return type.lanes; }
    // Whether a component has 8 or 16 bits in memory. A load widens the component to 32 bits, with
    // sign extension if `cell` is signed. A store keeps the low bits.
    [[nodiscard]] bool narrow() const { return ir::Type{cell, 1}.storage(); }
    [[nodiscard]] bool extends_sign() const {
        return cell == ir::Kind::I8 || cell == ir::Kind::I16;
    }
    [[nodiscard]] bool as_bits() const {
        return type.floating() && !narrow() && !ir::Type{cell, 1}.floating();
    }
    // The number of components of an array with a literal count.
    [[nodiscard]] std::uint64_t components() const { return count.elements * type.lanes; }
    [[nodiscard]] std::uint64_t bytes() const { return count.elements * element_bytes(); }
    [[nodiscard]] unsigned element_bytes() const { return ir::Type{cell, type.lanes}.bytes(); }
};

// A load, store or atomic operation.
struct Access {
    enum class Check : std::uint8_t {
        None,  // the index is in range
        Zero,  // a load out of range reads element 0 and yields zero, without a branch
        Skip   // a store or atomic operation out of range does nothing; an atomic yields zero
    };
    Array array;
    ir::ExprId index = ir::kNone;
    Check check = Check::None;
    ir::Kind kind = ir::Kind::U32;  // U32 or U64, to hold the index
    Leaf length = {};               // the index is in range if it is below this, compared unsigned
    bool clean = false;             // the stored float is never NaN, so `stored` is not applied

    // Returns the form to apply to a component before it is stored.
    [[nodiscard]] FormKey stored() const {
        return clean && !array.narrow() ? kNoKey : array.stored;
    }
};

}  // namespace wye::lower::middle
