// SPDX-License-Identifier: Apache-2.0
//
// Every operation on every scalar type, except math functions, with the result expected by host
// arithmetic (128-bit integers; double with rounding by scaling for f16). Values; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace support {

// An expression in x, y and z of the sweep's type.
struct Operation {
    std::string text;
    unsigned result = 0;  // kind of the buffer with the result, enum wye_kind
    // Maps the bits of the operands in memory to the bits of the result in its buffer, all
    // zero-extended.
    std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)> expected;
};

struct Sweep {
    unsigned kind = 0;  // of the inputs
    std::vector<Operation> operations;
};

[[nodiscard]] std::vector<Sweep> operations();

// Expressions of two or more operations on types of 32 and 64 bits, which a plugin may fuse.
[[nodiscard]] std::vector<Sweep> chains();

struct Kind {
    const char* name;  // in the language
    unsigned bytes;    // of an element
};
[[nodiscard]] Kind kind_of(unsigned kind);

}  // namespace support
