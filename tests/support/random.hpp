// SPDX-License-Identifier: Apache-2.0
//
// Random numbers and random buffer contents for tests. The same seed gives the same values on every
// machine and standard library. Pure values; one generator per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace support {

class Random {  // the generator splitmix64
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    // A number in [0, bound); bound is at least 1. Slightly uneven for huge bounds.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    // A number in [first, last].
    std::int64_t between(std::int64_t first, std::int64_t last);
    bool chance(unsigned percent) { return below(100) < percent; }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[below(from.size())];
    }

  private:
    std::uint64_t state_;
};

// The bits of a random scalar of a kind (enum wye_kind, except bool). About half of the scalars are
// special: zeros and ones, limits and their neighbours, powers of two; for floats also infinities,
// NaNs with payloads, subnormals, halves and ties. The other half are ordinary numbers or random
// bits.
std::uint64_t random_scalar(Random& random, unsigned kind);

// `count` random scalars of a kind, without gaps.
std::vector<std::byte> random_scalars(Random& random, unsigned kind, std::size_t count);

// Random bytes.
std::vector<std::byte> random_bytes(Random& random, std::size_t count);

}  // namespace support
