// SPDX-License-Identifier: Apache-2.0
//
// Chooses the cheapest way to zero each `shared` array such that no program can tell the difference
// from zeroing the whole array. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct SharedStart {
    enum class How : std::uint8_t {
        Nothing,  // not zeroed, since the program writes the whole array before any read
        Own,      // each invocation zeroes the one element that only it accesses before the first
                  // barrier; needs no barrier
        Fill      // all invocations together zero all elements, then a barrier
    };
    How how = How::Fill;
    // Own: the element is first + dot(factors, local_id), modulo 2^32.
    std::uint32_t first = 0;
    std::array<std::uint32_t, 3> factors = {0, 0, 0};
};

// Returns the choice by buffer index; only the entries of `shared` arrays are valid. `program` is
// valid and typed; `workgroup` is the workgroup size of launches.
[[nodiscard]] std::vector<SharedStart> shared_starts(const ir::Program& program,
                                                     std::array<std::uint32_t, 3> workgroup);

}  // namespace wye::lower
