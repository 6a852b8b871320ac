// SPDX-License-Identifier: Apache-2.0
#include "support/random.hpp"

#include <bit>
#include <cstring>

#include "wye/program_format.h"

namespace support {
namespace {

struct FloatLayout {
    unsigned fraction;  // bits of the fraction
    unsigned exponent;
};

unsigned kind_bits(unsigned kind) {
    switch (kind) {
#define WYE_SUPPORT_BITS(name, code, text, bytes, bits) \
    case code:                                          \
        return bits;
        WYE_KINDS(WYE_SUPPORT_BITS)
#undef WYE_SUPPORT_BITS
        default:
            return 0;
    }
}

std::uint64_t mask(unsigned bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t random_integer(Random& random, unsigned bits) {
    switch (random.below(6)) {
        case 0:  // a small number of either sign
            return static_cast<std::uint64_t>(random.between(-4, 4)) & mask(bits);
        case 1: {  // a number next to a power of two
            const std::uint64_t power = std::uint64_t{1} << random.below(bits);
            return (power + static_cast<std::uint64_t>(random.between(-1, 1))) & mask(bits);
        }
        case 2:  // a number next to the sign boundary or the largest value
            return ((random.chance(50) ? mask(bits) >> 1 : mask(bits)) +
                    static_cast<std::uint64_t>(random.between(-2, 2))) &
                   mask(bits);
        case 3:  // random bits of a random length
            return random.next() & mask(static_cast<unsigned>(random.below(bits)) + 1);
        default:
            return random.next() & mask(bits);
    }
}

std::uint64_t random_float(Random& random, FloatLayout f) {
    const std::uint64_t sign = random.below(2) << (f.fraction + f.exponent);
    const std::uint64_t top = mask(f.exponent);  // the exponent field of an infinity or a NaN
    const std::uint64_t bias = top >> 1;
    const std::uint64_t fraction = random.next() & mask(f.fraction);
    switch (random.below(10)) {
        case 0:
            return sign;  // zero
        case 1:
            return sign | top << f.fraction;  // infinity
        case 2:
            return sign | top << f.fraction | fraction | 1;  // a NaN, quiet or signalling
        case 3:
            return sign | fraction;  // subnormal
        case 4:                      // around the largest value and the smallest normal one
            return sign |
                   (random.chance(50) ? (top << f.fraction) - 1 - random.below(3)
                                      : (std::uint64_t{1} << f.fraction) - 2 + random.below(4));
        case 5: {  // a small multiple of a half, so that ties and equal values occur
            const std::uint64_t halves = random.below(17);
            if (halves == 0) return sign;
            const auto e = static_cast<unsigned>(std::bit_width(halves)) - 1;
            const std::uint64_t rest = (halves - (std::uint64_t{1} << e)) << (f.fraction - e);
            return sign | (bias + e - 1) << f.fraction | rest;
        }
        case 6:  // a number near 1
            return sign | (bias - 1 + random.below(3)) << f.fraction | fraction;
        case 7:  // a number of everyday size
            return sign | (bias - 8 + random.below(16)) % top << f.fraction | fraction;
        default:
            return random.next() & mask(1 + f.fraction + f.exponent);
    }
}

}  // namespace

std::uint64_t Random::next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

std::int64_t Random::between(std::int64_t first, std::int64_t last) {
    const std::uint64_t width =
        static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    const std::uint64_t step = width == ~std::uint64_t{0} ? next() : below(width + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + step);
}

std::uint64_t random_scalar(Random& random, unsigned kind) {
    switch (kind) {
        case WYE_KIND_F16:
            return random_float(random, {10, 5});
        case WYE_KIND_BF16:
            return random_float(random, {7, 8});
        case WYE_KIND_F32:
            return random_float(random, {23, 8});
        case WYE_KIND_F64:
            return random_float(random, {52, 11});
        default:
            return random_integer(random, kind_bits(kind));
    }
}

std::vector<std::byte> random_scalars(Random& random, unsigned kind, std::size_t count) {
    const std::size_t bytes = kind_bits(kind) / 8;
    std::vector<std::byte> out(count * bytes);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random_scalar(random, kind);
        std::memcpy(out.data() + i * bytes, &bits, bytes);
    }
    return out;
}

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
    std::vector<std::byte> out(count);
    for (std::byte& b : out) b = static_cast<std::byte>(random.next());
    return out;
}

}  // namespace support
