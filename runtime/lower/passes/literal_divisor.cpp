// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/literal_divisor.hpp"

namespace wye::lower {

// The factor is 2^(bits + shift) / divisor, rounded up, with the least shift for which the rounding
// error times the divisor is at most 2^shift (2^(shift + 1) for signed values, which have one bit
// less).
Reciprocal reciprocal_of(std::uint64_t divisor, unsigned bits, bool is_signed) {
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t quotient = most / divisor;  // 2^bits / divisor, as the divisor is no power of two
    std::uint64_t remainder = most % divisor + 1;
    Reciprocal out;
    while (divisor - remainder > std::uint64_t{1} << (out.shift + (is_signed ? 1 : 0))) {
        out.carries = quotient >> (bits - 1) != 0;
        const bool more = remainder >= divisor - remainder;
        quotient = quotient * 2 + (more ? 1 : 0);
        remainder = more ? remainder - (divisor - remainder) : remainder * 2;
        ++out.shift;
        if (out.shift == 64 - (is_signed ? 1 : 0)) break;  // divisor - remainder < 2^64
    }
    out.factor = (quotient + 1) & most;
    return out;
}

}  // namespace wye::lower
