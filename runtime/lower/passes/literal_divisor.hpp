// SPDX-License-Identifier: Apache-2.0
//
// Replaces division by a literal by a multiplication, after T. Granlund and P. L. Montgomery,
// "Division by Invariant Integers using Multiplication", PLDI 1994: theorem 4.2 for unsigned
// values, 5.1 for signed ones. Pure.
#pragma once

#include <cstdint>

namespace wye::lower {

// With N bits and h the upper N bits of n * factor, n / divisor is
// - for unsigned n: h >> shift, or, if `carries`, (h + ((n - h) >> 1)) >> (shift - 1);
// - for signed n: (h >> shift) + (n < 0). The factor is unsigned in this product too.
struct Reciprocal {
    std::uint64_t factor = 0;
    unsigned shift = 0;
    bool carries = false;  // the factor has N + 1 bits; its top bit is omitted
};

// `divisor`: at least 3, and no power of two; for a signed type, its magnitude. `bits`: 32 or 64.
[[nodiscard]] Reciprocal reciprocal_of(std::uint64_t divisor, unsigned bits, bool is_signed);

}  // namespace wye::lower
