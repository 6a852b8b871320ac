// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/numbers.hpp"

#include "wye/sdk/ascii.hpp"

namespace wye::sdk {
namespace {

constexpr Unit kShortUnits[] = {
    {"K", 1ULL << 10U}, {"M", 1ULL << 20U}, {"G", 1ULL << 30U}, {"T", 1ULL << 40U}};

}  // namespace

std::optional<std::uint64_t> parse_quantity(std::string_view text,
                                            std::initializer_list<std::span<const Unit>> units) {
    constexpr std::uint64_t kMostScale = 1'000'000;
    std::uint64_t whole = 0;
    if (!take_number(text, whole)) return std::nullopt;
    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
    if (text.size() >= 2 && text[0] == '.' && ascii::is_digit(text[1])) {
        text.remove_prefix(1);
        for (; !text.empty() && ascii::is_digit(text[0]) && scale < kMostScale;
             text.remove_prefix(1)) {
            digits = digits * 10 + static_cast<std::uint64_t>(text[0] - '0');
            scale *= 10;
        }
    }
    if (text.size() >= 2 && text[0] == ' ') text.remove_prefix(1);
    for (const std::span<const Unit> some : units) {
        for (const auto& [name, factor] : some) {
            if (!ascii::same_but_case(name, text)) continue;
            std::uint64_t value = 0;
            if (__builtin_mul_overflow(whole, factor, &value)) return std::nullopt;
            if (digits != 0 && factor == 1) return std::nullopt;
            // Cannot overflow: at most six digits, and factors below 2^41.
            const std::uint64_t part =
                digits * (factor / scale) + digits * (factor % scale) / scale;
            if (__builtin_add_overflow(value, part, &value)) return std::nullopt;
            return value;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    return parse_quantity(text, {kSizeUnits, kShortUnits});
}

std::string hex_of(std::span<const std::byte> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const std::byte byte : bytes) {
        out += kDigits[std::to_integer<unsigned>(byte) >> 4U];
        out += kDigits[std::to_integer<unsigned>(byte) & 15U];
    }
    return out;
}

}  // namespace wye::sdk
