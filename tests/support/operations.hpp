// SPDX-License-Identifier: Apache-2.0
//
// Every operation on every scalar type, except math functions, with the expected result. The host
// computes it with integers of 128 bits and, for f16, with double and rounding by scaling. Pure
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace support {

// An expression in x, y and z, which have the type of the sweep.
struct Operation {
    std::string text;
    unsigned result = 0;  // kind of the buffer that gets the result, enum wye_kind
    // Maps the bits of the operands in memory to the bits of the result in its buffer. All bits are
    // zero-extended.
    std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)> expected;
};

struct Sweep {
    unsigned kind = 0;  // kind of the inputs
    std::vector<Operation> operations;
};

[[nodiscard]] std::vector<Sweep> operations();

// Expressions of two or more operations on 32 and 64-bit types. A plugin may fuse such operations.
[[nodiscard]] std::vector<Sweep> chains();

struct Kind {
    const char* name;  // the name in the language
    unsigned bytes;    // size of an element
};
[[nodiscard]] Kind kind_of(unsigned kind);

}  // namespace support
