// SPDX-License-Identifier: Apache-2.0
#include "lower/half.hpp"

#include <bit>

namespace wye::lower {

std::uint32_t f32_of_f16(std::uint64_t bits) {
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const auto m = static_cast<std::uint32_t>(bits & 0x7fffU);
    if (m < 0x400U) return sign | std::bit_cast<std::uint32_t>(static_cast<float>(m) * 0x1p-24F);
    return sign | ((m << 13U) + (m >= 0x7c00U ? 0x70000000U : 0x38000000U));
}

}  // namespace wye::lower
