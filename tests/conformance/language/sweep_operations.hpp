// SPDX-License-Identifier: Apache-2.0
//
// Every operation on every scalar type, with what the host's own arithmetic makes of it (128 bits
// wide for integers, double with rounding by scaling for f16). Math functions are not here.
// Values; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

// An expression in x, y and z of the sweep's type.
struct Operation {
    std::string text;
    unsigned result = 0;  // kind of the buffer that it is stored to, enum wye_kind
    // Bits of the operands as they lie in memory to bits in that buffer, all zero-extended.
    std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)> expected;
};

struct Sweep {
    unsigned kind = 0;  // of the inputs
    std::vector<Operation> operations;
};

[[nodiscard]] std::vector<Sweep> sweeps();

}  // namespace conformance
