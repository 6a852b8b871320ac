// SPDX-License-Identifier: Apache-2.0
//
// Property: a condition on one fact of a device, as in the brackets of a selector.
//
//   property = [ "!" ] capability | fact operator value
//   operator = "=" | "!=" | ">=" | "<=" | ">" | "<"
//
// Facts have their JSON names; "_bytes" at the end and "device_" at the beginning may be left out
// (`memory`, `kind`). A fact that the device does not report satisfies no condition, but a
// capability that it does not report counts as absent, so that `!f64` holds. The values, by type of
// the fact:
//
//   capability   yes, no
//   number       8, 1.5GiB, 2 GHz; units KiB MiB GiB TiB, kB MB GB TB, kHz MHz GHz
//   text         a word or "words"; = ignores case, < and > compare the first dotted number
//   three        16x16x4; < and > must hold on every axis
//   list         a number; = holds if the list contains it, < and > if they hold for an element
//
// Pure values; free-threaded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/open/facts.hpp"

namespace wye::registry {

struct Property {
    enum class Operator : std::uint8_t { equal, not_equal, at_least, at_most, more, less };
    std::uint32_t key = 0;  // enum wye_fact_key
    Operator op = Operator::equal;
    FactValue value;   // of the fact's type; one number for a list
    std::string text;  // in printed form: "memory_bytes>=8GiB"

    [[nodiscard]] bool fits(const Facts& facts) const;
};

// "needs memory_bytes>=8GiB, has 4294967296".
[[nodiscard]] std::string why_not(const Property& property, const Facts& facts);

// A mistake in a text: what is wrong, at which byte, and the remedy without "Fix: ".
struct TextFault {
    std::size_t offset = 0;
    std::string what, fix;
};

// Parses one property, without spaces around it. Returns a fault, or fills `out`.
[[nodiscard]] std::optional<TextFault> parse_property(std::string_view text, Property& out);

// Parses the quoted text at the beginning of `text`; \" and \\ stand for " and \. Returns the
// length including the quotes, or 0 with a fault: the closing quote is missing, there is another
// escape, or there is a control character.
[[nodiscard]] std::size_t parse_quoted(std::string_view text, std::string& out, TextFault& fault);
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace wye::registry
