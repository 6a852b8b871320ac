// SPDX-License-Identifier: Apache-2.0
//
// Decides how `shared` arrays are zeroed when main starts. Plain data.
#pragma once

#include <vector>

#include "lower/middle/memory.hpp"
#include "lower/passes/shared_start.hpp"

namespace wye::lower::middle {

// Invocation k zeroes the components k, k + stride, k + 2 * stride, ...
struct Fill {
    std::uint64_t count = 0;   // number of components
    std::uint32_t stride = 1;  // number of invocations
    // The number of stores of each invocation, or 0 for a loop. If `rest` is not 0, only the
    // invocations below `rest` do the last store.
    unsigned stores = 0;
    std::uint32_t rest = 0;
};

// Decides between single stores and a loop.
[[nodiscard]] Fill fill_of(std::uint64_t count, std::uint32_t invocations);

struct ZeroedArray {
    Array array;
    // Own: each invocation zeroes the element first + dot(factors, local_id), which no other
    // invocation accesses before the next barrier. Fill: all invocations zero the array together.
    SharedStart start;
    Fill fill;  // valid for Fill
};

struct SharedZeros {
    std::vector<ZeroedArray> arrays;  // the arrays that are zeroed
    bool barrier = false;             // whether a barrier follows the stores
};

}  // namespace wye::lower::middle
