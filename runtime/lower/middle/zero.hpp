// SPDX-License-Identifier: Apache-2.0
//
// How `shared` arrays are zeroed when main starts. Plain data.
#pragma once

#include <vector>

#include "lower/middle/memory.hpp"
#include "lower/passes/shared_start.hpp"

namespace wye::lower::middle {

// Zeroes components k, k + stride, k + 2 * stride, ... in invocation k.
struct Fill {
    std::uint64_t count = 0;   // of components
    std::uint32_t stride = 1;  // the invocations
    // So many stores in a row, the last one only in the invocations below `rest`, if that is not 0.
    // 0: a loop.
    unsigned stores = 0;
    std::uint32_t rest = 0;
};

// Decides between stores and a loop.
[[nodiscard]] Fill fill_of(std::uint64_t count, std::uint32_t invocations);

struct ZeroedArray {
    Array array;
    // Own: each invocation zeroes one element, which only it accesses before the next barrier: of
    // number first + factors . local_id. Fill: all invocations together.
    SharedStart start;
    Fill fill;  // Fill
};

struct SharedZeros {
    std::vector<ZeroedArray> arrays;  // those that are zeroed
    bool barrier = false;             // follows
};

}  // namespace wye::lower::middle
