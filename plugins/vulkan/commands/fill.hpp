// SPDX-License-Identifier: Apache-2.0
//
// Fills, which Vulkan has for whole words only. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "wye/abi.h"

namespace wye::vulkan {

// The pattern as a word that repeats, where it is one.
[[nodiscard]] inline std::optional<std::uint32_t> word_of(const wye_fill_op& op) {
    const auto low = static_cast<std::uint32_t>(op.pattern);
    switch (op.pattern_size) {
        case 1:
            return (low & 0xffU) * 0x01010101U;
        case 2:
            return (low & 0xffffU) * 0x00010001U;
        case 4:
            return low;
        default:
            if (op.pattern >> 32U == low) return low;
            return std::nullopt;
    }
}

// One vkCmdFillBuffer does all of it.
[[nodiscard]] inline bool is_whole_words(const wye_fill_op& op) {
    return word_of(op) && op.offset % 4 == 0 && op.size % 4 == 0;
}

inline void write_pattern(std::byte* out, std::uint64_t size, const wye_fill_op& op) {
    for (std::uint64_t i = 0; i < size; i += op.pattern_size)
        std::memcpy(out + i, &op.pattern, op.pattern_size);
}

}  // namespace wye::vulkan
