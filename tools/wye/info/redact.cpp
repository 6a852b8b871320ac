// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "views.hpp"

namespace wye::tool {
namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
           static_cast<unsigned char>(c) >= 0x80;
}

void replace_words(std::string& text, const std::string& from, const std::string& to) {
    if (from.empty()) return;
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at)) {
        const std::size_t end = at + from.size();
        const bool whole = (at == 0 || !in_word(text[at - 1]) || !in_word(from.front())) &&
                           (end == text.size() || !in_word(text[end]) || !in_word(from.back()));
        if (whole) text.replace(at, from.size(), to);
        at += whole ? to.size() : 1;
    }
}

// Replaces the name of any user, as in "/home/ann/x", by USER.
void hide_homes(std::string& text) {
    for (const std::string_view parent : {"/home/", "/Users/", "/var/home/"}) {
        for (std::size_t at = text.find(parent); at != text.npos; at = text.find(parent, at)) {
            at += parent.size();
            const std::size_t end = std::min(text.find_first_of("/:`'\" ,;", at), text.size());
            if (end > at) text.replace(at, end - at, "USER");
        }
    }
}

// Replaces UUIDs: runs of at least 32 hexadecimal digits, with or without dashes.
void hide_uuids(std::string& text) {
    for (std::size_t from = 0; from < text.size();) {
        if (text[from] == '-') {  // as in GPU-0011...
            ++from;
            continue;
        }
        std::size_t end = from, digits = 0;
        while (end < text.size() &&
               (std::isxdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-'))
            digits += text[end++] != '-' ? 1 : 0;
        if (digits >= 32) {
            text.replace(from, end - from, "UUID");
            end = from + 4;
        }
        from = end + 1;
    }
}

// Redacts a value. `fact`: the fact's name if the value is that of a fact, else empty. `facts`: the
// value is the object with all facts of a device.
void redact(Report& value, std::string_view fact, bool facts, const Secrets& secrets) {
    if (value.is_structured()) {
        for (auto& [name, inner] : value.items())
            redact(inner, facts ? std::string_view(name) : std::string_view(), name == "facts",
                   secrets);
    } else if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        if (fact == "uuid" || fact == "luid" || fact == "serial") {
            text = kRedacted;
            return;
        }
        for (const auto& [from, to] : secrets) replace_words(text, from, to);
        hide_homes(text);
        hide_uuids(text);
    }
}

}  // namespace

Report redacted(Report report, const Secrets& secrets) {
    redact(report, {}, false, secrets);
    return report;
}

}  // namespace wye::tool
