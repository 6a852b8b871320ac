// SPDX-License-Identifier: Apache-2.0
//
// Small programs with literals drawn at random, and what each one computes, in plain host
// arithmetic.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace wye::stress {

using Random = std::mt19937_64;
using Words = std::vector<std::uint32_t>;

// From 0 up to `count`, which is excluded.
[[nodiscard]] inline std::uint64_t below(Random& random, std::uint64_t count) {
    return random() % count;
}

// A program with one buffer that it reads (binding 0), one that it writes (binding 1; `Loop` has
// binding 0 alone) and one u32 parameter.
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
    // What the output holds after a run over `x` with the parameter `k`.
    [[nodiscard]] Words expected(std::span<const std::uint32_t> x, std::uint32_t k) const;
    // How many invocations end by `trap 7`: each that reads `k`.
    [[nodiscard]] std::uint32_t traps(std::span<const std::uint32_t> x, std::uint32_t k) const;
};

// `variety` bounds how many different programs there are, since drivers take long to compile each.
[[nodiscard]] Model random_model(Random& random, std::uint64_t variety);

}  // namespace wye::stress
