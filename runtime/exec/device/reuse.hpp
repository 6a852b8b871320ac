// SPDX-License-Identifier: Apache-2.0
//
// The rule by which memory pools reuse idle blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wye::exec {

// Whether an idle block of `capacity` serves a request of `size`. It may be up to about twice as
// large, so that requests of similar sizes share blocks. Requests below `small` are treated as
// requests of `small`.
[[nodiscard]] inline bool may_reuse(std::uint64_t capacity, std::uint64_t size,
                                    std::uint64_t small) {
    return capacity >= size && capacity / 2 <= std::max(size, small);
}

}  // namespace wye::exec
