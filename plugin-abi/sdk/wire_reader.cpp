// SPDX-License-Identifier: Apache-2.0
#include "wire_reader.hpp"

#include <bit>
#include <cstring>

namespace wye::ir::detail {

static_assert(std::endian::native == std::endian::little, "Wye runs on little-endian machines");

std::string hex(std::uint32_t value) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), kDigits[value & 15U]);
        value >>= 4U;
    } while (value != 0);
    return "0x" + text;
}

std::string Reader::place() const {
    return "section " + std::string(section_) + ", byte " + std::to_string(last_) + ": ";
}

bool Reader::fail(const std::string& what, const char* fix) {
    *error_ = Error(wye::Code::INVALID_WIRE, place() + what, fix, std::string(section_));
    return false;
}

bool Reader::over(std::string_view what, std::uint64_t value, std::uint64_t limit) {
    *error_ = Error(wye::Code::LIMIT_EXCEEDED,
                    place() + std::string(what) + " is " + std::to_string(value) +
                        "; the limit is " + std::to_string(limit),
                    "Fix: make the program smaller, or split it into several programs",
                    std::string(section_));
    return false;
}

bool Reader::word(std::uint32_t& out) {
    last_ = at_;
    if (left() < 4)
        return fail("a word needs 4 bytes, " + std::to_string(left()) + " are left in the section");
    std::memcpy(&out, wire_.data() + at_, 4);
    at_ += 4;
    return true;
}

bool Reader::word64(std::uint64_t& out) {
    last_ = at_;
    if (left() < 8)
        return fail("a 64-bit value needs 8 bytes, " + std::to_string(left()) +
                    " are left in the section");
    std::memcpy(&out, wire_.data() + at_, 8);
    at_ += 8;
    return true;
}

bool Reader::bytes(std::span<const std::byte>& out, std::size_t count) {
    last_ = at_;
    if (left() < count)
        return fail(std::to_string(count) + " bytes are announced, " + std::to_string(left()) +
                    " are left in the section");
    out = wire_.subspan(at_, count);
    at_ += count;
    return true;
}

bool Reader::padding(std::size_t multiple) {
    while (at_ % multiple != 0) {
        last_ = at_;
        if (at_ == end_) return fail("the padding is missing");
        if (wire_[at_++] != std::byte{0}) return fail("the padding is not zero");
    }
    return true;
}

bool Reader::finished() {
    last_ = at_;
    return at_ == end_ || fail(std::to_string(left()) + " bytes are left over");
}

bool Reader::text(std::string& out, std::uint32_t limit, std::string_view what) {
    std::uint32_t size = 0;
    if (!word(size)) return false;
    if (size > limit) return over("the length of the " + std::string(what), size, limit);
    std::span<const std::byte> content;
    if (!bytes(content, size)) return false;
    out.assign(reinterpret_cast<const char*>(content.data()), content.size());
    return padding(4);
}

bool Reader::count(std::uint32_t value, std::uint64_t limit, std::size_t item_bytes,
                   std::string_view what) {
    if (value > limit) return over("the number of " + std::string(what), value, limit);
    if (value > left() / item_bytes)
        return fail(std::to_string(value) + " " + std::string(what) + " are announced, but only " +
                    std::to_string(left()) + " bytes are left");
    return true;
}

bool Reader::index(std::uint32_t value, std::size_t bound, std::string_view what) {
    if (value < bound) return true;
    return fail(std::string(what) + " " + std::to_string(value) + " does not exist; there are " +
                std::to_string(bound));
}

bool Reader::zero(std::uint32_t value, std::string_view what) {
    return value == 0 || fail(std::string(what) + " is " + hex(value) + ", not zero");
}

bool Reader::part(std::uint32_t words, Reader& out) {
    if (words > left() / 4)
        return fail(std::to_string(words) + " words are announced, but only " +
                    std::to_string(left()) + " bytes are left");
    out = Reader(wire_, at_, at_ + std::size_t{words} * 4, section_, *error_);
    at_ += std::size_t{words} * 4;
    return true;
}

}  // namespace wye::ir::detail
