// SPDX-License-Identifier: Apache-2.0
//
// The rule by which pools of memory give away what is idle.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wye::exec {

// Whether idle memory is given to a request: it may have up to twice the requested size, so that
// requests of similar sizes share it. `small`: sizes below that count as one.
[[nodiscard]] inline bool may_reuse(std::uint64_t capacity, std::uint64_t size,
                                    std::uint64_t small) {
    return capacity >= size && capacity / 2 <= std::max(size, small);
}

}  // namespace wye::exec
