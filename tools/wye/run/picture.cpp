// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace wye::tool {
namespace {

constexpr std::uint64_t kMostSide = 0x7fffffff;  // limit of the format

using Bytes = std::vector<std::byte>;

bool is_packed(const Table& table) {
    return table.element.scalar->name == "u32" && table.element.lanes == 1;
}

std::uint32_t channels_of(const Table& table) { return is_packed(table) ? 4 : table.element.lanes; }

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < out.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? 0xedb88320U ^ value >> 1U : value >> 1U;
        out[i] = value;
    }
    return out;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

std::uint32_t crc_of(std::span<const std::byte> bytes) {
    std::uint32_t out = ~0U;
    for (const std::byte one : bytes)
        out = kCrcTable[(out ^ static_cast<std::uint32_t>(one)) & 0xffU] ^ out >> 8U;
    return ~out;
}

class Adler {
  public:
    void add(std::byte one) {
        constexpr std::uint32_t kPrime = 65521;
        low_ = (low_ + static_cast<std::uint32_t>(one)) % kPrime;
        high_ = (high_ + low_) % kPrime;
    }
    [[nodiscard]] std::uint32_t value() const { return high_ << 16U | low_; }

  private:
    std::uint32_t low_ = 1, high_ = 0;
};

void add_word(std::uint32_t value, Bytes& out) {
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        out.push_back(static_cast<std::byte>(value >> shift & 0xffU));
}

void add_chunk(std::string_view type, std::span<const std::byte> data, Bytes& out) {
    add_word(static_cast<std::uint32_t>(data.size()), out);
    const std::size_t begin = out.size();
    for (const char c : type) out.push_back(static_cast<std::byte>(c));
    out.insert(out.end(), data.begin(), data.end());
    add_word(crc_of(std::span(out).subspan(begin)), out);
}

// Converts a float from 0 to 1 to a channel. Floats outside are clamped; NaN becomes 0.
std::byte channel_of(double value) {
    const double inside = value > 0 ? std::min(value, 1.0) : 0.0;
    return static_cast<std::byte>(std::lround(inside * 255));
}

// Writes deflate blocks without compression, each as a PNG chunk.
class Deflate {
  public:
    explicit Deflate(Bytes& out) : out_(out) {}

    void add(std::byte one) {
        if (block_.size() == kMost) flush(false);
        adler_.add(one);
        block_.push_back(one);
    }
    void finish() { flush(true); }

  private:
    static constexpr std::size_t kMost = 65535;

    void flush(bool last) {
        Bytes data;
        if (first_) data = {std::byte{0x78}, std::byte{0x01}};
        first_ = false;
        const auto size = static_cast<std::uint32_t>(block_.size());
        for (const std::uint32_t one :
             {last ? 1U : 0U, size & 0xffU, size >> 8U, ~size & 0xffU, ~size >> 8U & 0xffU})
            data.push_back(static_cast<std::byte>(one));
        data.insert(data.end(), block_.begin(), block_.end());
        if (last) add_word(adler_.value(), data);
        add_chunk("IDAT", data, out_);
        block_.clear();
    }

    Bytes& out_;
    Bytes block_;
    Adler adler_;
    bool first_ = true;
};

}  // namespace

Result<void> check_picture(const Table& table) {
    const Scalar& scalar = *table.element.scalar;
    if (scalar.numbers != Numbers::Float && scalar.name != "u8" && !is_packed(table))
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`{}` has elements of {}, which are no pixels", table.name, table.type),
            "Fix: use elements of u8, u32 or floats, or write .npy, .csv or raw bytes", table.name);
    if (table.shape.size() != 2)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` has {} dimensions, and a picture has two", table.name,
                                 std::max<std::size_t>(table.shape.size(), 1)),
                     fmt::format("Fix: add --shape {}=ROWSxCOLUMNS", table.name), table.name);
    if (std::ranges::any_of(table.shape, [](auto n) { return n == 0 || n > kMostSide; }))
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` has the shape {}, and the sides of a picture are 1 to {}",
                                 table.name, fmt::join(table.shape, "x"), kMostSide),
                     "Fix: write another form: .npy, .csv or raw bytes", table.name);
    return {};
}

Bytes png_of(const Table& table) {
    constexpr std::array<std::uint32_t, 4> kColours = {0, 4, 2, 6};  // by number of channels
    const Scalar& scalar = *table.element.scalar;
    const std::uint32_t channels = channels_of(table);
    Bytes out;
    for (const unsigned one : {0x89U, 0x50U, 0x4eU, 0x47U, 0x0dU, 0x0aU, 0x1aU, 0x0aU})
        out.push_back(static_cast<std::byte>(one));
    Bytes head;
    add_word(static_cast<std::uint32_t>(table.shape[1]), head);
    add_word(static_cast<std::uint32_t>(table.shape[0]), head);
    for (const std::uint32_t one : {8U, kColours.at(channels - 1), 0U, 0U, 0U})
        head.push_back(static_cast<std::byte>(one));
    add_chunk("IHDR", head, out);
    const bool floats = scalar.numbers == Numbers::Float;
    const std::size_t row = table.shape[1] * table.element.bytes();
    Deflate pixels(out);
    for (std::uint64_t y = 0; y < table.shape[0]; ++y) {
        pixels.add(std::byte{0});  // no filter
        const std::byte* at = table.bytes.data() + y * row;
        for (const std::byte* const end = at + row; at != end; at += floats ? scalar.bytes : 1)
            pixels.add(floats ? channel_of(float_of(scalar, at)) : *at);
    }
    pixels.finish();
    add_chunk("IEND", {}, out);
    return out;
}

}  // namespace wye::tool
