// SPDX-License-Identifier: Apache-2.0
//
// Splits fills into commands: Vulkan fills only whole words. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <algorithm>
#include <vector>

#include "vulkan/driver.hpp"

namespace wye::vulkan {

// The 32-bit word whose repetition gives the pattern; nothing if there is no such word.
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

// Whether a single vkCmdFillBuffer can do the whole fill.
[[nodiscard]] inline bool is_whole_words(const wye_fill_op& op) {
    return word_of(op) && op.offset % 4 == 0 && op.size % 4 == 0;
}

inline constexpr std::uint64_t kPatternAlignment = 8;  // of staged bytes

// The two parts of a fill: the words that vkCmdFillBuffer fills, and the rest, which is copied from
// staged bytes.
struct FillParts {
    std::uint64_t first = 0, words = 0;  // number of words, from byte `first` on
    std::uint32_t word = 0;
    std::uint64_t staged_bytes = 0;  // size of the staged pattern, which is repeated
};

[[nodiscard]] inline FillParts parts_of(const wye_fill_op& op) {
    constexpr std::uint64_t kPiece = 65536;
    const std::uint64_t end = op.offset + op.size;
    const std::uint64_t first = (op.offset + 3) / 4 * 4;
    const std::uint64_t last = end / 4 * 4;
    const std::optional<std::uint32_t> word = word_of(op);
    if (!word || first >= last) return {0, 0, 0, std::min(op.size, kPiece)};
    // The bytes before and after the words are copied from the same staged bytes.
    const bool odd = first != op.offset || last != end;
    return {first, (last - first) / 4, *word, odd ? 8U : 0U};
}

// The copies from the staged bytes, which begin at offset `staged` of their buffer.
[[nodiscard]] inline std::vector<VkBufferCopy> staged_copies(const wye_fill_op& op,
                                                             const FillParts& parts,
                                                             std::uint64_t staged) {
    std::vector<VkBufferCopy> out;
    const std::uint64_t end = op.offset + op.size;
    if (parts.words == 0) {
        for (std::uint64_t at = 0; at < op.size; at += parts.staged_bytes)
            out.push_back({staged, op.offset + at, std::min(parts.staged_bytes, op.size - at)});
        return out;
    }
    const std::uint64_t last = parts.first + parts.words * 4;
    if (parts.first != op.offset) out.push_back({staged, op.offset, parts.first - op.offset});
    if (last != end) out.push_back({staged, last, end - last});
    return out;
}

inline void write_pattern(std::byte* out, std::uint64_t size, const wye_fill_op& op) {
    for (std::uint64_t i = 0; i < size; i += op.pattern_size)
        std::memcpy(out + i, &op.pattern, op.pattern_size);
}

}  // namespace wye::vulkan
