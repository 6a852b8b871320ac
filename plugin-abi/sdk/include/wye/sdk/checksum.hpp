// SPDX-License-Identifier: Apache-2.0
//
// A checksum against damaged files, not against forgers. Pure.
//
// The checksum detects every change within one aligned word of 8 bytes: each step below is a
// bijection of the word for a fixed state, and of the state for a fixed word, so two texts of one
// length that differ in one word have different sums. Other damage is missed once in 2^64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace wye::sdk {

[[nodiscard]] inline std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
    std::uint64_t state = 0x9e3779b97f4a7c15U ^ bytes.size();
    const auto mix = [&](std::uint64_t word) {
        state = (state ^ word) * 0xd6e8feb86659fd93U;  // odd, so a bijection
        state ^= state >> 32U;
    };
    while (bytes.size() >= sizeof state) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        mix(word);
        bytes = bytes.subspan(sizeof word);
    }
    std::uint64_t last = 0;
    if (!bytes.empty()) std::memcpy(&last, bytes.data(), bytes.size());
    mix(last);
    mix(0);
    return state;
}

[[nodiscard]] inline std::uint64_t checksum(std::string_view text) noexcept {
    return checksum(std::as_bytes(std::span(text)));
}

}  // namespace wye::sdk
