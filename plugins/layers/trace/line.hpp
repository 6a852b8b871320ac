// SPDX-License-Identifier: Apache-2.0
//
// Writes the arguments and the result of one call, as text (`size=64 usage=0`) or as members of a
// JSON object (`"size":64,"usage":0`). Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wye::layers::trace {

enum class Format : std::uint8_t { text, chrome };

// Appends `text` to `out`, and escapes everything that JSON or a single line does not allow.
void add_escaped(std::string& out, std::string_view text);
// Appends a time in microseconds with three decimals.
void add_microseconds(std::string& out, std::uint64_t ns);

class Fields {
  public:
    explicit Fields(Format format) : format_(format) {}

    void number(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }
    void integer(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }
    void real(std::string_view name, double value);
    void text(std::string_view name, std::string_view value);
    // Adds an object, by its address.
    void object(std::string_view name, const void* value);

    [[nodiscard]] const std::string& written() const { return out_; }

  private:
    // Adds a value, which is a number or a quoted text.
    void add(std::string_view name, std::string_view value);

    Format format_;
    std::string out_;
};

}  // namespace wye::layers::trace
