// SPDX-License-Identifier: Apache-2.0
#include "support/sha256.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace support {
namespace {

// The constants of SHA-256 are the first 32 bits of the fractions of square and cube roots of
// primes. They are computed here, since a copied list could have the same error as the program's
// list.
std::vector<std::uint32_t> primes(std::size_t count) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t n = 2; out.size() < count; ++n) {
        bool prime = true;
        for (const std::uint32_t p : out) prime = prime && n % p != 0;
        if (prime) out.push_back(n);
    }
    return out;
}

std::uint32_t fraction(long double root) {
    const long double part = root - std::floor(root);
    return static_cast<std::uint32_t>(std::ldexp(part, 32));
}

struct Constants {
    std::array<std::uint32_t, 8> start{};
    std::array<std::uint32_t, 64> round{};
    Constants() {
        const auto p = primes(64);
        for (std::size_t i = 0; i < 8; ++i)
            start[i] = fraction(std::sqrt(static_cast<long double>(p[i])));
        for (std::size_t i = 0; i < 64; ++i)
            round[i] = fraction(std::cbrt(static_cast<long double>(p[i])));
    }
};

void compress(std::array<std::uint32_t, 8>& state, const std::byte* block, const Constants& k) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b)
            w[i] = w[i] << 8 | std::to_integer<std::uint32_t>(block[i * 4 + b]);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t x = w[i - 15];
        const std::uint32_t y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
               (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + k.round[i] + w[i];
        const std::uint32_t two =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const std::array<std::uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += sum[i];
}

}  // namespace

std::array<std::byte, 32> sha256(std::span<const std::byte> message) {
    std::vector<std::byte> padded(message.begin(), message.end());
    padded.push_back(std::byte{0x80});
    while (padded.size() % 64 != 56) padded.push_back(std::byte{0});
    for (int i = 7; i >= 0; --i)
        padded.push_back(static_cast<std::byte>(std::uint64_t{message.size()} * 8 >> (8 * i)));

    static const Constants kConstants;
    std::array<std::uint32_t, 8> state = kConstants.start;
    for (std::size_t at = 0; at < padded.size(); at += 64)
        compress(state, padded.data() + at, kConstants);
    std::array<std::byte, 32> out{};
    for (std::size_t i = 0; i < 32; ++i)
        out[i] = static_cast<std::byte>(state[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

std::string hex(std::span<const std::byte> bytes) {
    std::string out;
    for (const std::byte b : bytes) {
        out += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
        out += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
    }
    return out;
}

}  // namespace support
