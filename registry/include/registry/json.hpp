// SPDX-License-Identifier: Apache-2.0
//
// A JSON document as a value, to be written, or read from a text. Members keep the order in which
// they were added. Nothing allocates when a value goes: the documents of general libraries do, and
// end the process where memory is short. Nested as deep as the code that builds it nests, or as
// `parse` is told. Not thread-safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

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
    Json(double value);  // null for what JSON has no number for
    template <std::ranges::input_range R>
    requires(!std::convertible_to<R, std::string_view>) Json(const R& range) : kind_(Kind::array) {
        for (const auto& value : range) push_back(value);
    }
    Json(std::initializer_list<Member> members);  // an object

    [[nodiscard]] static Json array() { return Json(Kind::array); }
    [[nodiscard]] static Json object() { return Json(Kind::object); }

    // The member of this name, added when it is not there: null becomes an object.
    Json& operator[](std::string_view name);
    void push_back(Json value);

    // `indent` -1: one line. Bytes that are no UTF-8 become U+FFFD.
    [[nodiscard]] std::string dump(int indent) const;

    // ---- Reading ----------------------------------------------------------------------

    // The offset where a text stops being JSON, in an error that only says so.
    struct ParseError {
        std::size_t offset;
    };
    // The caller has made sure that brackets do not nest too deep. Of equal names the last counts.
    [[nodiscard]] static Json parse(std::string_view bytes);  // throws ParseError

    [[nodiscard]] bool is_string() const { return kind_ == Kind::string; }
    [[nodiscard]] bool is_object() const { return kind_ == Kind::object; }
    [[nodiscard]] bool is_array() const { return kind_ == Kind::array; }
    [[nodiscard]] bool is_integer() const;
    [[nodiscard]] const char* type_name() const;                     // "string"
    [[nodiscard]] const std::string& text() const { return text_; }  // of a string or number
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] const Json& at(std::size_t i) const { return values_[i]; }
    [[nodiscard]] const Json* find(std::string_view name) const;  // null: there is none

  private:
    enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
    friend struct JsonBuilder;
    explicit Json(Kind kind) : kind_(kind) {}
    void write(std::string& out, int indent, int depth) const;

    Kind kind_ = Kind::null;
    std::string text_;                // of a scalar: as JSON has it; of a string: what it says
    std::vector<std::string> names_;  // of an object
    std::vector<Json> values_;
};

struct Json::Member {
    std::string name;
    Json value;
};

}  // namespace wye::registry
