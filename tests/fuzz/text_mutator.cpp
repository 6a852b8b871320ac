// SPDX-License-Identifier: Apache-2.0
//
// A libFuzzer mutator for the text form. It changes tokens, blocks and functions instead of bytes,
// so that most results can still be parsed, and some reach limits. A third of the changes are
// libFuzzer's own changes of bytes.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Random = std::minstd_rand;
using Tokens = std::vector<std::string>;

constexpr std::array<const char*, 30> kLimits = {"0u",
                                                 "1u",
                                                 "31u",
                                                 "32u",
                                                 "33u",
                                                 "64",
                                                 "4096",
                                                 "4294967295u",
                                                 "-2147483648",
                                                 "2147483647",
                                                 "9223372036854775807i64",
                                                 "-9223372036854775808i64",
                                                 "18446744073709551615u64",
                                                 "0.0",
                                                 "-0.0",
                                                 "inf_f32",
                                                 "nan_f32",
                                                 "-inf_f64",
                                                 "1e-45",
                                                 "3.4028235e38",
                                                 "65504.0f16",
                                                 "6e-8f16",
                                                 "1.7976931348623157e308f64",
                                                 "5e-324f64",
                                                 "true",
                                                 "16384",
                                                 "65535",
                                                 "1048576",
                                                 "1099511627776",
                                                 "global_id.x"};
constexpr std::array<const char*, 17> kTypes = {"u32",  "i32",   "f32",   "u64",   "i64",   "f64",
                                                "f16",  "bool",  "u8",    "i8",    "u16",   "i16",
                                                "bf16", "f32x4", "u32x2", "i64x3", "boolx4"};
constexpr std::array<const char*, 26> kOperators = {
    "+",  "-", "*",  "/",  "%",  "&", "|",  "^",  "<<", ">>", "==", "!=", "<",
    "<=", ">", ">=", "&&", "||", "=", "+=", "-=", "*=", "|=", "^=", ",",  ".."};
constexpr std::array<const char*, 8> kBefore = {"if true {",
                                                "if global_id.x < 7u {",
                                                "for n_ in 0u..3u {",
                                                "for n_ in 0..64 step 2 {",
                                                "while local_index == 9u {",
                                                "if false { } else {",
                                                "for n_ in 0u..4294967295u {",
                                                "if nan_f32 < 1.0 {"};
constexpr std::array<const char*, 10> kStatements = {
    "barrier;",         "grid_barrier;",    "trap 1;",
    "return;",          "break;",           "continue;",
    "var v_: f64;",     "var a_: u32[16];", "let l_ = local_id.y;",
    "v_ += 0x1.8p3f64;"};
constexpr std::array<std::pair<const char*, const char*>, 14> kWraps = {{{"(", ")"},
                                                                         {"~(", ")"},
                                                                         {"-(", ")"},
                                                                         {"!(", ")"},
                                                                         {"f32(", ")"},
                                                                         {"u32(", ")"},
                                                                         {"f16(", ")"},
                                                                         {"i64(", ")"},
                                                                         {"bitcast<i32>(", ")"},
                                                                         {"(", " + 1u)"},
                                                                         {"select(true, ", ", 0u)"},
                                                                         {"min(", ", 7u)"},
                                                                         {"(", " * 5u % 16u)"},
                                                                         {"exp(", ")"}}};

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Splits a text into tokens. Spaces and line ends belong to the token behind them; a comment is a
// token.
Tokens tokens(std::string_view text) {
    Tokens out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t from = at;
        while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
        if (at == text.size()) {
            out.emplace_back(text.substr(from));
            break;
        }
        if (text.substr(at, 2) == "//") {
            at = std::min(text.find('\n', at), text.size());
        } else if (word(text[at])) {
            while (
                at < text.size() &&
                (word(text[at]) || (text[at] == '.' && at + 1 < text.size() && word(text[at + 1]))))
                ++at;
        } else {
            const std::string_view two = text.substr(at, 2);
            at += std::ranges::any_of(kOperators, [&](std::string_view op) { return op == two; })
                      ? 2
                      : 1;
        }
        out.emplace_back(text.substr(from, at - from));
    }
    return out;
}

std::string_view bare(const std::string& token) {
    const std::size_t at = token.find_first_not_of(" \n");
    return at == std::string::npos ? std::string_view{} : std::string_view(token).substr(at);
}

class Mutation {
  public:
    Mutation(Tokens tokens, unsigned seed) : tokens_(std::move(tokens)), random_(seed) {}

    void change() {
        if (tokens_.empty()) return;
        switch (pick(13)) {
            case 0:
                return duplicate(statement(), 1 + pick(3));
            case 1:
                return duplicate(statement(), 8U << pick(4));
            case 2:
                return nest(1);
            case 3:
                return nest(1 + pick(70));
            case 4:
                return wrap(1);
            case 5:
                return wrap(1 + pick(140));
            case 6:
                return duplicate_function(1 + pick(12));
            case 7:
                return replace(is_type, any(kTypes));
            case 8:
                return replace(is_number, any(kLimits));
            case 9:
                return replace(is_operator, any(kOperators));
            case 10:
                return remove(statement());
            case 11:
                return insert_statement(any(kStatements));
            default:
                return swap_names();
        }
    }
    // Inserts a statement or a function of another program at a random place.
    void take(Mutation& other) {
        if (tokens_.empty() || other.tokens_.empty()) return;
        const auto [first, last] = other.statement();
        const Tokens part(other.tokens_.begin() + first, other.tokens_.begin() + last);
        const auto at = statement().first;
        tokens_.insert(tokens_.begin() + at, part.begin(), part.end());
    }
    [[nodiscard]] std::string text() const {
        std::string out;
        for (const std::string& token : tokens_) out += token;
        return out;
    }

  private:
    using Range = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
    static constexpr std::size_t kMostTokens = 60000;

    std::size_t pick(std::size_t count) { return count == 0 ? 0 : random_() % count; }
    template <typename Array>
    const char* any(const Array& array) {
        return array[pick(array.size())];
    }
    static bool is_type(std::string_view token) {
        return std::ranges::any_of(kTypes, [&](std::string_view type) { return type == token; });
    }
    static bool is_number(std::string_view token) {
        return !token.empty() && std::isdigit(static_cast<unsigned char>(token[0])) != 0;
    }
    static bool is_name(std::string_view token) {
        return !token.empty() && word(token[0]) && !is_number(token) && !is_type(token);
    }
    static bool is_operator(std::string_view token) {
        return std::ranges::any_of(kOperators, [&](std::string_view op) { return op == token; });
    }

    // Searches the tokens from a random one on. Returns the first that `wanted` accepts, or the
    // number of tokens if there is none.
    template <typename Wanted>
    std::size_t find(Wanted wanted) {
        const std::size_t from = pick(tokens_.size());
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            const std::size_t at = (from + i) % tokens_.size();
            if (wanted(bare(tokens_[at]))) return at;
        }
        return tokens_.size();
    }
    template <typename Wanted>
    void replace(Wanted wanted, const char* by) {
        const std::size_t at = find(wanted);
        if (at != tokens_.size()) tokens_[at] = std::string(" ") + by;
    }
    // A statement: from behind a `;`, `{` or `}` to the next `;` or to the end of the block that
    // follows.
    Range statement() {
        std::size_t at = find([](std::string_view t) { return t == ";" || t == "{" || t == "}"; });
        if (at == tokens_.size()) return {0, 0};
        const std::size_t first = ++at;
        int depth = 0;
        for (; at < tokens_.size(); ++at) {
            const std::string_view token = bare(tokens_[at]);
            if (token == "{") ++depth;
            if (token == "}" && --depth <= 0) {
                if (depth == 0) ++at;
                break;
            }
            if (token == ";" && depth == 0) {
                ++at;
                break;
            }
        }
        return {static_cast<std::ptrdiff_t>(first), static_cast<std::ptrdiff_t>(at)};
    }
    void duplicate(Range range, std::size_t times) {
        const Tokens part(tokens_.begin() + range.first, tokens_.begin() + range.second);
        for (; times > 0 && tokens_.size() + part.size() < kMostTokens; --times)
            tokens_.insert(tokens_.begin() + range.second, part.begin(), part.end());
    }
    void remove(Range range) {
        tokens_.erase(tokens_.begin() + range.first, tokens_.begin() + range.second);
    }
    void insert_statement(const char* text) {
        tokens_.insert(tokens_.begin() + statement().first, std::string(" ") + text);
    }
    void nest(std::size_t depth) {
        const auto [first, last] = statement();
        std::string before;
        std::string after;
        for (std::size_t i = 0; i < depth; ++i) {
            std::string open = any(kBefore);
            // Each loop needs a variable of its own.
            if (const auto name = open.find("n_"); name != std::string::npos)
                open.insert(name + 2, std::to_string(i));
            before += "\n" + open;
            after += " }";
        }
        tokens_.insert(tokens_.begin() + last, after);
        tokens_.insert(tokens_.begin() + first, before);
    }
    void wrap(std::size_t depth) {
        const std::size_t at = find([](auto t) { return is_number(t) || is_name(t); });
        if (at == tokens_.size()) return;
        const std::size_t kind = pick(kWraps.size());
        std::string before = " ";
        std::string after;
        for (std::size_t i = 0; i < depth; ++i) {
            before += kWraps[kind].first;
            after += kWraps[kind].second;
        }
        tokens_[at] = before + tokens_[at] + after;
    }
    // Copies a function several times, under new names. Each copy may call the copy before it.
    void duplicate_function(std::size_t times) {
        const std::size_t fn = find([](std::string_view t) { return t == "fn"; });
        if (fn + 1 >= tokens_.size())
            return insert_statement("fn f_(a: u32) -> u32 { return ~a; }");
        std::size_t end = fn;
        while (end < tokens_.size() && bare(tokens_[end]) != "{") ++end;
        for (int depth = 0; end < tokens_.size(); ++end) {
            if (bare(tokens_[end]) == "{") ++depth;
            if (bare(tokens_[end]) == "}" && --depth == 0) break;
        }
        if (end == tokens_.size()) return;
        Tokens part(tokens_.begin() + static_cast<std::ptrdiff_t>(fn),
                    tokens_.begin() + static_cast<std::ptrdiff_t>(end) + 1);
        const std::string old(bare(tokens_[fn + 1]));
        std::string last = old;
        for (std::size_t i = 0; i < times && tokens_.size() + part.size() < kMostTokens; ++i) {
            const std::string name = old.substr(0, 40) + "_" + std::to_string(random_() % 100000);
            Tokens copy = part;
            copy[1] = " " + name;
            for (std::size_t k = 2; k < copy.size(); ++k) {
                if (bare(copy[k]) == old) copy[k] = " " + last;
                if (bare(copy[k]) == "return" && k + 1 < copy.size() && pick(2) == 0 &&
                    is_name(bare(copy[k + 1])) && copy.size() > 4 && k + 2 < copy.size() &&
                    bare(copy[k + 2]) == ";")
                    copy[k + 1] = " " + last + "(" + copy[k + 1] + ")";
            }
            end += 1;
            tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(end), copy.begin(),
                           copy.end());
            end += copy.size() - 1;
            last = name;
        }
    }
    void swap_names() {
        const std::size_t a = find(is_name);
        const std::size_t b = find(is_name);
        if (a != tokens_.size() && b != tokens_.size()) std::swap(tokens_[a], tokens_[b]);
    }

    Tokens tokens_;
    Random random_;
};

std::size_t give(const std::string& text, std::uint8_t* data, std::size_t most) {
    const std::size_t size = std::min(text.size(), most);
    std::copy_n(text.begin(), size, data);
    return size;
}

std::string_view view(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    Random random(seed);
    if (random() % 3 == 0) return LLVMFuzzerMutate(data, size, most);
    Mutation mutation(tokens(view(data, size)), seed);
    for (unsigned times = 1 + random() % 4; times > 0; --times) mutation.change();
    return give(mutation.text(), data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size,
                                                 const std::uint8_t* b, std::size_t b_size,
                                                 std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
    Mutation target(tokens(view(a, a_size)), seed);
    Mutation source(tokens(view(b, b_size)), seed + 1);
    target.take(source);
    return give(target.text(), out, most);
}
