// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstring>

#include "program/wire/encode_code.hpp"

namespace wye::ir::detail {

void Sink::word64(std::uint64_t value) {
    words_.push_back(static_cast<std::uint32_t>(value));
    words_.push_back(static_cast<std::uint32_t>(value >> 32U));
}

void Sink::bytes(std::span<const std::byte> content) {
    if (content.empty()) return;
    const std::size_t at = words_.size();
    words_.resize(at + (content.size() + 3) / 4);
    std::memcpy(words_.data() + at, content.data(), content.size());
}

void Sink::text(const std::string& content, std::uint32_t most, std::string_view what) {
    if (content.size() > most) {
        over(fmt::format("the length of the {}", what), content.size(), most);
        return;
    }
    word(static_cast<std::uint32_t>(content.size()));
    bytes(std::as_bytes(std::span(content)));
}

void Sink::list(std::uint64_t count, std::uint64_t most, std::string_view what) {
    if (count > most) over(fmt::format("the number of {}", what), count, most);
    word(static_cast<std::uint32_t>(count));
}

void Sink::fail(wye::Code code, std::string what, const char* fix) {
    if (failed_) return;
    failed_ = true;
    error_ = Error(code, fmt::format("program `{}`: {}", subject_, what), fix, subject_);
}

void Sink::malformed(std::string what) {
    fail(wye::Code::INVALID_PROGRAM, std::move(what),
         "Fix: make the program with the parser, the builder or the reader, and validate it");
}

void Sink::over(std::string_view what, std::uint64_t value, std::uint64_t most) {
    fail(wye::Code::LIMIT_EXCEEDED, fmt::format("{} is {}; the limit is {}", what, value, most),
         "Fix: make the program smaller, or split it into several programs");
}

void Sink::limit(std::string_view what, std::uint64_t value, std::uint64_t most) {
    if (value > most) over(what, value, most);
}

void Sink::limit(std::string_view what, std::string_view name, std::uint64_t value,
                 std::uint64_t most) {
    if (value > most) over(fmt::format("{} `{}`", what, name), value, most);
}

void Sink::count_node() { limit("the number of nodes", ++nodes_, WYE_LIMIT_NODES); }
void Sink::count_statement() {
    limit("the number of statements", ++statements_, WYE_LIMIT_STATEMENTS);
}

std::vector<std::byte> Sink::take() {
    const auto raw = std::as_bytes(std::span(words_));
    std::vector<std::byte> section(raw.begin(), raw.end());
    words_.clear();
    return section;
}

}  // namespace wye::ir::detail
