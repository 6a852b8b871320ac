// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wye/sdk/numbers.hpp"

namespace wye::tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDimensions = 64;  // as in NumPy 2

Error malformed(const std::string& path, std::string_view why) {
    return Error(
        Code::INVALID_ARGUMENT, fmt::format("`{}` is no .npy file: {}", path, why),
        "Fix: write it with numpy.save, or give a file of raw bytes another ending than .npy",
        path);
}

// Reads the literal of a Python dictionary, as far as headers use its grammar.
class Literal {
  public:
    explicit Literal(std::string_view text) : rest_(text) {}

    // Reads `word` if it comes next; returns whether it did.
    bool takes(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::string_view> string() {
        skip_blanks();
        const char quote = rest_.empty() ? '\0' : rest_.front();
        const std::size_t end = rest_.find(quote, 1);
        if ((quote != '\'' && quote != '"') || end == rest_.npos) return std::nullopt;
        const std::string_view out = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return out;
    }
    std::optional<std::uint64_t> number() {
        skip_blanks();
        std::uint64_t out = 0;
        return sdk::take_number(rest_, out) ? std::optional(out) : std::nullopt;
    }
    std::optional<bool> truth() {
        if (takes("True")) return true;
        return takes("False") ? std::optional(false) : std::nullopt;
    }
    // Reads "(2, 3)", "(2,)" or "()".
    std::optional<Shape> shape() {
        Shape out;
        if (!takes("(")) return std::nullopt;
        while (!takes(")")) {
            const auto one = number();
            if (!one || out.size() == kMostDimensions) return std::nullopt;
            out.push_back(*one);
            if (takes(",")) continue;
            if (out.size() == 1 || !takes(")")) return std::nullopt;
            break;
        }
        return out;
    }
    bool ended() {
        skip_blanks();
        return rest_.empty();
    }

  private:
    void skip_blanks() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
    }
    std::string_view rest_;
};

// Reads the type, order and shape of a dictionary into `out`. Returns what is wrong; empty:
// nothing.
std::string read_literal(std::string_view text, NpyHeader& out) {
    Literal literal(text);
    std::optional<std::string> type;
    std::optional<bool> by_columns;
    std::optional<Shape> shape;
    if (!literal.takes("{")) return "its header is no dictionary";
    while (!literal.takes("}")) {
        const auto key = literal.string();
        if (!key || !literal.takes(":")) return "its header is no dictionary";
        if (*key == "descr" && !type) {
            const auto value = literal.string();
            if (!value) return "its `descr` is no type of numbers";
            type = *value;
        } else if (*key == "fortran_order" && !by_columns) {
            by_columns = literal.truth();
            if (!by_columns) return "its `fortran_order` is neither True nor False";
        } else if (*key == "shape" && !shape) {
            shape = literal.shape();
            if (!shape) return "its `shape` is no tuple of whole numbers";
        } else {
            return fmt::format("its header has a key `{}` that is unknown or comes twice", *key);
        }
        if (literal.takes(",")) continue;
        if (!literal.takes("}")) return "its header is no dictionary";
        break;
    }
    if (!literal.ended()) return "its header goes on behind the dictionary";
    if (!type || !by_columns || !shape)
        return "its header lacks `descr`, `fortran_order` or `shape`";
    out.type = *type;
    out.by_columns = *by_columns;
    out.shape = std::move(*shape);
    return {};
}

}  // namespace

Result<NpyHeader> npy_header(std::span<const std::byte> bytes, const std::string& path) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    if (!text.starts_with(kMagic)) return malformed(path, "it does not begin with \\x93NUMPY");
    const std::size_t begin = kMagic.size() + 2;
    if (text.size() < begin + 4) return malformed(path, "it ends within its header");
    const unsigned version = byte(kMagic.size());
    if (version < 1 || version > 3)
        return malformed(path, fmt::format("version {} of the format is unknown", version));
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8U | byte(begin + i);
    NpyHeader out;
    out.size = begin + length_bytes + length;
    if (length > kMostNpyHeader)
        return malformed(
            path, fmt::format("its header has {} bytes, more than {}", length, kMostNpyHeader));
    if (out.size > text.size()) return malformed(path, "it ends within its header");
    if (const std::string why = read_literal(text.substr(begin + length_bytes, length), out);
        !why.empty())
        return malformed(path, why);
    for (const std::uint64_t one : out.shape)
        if (__builtin_mul_overflow(out.numbers, one, &out.numbers))
            return malformed(path, fmt::format("its shape ({}) has too many numbers",
                                               fmt::join(out.shape, ", ")));
    return out;
}

std::string npy_header_of(const Scalar& scalar, const Shape& shape) {
    constexpr std::size_t kAlignment = 64;
    constexpr std::size_t kBefore = 10;  // the magic, the version and the length
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   scalar.bytes == 1 ? '|' : '<', scalar.numpy,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    text.append(kAlignment - 1 - (kBefore + text.size()) % kAlignment, ' ');
    text += '\n';
    std::string out(kMagic);
    out +=
        {'\1', '\0', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
    return out + text;
}

}  // namespace wye::tool
