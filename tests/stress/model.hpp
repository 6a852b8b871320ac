// SPDX-License-Identifier: Apache-2.0
//
// Model: a small program with random literals, whose results the host can compute.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace wye::stress {

using Random = std::mt19937_64;
using Words = std::vector<std::uint32_t>;

// A random number from 0 to `count` - 1.
[[nodiscard]] inline std::uint64_t below(Random& random, std::uint64_t count) {
    return random() % count;
}

// A program with an input buffer (binding 0), an output buffer (binding 1) and a u32 parameter. The
// kind `Loop` has only binding 0, which is input and output.
struct Model {
    enum class Kind : std::uint8_t { Map, Sum, Loop, Trap };
    Kind kind = Kind::Map;
    std::uint32_t xor_word = 0;
    std::uint32_t turn = 1;  // 1 to 31

    [[nodiscard]] bool in_place() const { return kind == Kind::Loop; }
    [[nodiscard]] std::size_t outputs(std::size_t inputs) const {
        return kind == Kind::Sum ? 1 : inputs;
    }
    [[nodiscard]] std::string text() const;
    // The output of a run with input `x` and parameter `k`.
    [[nodiscard]] Words expected(std::span<const std::uint32_t> x, std::uint32_t k) const;
    // The number of invocations that end with `trap 7`: those whose element of `x` is `k`.
    [[nodiscard]] std::uint32_t traps(std::span<const std::uint32_t> x, std::uint32_t k) const;
};

// A random program. `variety` limits the number of different programs, since drivers compile
// slowly.
[[nodiscard]] Model random_model(Random& random, std::uint64_t variety);

}  // namespace wye::stress
