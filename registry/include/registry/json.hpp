// SPDX-License-Identifier: Apache-2.0
//
// Json: a JSON document as a value, for writing and parsing. Members keep the order in which they
// were added. Destruction does not allocate, because a failed allocation there would end the
// process. Destruction and writing recurse as deep as the nesting. Not thread-safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/numbers.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

class Json {
  public:
    struct Member;

    Json(std::nullptr_t = nullptr) {}
    Json(std::string_view text) : kind_(Kind::string), text_(text) {}
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(const char* text) : Json(std::string_view(text)) {}
    template <std::same_as<bool> B>
    Json(B value) : kind_(Kind::boolean), text_(value ? "true" : "false") {}
    template <std::integral I>
    requires(!std::same_as<I, bool>) Json(I value)
        : kind_(Kind::number), text_(std::to_string(value)) {}
    Json(double value);  // null for infinities and NaN
    template <std::ranges::input_range R>
    requires(!std::convertible_to<R, std::string_view>) Json(const R& range) : kind_(Kind::array) {
        for (const auto& value : range) push_back(value);
    }
    Json(std::initializer_list<Member> members);  // an object

    [[nodiscard]] static Json array() { return Json(Kind::array); }
    [[nodiscard]] static Json object() { return Json(Kind::object); }

    // Returns the member of this name, and adds the member if it is absent. A null value becomes an
    // object first.
    Json& operator[](std::string_view name);
    void push_back(Json value);

    // `indent` -1 writes one line. Bytes that are not UTF-8 become U+FFFD; characters that control
    // a terminal are escaped (wye/sdk/printable.hpp).
    [[nodiscard]] std::string dump(int indent) const;

    // ---- Reading ----------------------------------------------------------------------

    // A parse error: the offset at which a text stops being JSON.
    struct ParseError {
        std::size_t offset;
    };
    // The caller must limit the nesting of brackets. If a name occurs twice, its last value counts.
    // An object with more than 4096 members is an error.
    [[nodiscard]] static Json parse(std::string_view bytes);  // throws ParseError

    [[nodiscard]] bool is_string() const { return kind_ == Kind::string; }
    [[nodiscard]] bool is_object() const { return kind_ == Kind::object; }
    [[nodiscard]] bool is_array() const { return kind_ == Kind::array; }
    [[nodiscard]] bool is_null() const { return kind_ == Kind::null; }
    [[nodiscard]] bool is_boolean() const { return kind_ == Kind::boolean; }
    [[nodiscard]] bool is_number() const { return kind_ == Kind::number; }
    [[nodiscard]] bool is_integer() const;
    [[nodiscard]] std::string_view type_name() const;  // "string"
    // A string's value, or another scalar's JSON text.
    [[nodiscard]] const std::string& text() const { return text_; }
    // Nothing if the value is not a number, or not one that T can hold.
    template <typename T>
    [[nodiscard]] std::optional<T> number() const {
        return is_number() ? sdk::parse_number<T>(text_) : std::nullopt;
    }
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] const Json& at(std::size_t i) const { return values_[i]; }
    [[nodiscard]] const Json* find(std::string_view name) const;  // null: no such member
    // Calls `take` with the name and value of each member of an object.
    template <typename Take>
    void for_each(Take&& take) const {
        for (std::size_t i = 0; i < names_.size(); ++i) take(names_[i], values_[i]);
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }  // of an object

  private:
    enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
    friend struct JsonBuilder;
    explicit Json(Kind kind) : kind_(kind) {}
    void write(std::string& out, int indent, int depth) const;

    Kind kind_ = Kind::null;
    std::string text_;                // the value of a string; the JSON text of another scalar
    std::vector<std::string> names_;  // of an object
    std::vector<Json> values_;
};

// The offset of the first bracket that nests deeper than `most`, or npos. Text from outside must be
// checked with this function before it is parsed.
[[nodiscard]] std::size_t too_deep_at(std::string_view bytes, int most) noexcept;

// Converts bytes that need not be UTF-8, such as a path: to a string if they are UTF-8, else to the
// object {"hex": "636166e9"}.
[[nodiscard]] Json exact(std::string_view bytes);
// Converts a value of `exact` back to bytes. Returns nothing for any other value.
[[nodiscard]] std::optional<std::string> exact_bytes(const Json& value);

struct Json::Member {
    std::string name;
    Json value;
};

}  // namespace wye::registry
