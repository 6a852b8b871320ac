// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../suggest.hpp"
#include "command/files.hpp"
#include "command/memory.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::tool {
namespace {

using sdk::trimmed;

// Whether a text is a number of any type.
bool is_number(std::string_view text) {
    return bits_of(*element_of("f64").scalar, text) ||
           (text.find('x') != text.npos &&
            (bits_of(*element_of("i64").scalar, text) || bits_of(*element_of("u64").scalar, text)));
}

// A text up to the first blank or comma, without blanks before it.
std::string_view first_word(std::string_view text) {
    text = trimmed(text);
    return text.substr(0, text.find_first_of(", \t\r\n"));
}

bool is_list(std::string_view data) {
    const std::string_view word = first_word(data);
    return is_number(word) || is_number(without_suffix(word));
}

// A part of a table's row, without a quote at its beginning or end. The matching quote may be in
// another part.
std::string_view unquoted(std::string_view part) {
    if (part.starts_with('"')) part.remove_prefix(1);
    if (part.ends_with('"')) part.remove_suffix(1);
    return trimmed(part);
}

// Whether a row of a table is its heading: names, and no number.
bool is_heading(std::string_view row) {
    bool named = false;
    while (!row.empty()) {
        const std::string_view cell = trimmed(row.substr(0, row.find(',')));
        row.remove_prefix(std::min(row.find(','), row.size() - 1) + 1);
        const std::string_view name = unquoted(cell);
        if (name.empty()) continue;
        const auto first = static_cast<unsigned char>(name.front());
        named = first == '_' || first >= 0x80 || std::isalpha(first) != 0;
        if (!named || is_number(name)) return false;
    }
    return named;
}

Error too_much(const Wanted& wanted, std::string_view what, std::uint64_t most) {
    return Error(Code::LIMIT_EXCEEDED,
                 fmt::format("{} has more than the {} bytes that input `{}` can use", what, most,
                             wanted.name),
                 "Fix: give fewer numbers", wanted.name);
}

Error no_number(const Wanted& wanted, std::string_view text, std::size_t number,
                std::string_view what) {
    const Scalar& scalar = *wanted.element.scalar;
    const std::string_view bare = without_suffix(text);
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("number {} of {}, `{}`, is not a {} value: {}", number, what,
                             text.substr(0, 64), scalar.name, range_of(scalar)),
                 bare != text && bits_of(scalar, bare)
                     ? fmt::format("Fix: write {}, since the program declares the type", bare)
                     : "Fix: write numbers within that range, with commas or blanks between them, "
                       "or ./ before the name of a file",
                 wanted.name);
}

// Appends the numbers of a line, which commas or blanks separate. `what` names the line or list.
Result<void> add_numbers(const Wanted& wanted, std::string_view line, std::string_view what,
                         std::vector<std::byte>& out) {
    const Scalar& scalar = *wanted.element.scalar;
    std::string_view rest = trimmed(line);
    for (std::size_t number = 1;; ++number) {
        const std::string_view text = first_word(rest);
        const auto bits = bits_of(scalar, text);
        if (!bits) return no_number(wanted, text, number, what);
        if (out.size() + scalar.bytes > wanted.most) return too_much(wanted, what, wanted.most);
        const std::size_t place = out.size();
        out.resize(place + scalar.bytes);
        std::memcpy(out.data() + place, &*bits, scalar.bytes);
        rest = trimmed(rest.substr(text.size()));
        if (rest.empty()) return {};
        if (rest.front() == ',') rest = trimmed(rest.substr(1));  // another number must follow
    }
}

// Returns the values; INVALID_ARGUMENT unless they make up whole elements.
Result<Values> whole(const Wanted& wanted, std::string_view what, Values values) {
    if (values.bytes.size() % wanted.element.bytes() == 0) return values;
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("{} has {} numbers, not a multiple of the {} of {} `{}`", what,
                             values.bytes.size() / wanted.element.scalar->bytes,
                             wanted.element.lanes, wanted.type, wanted.name),
                 "Fix: give whole elements", wanted.name);
}

Result<Values> read_list(const Wanted& wanted, const std::string& data) {
    const std::string what = fmt::format("`--in {}=`", wanted.name);
    Values out;
    WYE_TRY(add_numbers(wanted, data, what, out.bytes));
    return whole(wanted, what, std::move(out));
}

// ---- Generated numbers --------------------------------------------------------------------------

enum class Recipe : std::uint8_t { Zeros, Ones, Range, Random };
constexpr std::array<std::pair<std::string_view, Recipe>, 4> kRecipes = {
    {{"zeros", Recipe::Zeros},
     {"ones", Recipe::Ones},
     {"range", Recipe::Range},
     {"random", Recipe::Random}}};

struct Made {
    Recipe recipe = Recipe::Zeros;
    std::optional<std::uint64_t> count;  // the number of elements
    std::uint64_t seed = 0;
};

// Parses "@range(1000)", "@random(10, 7)", or without a count "@zeros".
Result<Made> parse_made(const Wanted& wanted, std::string_view data) {
    const auto wrong = [&](std::string_view why, std::string fix) {
        return Error(Code::INVALID_ARGUMENT, fmt::format("`--in {}={}` {}", wanted.name, data, why),
                     std::move(fix), wanted.name);
    };
    const std::string usage =
        "Fix: write @zeros(N), @ones(N), @range(N) or @random(N, SEED), N elements, or ./ before "
        "the name of a file";
    const std::size_t open = std::min(data.find('('), data.size());
    const std::string name(data.substr(1, open - 1));
    const auto recipe =
        std::ranges::find(kRecipes, name, [](const auto& one) { return one.first; });
    if (recipe == kRecipes.end()) {
        const std::vector<std::string> near = nearest(name, {"zeros", "ones", "range", "random"});
        const std::size_t end =
            std::min(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), name.size());
        for (const auto& [known, made] : kRecipes) {
            if (end == name.size() || name.substr(0, end) != known) continue;
            const std::string rest = name.substr(end + 1);
            const std::string count = rest.substr(0, rest.find_first_not_of("0123456789"));
            return wrong(fmt::format("has `{}` where `(` begins the count", name[end]),
                         fmt::format("Fix: write @{}({})", known, count.empty() ? "N" : count));
        }
        return wrong("makes no numbers",
                     near.empty() ? usage : fmt::format("Fix: did you mean @{}?", near.front()));
    }
    Made out{recipe->second, {}, 0};
    if (open == data.size()) {
        if (wanted.exact) return out;
        return wrong("has no count, and the program does not say it", usage);
    }
    std::string_view inside = data.substr(open + 1);
    if (!inside.ends_with(')')) return wrong("does not end with `)`", usage);
    inside.remove_suffix(1);
    const auto number = [](std::string_view text) {
        return sdk::parse_number<std::uint64_t>(trimmed(text));
    };
    const std::size_t comma = inside.find(',');
    out.count = number(inside.substr(0, comma));
    if (!out.count) return wrong("has no whole number of elements", usage);
    if (comma != inside.npos) {
        if (out.recipe != Recipe::Random) return wrong("has two numbers", usage);
        const auto seed = number(inside.substr(comma + 1));
        if (!seed) return wrong("has a seed that is no whole number", usage);
        out.seed = *seed;
    }
    return out;
}

// The next number of SplitMix64.
std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

// A random float from 0 to below 1, with all digits of the type, or a random integer with all bits.
std::optional<std::uint64_t> random_bits(const Scalar& scalar, std::uint64_t random) {
    if (scalar.numbers != Numbers::Float) return random >> (64 - 8 * scalar.bytes);
    const double steps = static_cast<double>(std::uint64_t{1} << scalar.digits);
    return bits_of_float(scalar, static_cast<double>(random >> (64 - scalar.digits)) / steps);
}

Result<Values> make(const Wanted& wanted, const std::string& data) {
    WYE_ASSIGN(Made made, parse_made(wanted, data));
    const Scalar& scalar = *wanted.element.scalar;
    const std::uint64_t most = std::min(wanted.most, most_of_stream());
    if (made.count && *made.count > most / wanted.element.bytes())
        return too_much(wanted, fmt::format("`--in {}={}`", wanted.name, data), most);
    const std::uint64_t size =
        made.count ? *made.count * wanted.element.bytes() : std::min(wanted.most, most);
    Values out;
    try {
        out.bytes.resize(size);
    } catch (const std::exception&) {  // bad_alloc, length_error
        return no_memory(size, fmt::format("input `{}`", wanted.name));
    }
    if (made.recipe == Recipe::Zeros) return out;
    std::uint64_t state = made.seed;
    const std::uint64_t one = bits_of(scalar, "1").value_or(0);
    for (std::uint64_t at = 0; at < size / scalar.bytes; ++at) {
        auto bits = std::optional(one);
        if (made.recipe == Recipe::Range) bits = bits_of_count(scalar, at);
        if (made.recipe == Recipe::Random) bits = random_bits(scalar, next_random(state));
        if (!bits)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`--in {}={}` counts to {}, which is not a {} value: {}",
                                     wanted.name, data, at, scalar.name, range_of(scalar)),
                         "Fix: give a smaller count", wanted.name);
        std::memcpy(out.bytes.data() + at * scalar.bytes, &*bits, scalar.bytes);
    }
    return out;
}

// ---- Files --------------------------------------------------------------------------------------

Result<Values> from_npy(const Wanted& wanted, const std::string& path,
                        std::vector<std::byte> bytes) {
    WYE_ASSIGN(NpyHeader header, npy_header(bytes, path));
    const Scalar& scalar = *wanted.element.scalar;
    const auto wrong = [&](std::string message, std::string fix) {
        return Error(Code::INVALID_ARGUMENT, std::move(message), std::move(fix), wanted.name);
    };
    const bool little = header.type.starts_with(scalar.bytes == 1 ? '|' : '<');
    if (scalar.numpy.empty() || !little || header.type.substr(1) != scalar.numpy)
        return wrong(fmt::format("`{}` has numbers of NumPy's type `{}`, and input `{}` takes {}",
                                 path, header.type.substr(0, 64), wanted.name, wanted.type),
                     scalar.numpy.empty()
                         ? std::string("Fix: NumPy has no such type; give a file of raw bytes")
                         : fmt::format("Fix: save the array as {}, as in a.astype('<{}')",
                                       wanted.type, scalar.numpy));
    if (header.by_columns && std::ranges::count_if(header.shape, [](auto n) { return n > 1; }) > 1)
        return wrong(fmt::format("`{}` is stored column by column", path),
                     "Fix: save numpy.ascontiguousarray(a)");
    const std::size_t has = bytes.size() - header.size;
    if (header.numbers != has / scalar.bytes || has % scalar.bytes != 0)
        return wrong(
            fmt::format("`{}` has {} bytes behind its header, and its shape ({}) takes "
                        "{} numbers of {} bytes",
                        path, has, fmt::join(header.shape, ", "), header.numbers, scalar.bytes),
            "Fix: save the array again");
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header.size));
    Values out{std::move(bytes), std::move(header.shape)};
    if (wanted.element.lanes != 1) {
        // If the last dimension is as long as the vector, the dimension stands for the vector's
        // components.
        if (!out.shape.empty() && out.shape.back() == wanted.element.lanes)
            out.shape.pop_back();
        else
            out.shape.clear();
    }
    return whole(wanted, fmt::format("`{}`", path), std::move(out));
}

Result<Values> from_text(const Wanted& wanted, const std::string& path,
                         const std::vector<std::byte>& bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // the mark of UTF-8
    Values out;
    std::uint64_t rows = 0;
    std::size_t first = 0;  // how many numbers the first row has
    bool table = wanted.element.lanes == 1;
    bool headed = false;      // the first row was seen
    std::size_t heading = 0;  // the line of the heading; 0: none
    for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view row = text.substr(at, end - at);
        at = end + 1;
        if (trimmed(row).empty()) continue;
        if (rows == 0 && !std::exchange(headed, true) && is_heading(row)) {
            heading = line;
            continue;
        }
        const std::size_t before = out.bytes.size();
        WYE_TRY(add_numbers(wanted, row, fmt::format("line {} of `{}`", line, path), out.bytes));
        const std::size_t has = (out.bytes.size() - before) / wanted.element.scalar->bytes;
        if (++rows == 1) first = has;
        table = table && has == first;
    }
    if (rows == 0 && heading != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` has a heading in line {} and no numbers", path, heading),
                     "Fix: write a row of numbers in each line below it", wanted.name);
    if (table && first > 1) out.shape = {rows, first};
    return whole(wanted, fmt::format("`{}`", path), std::move(out));
}

Result<Values> from_raw(const Wanted& wanted, const std::string& path,
                        std::vector<std::byte> bytes) {
    if (bytes.size() % wanted.element.bytes() != 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`{}` has {} bytes, not a multiple of the {} bytes of {} `{}`", path,
                        bytes.size(), wanted.element.bytes(), wanted.type, wanted.name),
            "Fix: give whole elements", wanted.name);
    return Values{std::move(bytes), {}};
}

// The maximum size of a file in bytes: `times` bytes for each byte that can be used, plus `more`.
std::uint64_t most_of_file(const Wanted& wanted, std::uint64_t times, std::uint64_t more) {
    std::uint64_t out = 0;
    if (__builtin_mul_overflow(wanted.most, times, &out) || __builtin_add_overflow(out, more, &out))
        return UINT64_MAX;
    return out;
}

}  // namespace

std::string input_file(const std::string& data) {
    if (data.starts_with('@') || is_list(data)) return {};
    return data == "-" ? "/dev/stdin" : data;
}

Result<Values> read_values(const Wanted& wanted, const std::string& data) {
    if (data.starts_with('@')) return make(wanted, data);
    const std::string path = input_file(data);
    if (path.empty()) return read_list(wanted, data);
    const std::string what = fmt::format("input `{}`", wanted.name);
    if (has_ending(path, ".npy")) {
        WYE_ASSIGN(auto bytes, read_file(path, what, most_of_file(wanted, 1, 2 * kMostNpyHeader)));
        return from_npy(wanted, path, std::move(bytes));
    }
    if (has_ending(path, ".csv") || has_ending(path, ".txt")) {
        constexpr std::uint64_t kMostText = 64;  // characters of a number, with blanks around it
        WYE_ASSIGN(const auto bytes, read_file(path, what, most_of_file(wanted, kMostText, 4096)));
        return from_text(wanted, path, bytes);
    }
    WYE_ASSIGN(auto bytes, read_file(path, what, wanted.most));
    return from_raw(wanted, path, std::move(bytes));
}

}  // namespace wye::tool
