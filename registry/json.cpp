// SPDX-License-Identifier: Apache-2.0
#include "registry/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "wye/sdk/printable.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

// The maximum number of members of an object. Each name that is added is compared with all names of
// its object.
constexpr std::size_t kMostMembers = 4096;

void write_string(std::string& out, std::string_view text) {
    static constexpr char kDigits[] = "0123456789abcdef";
    static constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kLetters = "\"\\bfnrt";
    out += '"';
    while (!text.empty()) {
        const char c = text.front();
        std::uint32_t code = 0;
        std::size_t size = sdk::utf8_sequence(text, code);
        if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
            out += '\\';
            out += kLetters[at];
        } else if (size == 0) {
            out += "\xef\xbf\xbd";
            size = 1;
        } else if (!sdk::is_visible(code)) {
            out += "\\u";
            for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[code >> shift & 15U];
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(size);
    }
    out += '"';
}

}  // namespace

Json::Json(double value) {
    if (!std::isfinite(value)) return;
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    kind_ = Kind::number;
    text_.assign(digits, end);
    if (text_.find_first_of(".e") == std::string::npos) text_ += ".0";
}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::object) {
    for (const Member& member : members) (*this)[member.name] = member.value;
}

Json& Json::operator[](std::string_view name) {
    if (kind_ == Kind::null) kind_ = Kind::object;
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (names_[i] == name) return values_[i];
    values_.emplace_back();
    try {
        names_.emplace_back(name);
    } catch (...) {
        values_.pop_back();
        throw;
    }
    return values_.back();
}

void Json::push_back(Json value) {
    if (kind_ == Kind::null) kind_ = Kind::array;
    values_.push_back(std::move(value));
}

void Json::write(std::string& out, int indent, int depth) const {
    if (kind_ == Kind::null) out += "null";
    if (kind_ == Kind::boolean || kind_ == Kind::number) out += text_;
    if (kind_ == Kind::string) write_string(out, text_);
    if (kind_ != Kind::array && kind_ != Kind::object) return;
    // An array without arrays and objects in it is written on one line.
    const bool flat = is_array() && std::ranges::none_of(values_, [](const Json& value) {
                          return value.is_array() || value.is_object();
                      });
    const auto line = [&](int levels) {
        if (indent < 0 || flat) return;
        out += '\n';
        out.append(static_cast<std::size_t>(indent * levels), ' ');
    };
    out += is_object() ? '{' : '[';
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (i != 0) out += flat && indent >= 0 ? ", " : ",";
        line(depth + 1);
        if (is_object()) {
            write_string(out, names_[i]);
            out += indent < 0 ? ":" : ": ";
        }
        values_[i].write(out, indent, depth + 1);
    }
    if (!values_.empty()) line(depth);
    out += is_object() ? '}' : ']';
}

std::string Json::dump(int indent) const {
    std::string out;
    write(out, indent, 0);
    return out;
}

// ---- Reading ----------------------------------------------------------------------------------

// Adds the parser's values to the innermost open array or object.
struct JsonBuilder {
    using Number = nlohmann::json;
    Json root;
    std::vector<Json*> open;
    std::string name;
    std::size_t failed_at = 0;

    Json* add(Json value) {
        if (open.empty()) {
            root = std::move(value);
            return &root;
        }
        Json& in = *open.back();
        if (in.is_object()) {
            if (in.size() >= kMostMembers && in.find(name) == nullptr) return nullptr;
            Json& member = in[name];
            member = std::move(value);
            return &member;
        }
        in.push_back(std::move(value));
        return &in.values_.back();
    }
    // Pointers to open values stay valid, because no sibling is added before they are closed.
    bool begin(Json value) {
        Json* const added = add(std::move(value));
        if (added != nullptr) open.push_back(added);
        return added != nullptr;
    }
    bool end() {
        open.pop_back();
        return true;
    }

    bool null() { return add(Json()) != nullptr; }
    bool boolean(bool value) { return add(Json(value)) != nullptr; }
    bool number_integer(std::int64_t value) { return add(Json(value)) != nullptr; }
    bool number_unsigned(std::uint64_t value) { return add(Json(value)) != nullptr; }
    bool number_float(double value, const std::string&) { return add(Json(value)) != nullptr; }
    bool string(const std::string& value) { return add(Json(value)) != nullptr; }
    bool binary(const Number::binary_t&) { return false; }
    bool key(const std::string& value) {
        name = value;
        return true;
    }
    bool start_object(std::size_t) { return begin(Json::object()); }
    bool start_array(std::size_t) { return begin(Json::array()); }
    bool end_object() { return end(); }
    bool end_array() { return end(); }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) {
        failed_at = at;
        return false;
    }
};

Json Json::parse(std::string_view bytes) {
    JsonBuilder builder;
    if (!nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder))
        throw ParseError{builder.failed_at};
    return std::move(builder.root);
}

std::size_t too_deep_at(std::string_view bytes, int most) noexcept {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char c = bytes[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > most) return i;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return std::string_view::npos;
}

Json exact(std::string_view bytes) {
    for (std::string_view rest = bytes; !rest.empty();) {
        std::uint32_t code = 0;
        const std::size_t size = sdk::utf8_sequence(rest, code);
        rest.remove_prefix(size);
        if (size != 0) continue;
        Json out;
        out["hex"] = sdk::hex_of(std::as_bytes(std::span(bytes)));
        return out;
    }
    return bytes;
}

std::optional<std::string> exact_bytes(const Json& value) {
    if (value.is_string()) return value.text();
    const Json* const hex = value.is_object() ? value.find("hex") : nullptr;
    if (hex == nullptr || !hex->is_string() || hex->text().size() % 2 != 0) return std::nullopt;
    std::string out;
    for (std::string_view rest = hex->text(); !rest.empty(); rest.remove_prefix(2)) {
        const auto byte = sdk::parse_number<unsigned char>(rest.substr(0, 2), 16);
        if (!byte) return std::nullopt;
        out += static_cast<char>(*byte);
    }
    return out;
}

bool Json::is_integer() const {
    return kind_ == Kind::number && text_.find_first_of(".eE") == std::string::npos;
}

std::string_view Json::type_name() const {
    constexpr std::string_view kNames[] = {"null",   "boolean", "number",
                                           "string", "array",   "object"};
    return sdk::name_in(kNames, kind_);
}

const Json* Json::find(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (names_[i] == name) return &values_[i];
    return nullptr;
}

}  // namespace wye::registry
