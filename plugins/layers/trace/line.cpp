// SPDX-License-Identifier: Apache-2.0
#include "layers/trace/line.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "wye/sdk/printable.hpp"

namespace wye::layers::trace {

void add_escaped(std::string& out, std::string_view text) {
    for (const char c : sdk::one_line(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
}

void add_microseconds(std::string& out, std::uint64_t ns) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%" PRIu64 ".%03u", ns / 1000,
                  static_cast<unsigned>(ns % 1000));
    out += digits;
}

void Fields::add(std::string_view name, std::string_view value) {
    const bool json = format_ == Format::chrome;
    if (!out_.empty()) out_ += json ? ',' : ' ';
    if (json) out_ += '"';
    out_ += name;
    out_ += json ? "\":" : "=";
    out_ += value;
}

void Fields::real(std::string_view name, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    if (std::isfinite(value))
        add(name, digits);
    else
        text(name, digits);
}

void Fields::text(std::string_view name, std::string_view value) {
    constexpr std::size_t kMost = 256;  // the rest of a longer text is cut off
    std::string quoted = "\"";
    add_escaped(quoted, value.substr(0, kMost));
    quoted += value.size() > kMost ? "...\"" : "\"";
    add(name, quoted);
}

void Fields::object(std::string_view name, const void* value) {
    char address[32];
    std::snprintf(address, sizeof address, "\"0x%" PRIxPTR "\"",
                  reinterpret_cast<std::uintptr_t>(value));
    add(name, address);
}

}  // namespace wye::layers::trace
