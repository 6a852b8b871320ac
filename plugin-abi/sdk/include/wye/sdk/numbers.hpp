// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text: whole numbers, sizes and times with units, and bytes as hex digits. The same in
// every locale. Pure; free-threaded.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wye::sdk {

// Reads the number at the beginning of `text`, and removes it. False: `text` begins with no number
// of this type; `text` and `out` are unchanged. `base` is for whole numbers only.
template <typename T>
[[nodiscard]] bool take_number(std::string_view& text, T& out, int base = 10) {
    std::from_chars_result read{};
    if constexpr (std::is_floating_point_v<T>)
        read = std::from_chars(text.data(), text.data() + text.size(), out);
    else
        read = std::from_chars(text.data(), text.data() + text.size(), out, base);
    if (read.ec != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return true;
}

// Reads a text that is a number of this type as a whole, without a plus sign and without blanks.
template <typename T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) {
    T out{};
    if (!take_number(text, out, base) || !text.empty()) return std::nullopt;
    return out;
}

// Reads 1 to `most` numbers with a separator between them: "16x16x1".
template <typename T>
[[nodiscard]] std::optional<std::vector<T>> parse_numbers(std::string_view text, char separator,
                                                          std::size_t most) {
    std::vector<T> out;
    while (out.size() < most && take_number(text, out.emplace_back())) {
        if (text.empty()) return out;
        if (text.front() != separator) break;
        text.remove_prefix(1);
    }
    return std::nullopt;
}

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
inline constexpr Unit kSizeUnits[] = {{"", 1},
                                      {"B", 1},
                                      {"KiB", 1ULL << 10U},
                                      {"MiB", 1ULL << 20U},
                                      {"GiB", 1ULL << 30U},
                                      {"TiB", 1ULL << 40U},
                                      {"kB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000}};
inline constexpr Unit kTimeUnits[] = {
    {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
inline constexpr Unit kFrequencyUnits[] = {
    {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}};

// Reads a number with one of the units, in upper or lower case, behind at most one blank: "1.5GiB",
// "20 us". It may have six decimals, and is rounded down to a whole number of the smallest unit.
// Returns nothing for any other text, and for a number of 2^64 or more.
[[nodiscard]] std::optional<std::uint64_t> parse_quantity(
    std::string_view text, std::initializer_list<std::span<const Unit>> units);

// Reads a size or a count: units as above, or K, M, G and T, which are powers of 1024.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// Two hex digits for each byte, in lower case.
[[nodiscard]] std::string hex_of(std::span<const std::byte> bytes);

}  // namespace wye::sdk
