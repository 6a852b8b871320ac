// SPDX-License-Identifier: Apache-2.0
//
// How `shared` arrays come to start at zero, as cheaply as cannot be seen. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct SharedStart {
    enum class How : std::uint8_t {
        Nothing,  // unset, or wholly written before anything reads it
        Own,      // each invocation clears the one element that it alone writes first; no barrier
        Fill      // all elements, by all invocations together, then a barrier
    };
    How how = How::Fill;
    // Own: the element, as first + factors . local_id, modulo 2^32.
    std::uint32_t first = 0;
    std::array<std::uint32_t, 3> factors = {0, 0, 0};
};

// By buffer index; only entries of `shared` arrays mean something. `program` is valid and typed,
// `workgroup` the effective size.
[[nodiscard]] std::vector<SharedStart> shared_starts(const ir::Program& program,
                                                     std::array<std::uint32_t, 3> workgroup);

}  // namespace wye::lower
