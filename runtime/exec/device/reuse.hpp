// SPDX-License-Identifier: Apache-2.0
//
// The rule by which memory pools reuse idle blocks, and PoolBytes, the sizes that a pool reports.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wye::exec {

// The bytes of a pool's blocks.
struct PoolBytes {
    std::uint64_t all = 0;
    std::uint64_t idle = 0;  // of `all`, the bytes of idle blocks
};

// Whether an idle block of `capacity` serves a request of `size`. The block may be up to about
// twice as large as the request, so that requests of similar sizes share blocks. Requests below
// `small` are treated as requests of `small`.
[[nodiscard]] inline bool may_reuse(std::uint64_t capacity, std::uint64_t size,
                                    std::uint64_t small) {
    return capacity >= size && capacity / 2 <= std::max(size, small);
}

}  // namespace wye::exec
