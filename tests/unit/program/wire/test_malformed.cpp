// SPDX-License-Identifier: Apache-2.0
// Every kind of malformed wire form is refused with a place and a fix.
#include <doctest/doctest.h>

#include <cstdio>
#include <functional>
#include <iterator>
#include <string>

#include "generated.hpp"
#include "program/wire/encode.hpp"
#include "support/sanitized.hpp"
#include "support/slice.hpp"
#include "wire_bytes.hpp"
#include "wye/sdk/wire.hpp"

namespace test_malformed {

using namespace wye::ir;
using test::Wire;
using test::with_body;

namespace {

void refused(const std::vector<std::byte>& bytes, wye::Code code, const std::string& part) {
    const auto read = decode(bytes);
    CAPTURE(part);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == code);
    CHECK_MESSAGE(read.error().message.find(part) != std::string::npos, read.error().message);
    CHECK(read.error().message.rfind("section ", 0) == 0);
    CHECK(read.error().message.find(", byte ") != std::string::npos);
    CHECK(read.error().fix.rfind("Fix: ", 0) == 0);
}
void invalid(const Wire& wire, const std::string& part) {
    refused(wire.bytes(), wye::Code::INVALID_WIRE, part);
}
void limit(const Wire& wire, const std::string& part) {
    refused(wire.bytes(), wye::Code::LIMIT_EXCEEDED, part);
}
void accepted(const Wire& wire) {
    const auto read = decode(wire.bytes());
    CHECK_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().message));
}

// A program with a let of this expression. It has one buffer, number 0.
Wire with_let(const test::Words& expression) {
    test::Words body{1, 0x01};
    body.insert(body.end(), expression.begin(), expression.end());
    Wire wire = with_body(body);
    wire.section(3) = test::one_buffer();
    return wire;
}
Wire with_statement(const test::Words& words) {
    test::Words body{1};
    body.insert(body.end(), words.begin(), words.end());
    Wire wire = with_body(body);
    wire.section(3) = test::one_buffer();
    return wire;
}

}  // namespace

TEST_CASE("the container") {
    const auto good = with_body({0}).bytes();
    REQUIRE(decode(good).ok());
    const auto patched = [&](std::size_t at, unsigned value) {
        auto bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        return bytes;
    };
    refused({}, wye::Code::INVALID_WIRE, "8 bytes are announced");
    refused(patched(0, 'X'), wye::Code::INVALID_WIRE, "magic");
    refused(patched(4, '\n'), wye::Code::INVALID_WIRE, "magic");  // CR LF became LF LF
    refused(patched(8, 2), wye::Code::INVALID_WIRE, "version 2.0");
    refused(patched(10, 1), wye::Code::INVALID_WIRE, "version 1.1");
    refused(patched(12, 1), wye::Code::INVALID_WIRE, "starts at byte");
    refused(patched(15, 0x7f), wye::Code::INVALID_WIRE, "sections are announced");
    refused(patched(16, 0), wye::Code::INVALID_WIRE, "the header announces");
    refused(patched(24, 2), wye::Code::INVALID_WIRE, "section HEAD is missing");
    refused(patched(24, 9), wye::Code::INVALID_WIRE, "section 0x9 is unknown");
    refused(patched(24, 0), wye::Code::INVALID_WIRE, "does not come after");
    refused(patched(48, 1), wye::Code::INVALID_WIRE, "does not come after");
    refused(patched(28, 1), wye::Code::INVALID_WIRE, "not zero");
    refused(patched(32, 80), wye::Code::INVALID_WIRE, "starts at byte 80, not at 72");
    refused(patched(47, 0xff), wye::Code::INVALID_WIRE, "past the end");
    auto longer = good;
    longer.push_back(std::byte{0});
    refused(longer, wye::Code::INVALID_WIRE, "the header announces");
    longer[16] = static_cast<std::byte>(longer.size());
    refused(longer, wye::Code::INVALID_WIRE, "left over");
    // Between HEAD (72..112) and BODY (112..) there is no gap; with a five-letter name there is.
    Wire gap = with_body({0});
    gap.section(1).insert(gap.section(1).begin() + 2, 0);
    gap.section(1)[0] = 5;
    auto bytes = gap.bytes();
    REQUIRE(decode(bytes).ok());
    REQUIRE(bytes.size() % 8 == 0);
    bytes[72 + 44] = std::byte{1};
    refused(bytes, wye::Code::INVALID_WIRE, "padding is not zero");
    Wire lone;
    lone.sections.push_back({1, test::head()});
    invalid(lone, "section BODY is missing");
}

TEST_CASE("head and declarations") {
    const auto with_head = [](std::size_t word, std::uint32_t value) {
        Wire wire = with_body({0});
        wire.section(1)[word] = value;
        return wire;
    };
    accepted(with_body({0}));
    limit(with_head(0, 65), "length of the name");
    invalid(with_head(0, 64), "64 bytes are announced");
    invalid(with_head(1, 0x00010070), "padding is not zero");
    invalid(with_head(3, 0), "axis is zero");
    limit(with_head(3, 4097), "workgroup size");
    limit(with_head(3, 0xffffffffU), "workgroup size");
    invalid(with_head(6, 2), "unknown flag");
    invalid(with_head(7, 3), "math set 3");
    invalid(with_head(8, 3), "grid kind");
    invalid(with_head(8, 1), "axes");
    invalid(with_head(9, 1), "axes");
    Wire grid = with_head(8, 1);
    grid.section(1)[9] = 1;
    auto& head = grid.section(1);
    head.insert(head.end(), {3, 1, 7, 0});
    accepted(grid);
    head[10] = 2;
    invalid(grid, "64-bit value");
    head[10] = 4;
    invalid(grid, "words are announced");
    head[10] = 3;
    head[11] = 0x00010001;
    invalid(grid, "immediate of a size operation");
    head[11] = 9;
    invalid(grid, "size operation 0x9 is unknown");
    head[11] = 0;
    invalid(grid, "size operation 0x0 is unknown");
    head[11] = 2;
    invalid(grid, "parameter 0 does not exist");
    head[11] = 3;
    invalid(grid, "buffer 0 does not exist");
    head.resize(11);
    head.insert(head.end(), {1, 7, 0, 9});
    head[10] = 4;
    invalid(grid, "left over");

    for (const std::uint32_t id : {2U, 3U, 4U, 5U, 7U}) {
        Wire wire = with_body({0});
        wire.section(id) = {0};
        invalid(wire, "must be left out");
        wire.section(id) = {};
        invalid(wire, "a word needs 4 bytes");
        wire.section(id) = {0xffffffffU};
        limit(wire, "number of");
        wire.section(id) = {1};
        invalid(wire, "are announced, but only 0 bytes are left");
    }
    Wire params = with_body({0});
    params.section(2) = {1, 1, 'n', 0x010e};
    invalid(params, "type code 0x10e");
    params.section(2) = {1, 1, 'n', 0x0103, 0};
    invalid(params, "left over");

    const auto with_buffer = [](std::size_t word, std::uint32_t value) {
        Wire wire = with_body({0});
        wire.section(3) = test::one_buffer();
        wire.section(3)[word] = value;
        return wire;
    };
    limit(with_buffer(3, 64), "binding number");
    invalid(with_buffer(4, 0), "role 0x0");
    invalid(with_buffer(4, 7), "role 0x7");
    invalid(with_buffer(5, 0x0503), "type code");
    invalid(with_buffer(6, 16), "unknown buffer flag");
    invalid(with_buffer(8, 3), "count kind");
    const auto with_hints = [&](std::uint32_t coalesce, std::uint32_t align,
                                std::uint32_t locality) {
        Wire wire = with_buffer(6, 8);
        auto& words = wire.section(3);
        words.insert(words.begin() + 8, {coalesce, align, locality});
        wire.minor = 1;
        return wire;
    };
    accepted(with_hints(3, 0, 0));
    accepted(with_hints(0, 1U << 20U, 0));
    accepted(with_hints(0, 0, 2));
    invalid(with_hints(4, 0, 0), "axis 0x4");
    limit(with_hints(0, (1U << 20U) + 1, 0), "preferred alignment");
    invalid(with_hints(0, 0, 3), "locality 0x3");
    invalid(with_hints(0, 0, 0), "must be left out");
    Wire older = with_hints(1, 0, 0);
    older.minor = 0;
    invalid(older, "version 1.0, but its contents are those of version 1.1");
    Wire newer = with_buffer(6, 0);
    newer.minor = 1;
    invalid(newer, "version 1.1, but its contents are those of version 1.0");
    Wire two = with_body({0});
    two.section(3) = test::one_buffer();
    const test::Words one = test::one_buffer();
    two.section(3).insert(two.section(3).end(), one.begin() + 1, one.end());
    two.section(3)[0] = 2;
    invalid(two, "does not come after binding 0");
    Wire huge = with_buffer(8, 1);
    huge.section(3).insert(huge.section(3).end(), {1, 256});
    limit(huge, "element count");

    const auto with_table = [](test::Words words) {
        Wire wire = with_body({0});
        words.insert(words.begin(), {1, 1, 't'});
        wire.section(4) = std::move(words);
        return wire;
    };
    accepted(with_table({0x0106, 1, 0x7e00}));
    invalid(with_table({0x0106, 1, 0x17e00}), "padding is not zero");
    invalid(with_table({0x0106, 1, 0x7e01}), "NaN");
    invalid(with_table({0x0107, 1, 0x7fc00001}), "NaN");
    invalid(with_table({0x0101, 1, 1}), "cannot hold bool");
    invalid(with_table({0x0207, 1, 1, 1}), "cannot hold f32x2");
    invalid(with_table({0x010a, 1, 1}), "cannot hold u8");
    invalid(with_table({0x0107, 2, 1}), "announced");
    limit(with_table({0x0107, 16385, 1}), "table elements");

    const auto with_function = [](test::Words words) {
        Wire wire = with_body({0});
        words.insert(words.begin(), {1, 1, 'f'});
        wire.section(5) = std::move(words);
        return wire;
    };
    accepted(with_function({0x0103, 0, 3, 0, 0x01030100, 0}));
    accepted(with_function({0x0103, 0, 2, 0, 0x00050103}));
    limit(with_function({0x0103, 17, 3, 0, 0x01030100, 0}), "arguments");
    invalid(with_function({0x0103, 0, 3, 0, 0x00050103, 0}), "left over");
    invalid(with_function({0x0103, 0, 4, 0, 0x01030100, 0}), "words are announced");
    invalid(with_function({0x0103, 0, 2, 0, 0x0000010d, 0}), "function (above the call) 0");

    Wire variant = with_body({0});
    variant.section(7) = {1, 0, 0, 0, 3, 0x00030201};
    accepted(variant);
    variant.section(7)[5] = 0x01030201;
    invalid(variant, "padding is not zero");
    variant.section(7)[4] = 0x02000001;
    limit(variant, "bytes of a variant");

    Wire names = with_body({1, 0x03 | 0x01030000});
    names.section(0x80000001U) = {1, 1, 'x'};
    accepted(names);
    names.section(0x80000001U) = {1, 0};
    invalid(names, "must be left out");
    names.section(0x80000001U) = {2, 1, 'x', 1, 'y'};
    invalid(names, "names for 2 locals");
    names.section(0x80000001U) = {1, 1, 'x', 0};
    invalid(names, "left over");
}

TEST_CASE("code") {
    accepted(with_let({0x01030100, 5}));
    invalid(with_let({0x01030100}), "a word needs 4 bytes");
    invalid(with_let({0x01030100, 5, 5}), "left over");
    invalid(with_let({0x0500}), "opcode 0x500 is unknown");
    invalid(with_let({0x0}), "opcode 0x0 is unknown");
    invalid(with_let({0x10}), "a statement is inside an expression");
    invalid(with_let({0x01010100, 2}), "not canonical");
    invalid(with_let({0x01060100, 0x10000}), "not canonical");
    invalid(with_let({0x01070100, 0xffc00000}), "not canonical");
    invalid(with_let({0x01080100, 1, 0x7ff80000}), "not canonical");
    accepted(with_let({0x01080100, 0, 0x7ff80000}));
    invalid(with_let({0x01080100, 0}), "64-bit value");
    invalid(with_let({0x01090100, 0}), "a literal cannot have type i8");
    invalid(with_let({0x02070100, 0}), "a literal cannot have type f32x2");
    invalid(with_let({0x010e0100, 0}), "type code");
    invalid(with_let({0x101}), "parameter 0 does not exist");
    invalid(with_let({0x102, 0}), "local 0 does not exist");  // a let's own value cannot use it
    invalid(with_let({0x00010102, 0}), "unused immediate");
    invalid(with_let({0x000a0103}), "built-in value 10");
    invalid(with_let({0x00010104}), "buffer 1 does not exist");
    invalid(with_let({0x106}), "table 0 does not exist");
    invalid(with_let({0x01070000 | 0x10e, 0x01070100, 0}), "not a vector type");
    invalid(with_let({0x00040110, 0x103}), "component 4");
    invalid(with_let({0x0112, 0x103}), "type code 0x0");
    invalid(with_let({0x00010203, 0x103, 0x103}), "unused immediate");
    invalid(with_let({0x203, 0x103, 0x400, 0x01030100, 0}), "is an effect inside an expression");
    accepted(with_let({0x400, 0x01030100, 0}));
    invalid(with_let({0x00010400, 0x01030100, 0}), "buffer 1");
    invalid(with_let({0x00010423, 0x01010100, 0}), "unused immediate");

    invalid(with_statement({0x103}), "an expression is not a statement");
    invalid(with_statement({0x09, 0x01030100, 0}), "without effect");
    invalid(with_statement({0x00010010}), "unused immediate");
    invalid(with_statement({0x0012}), "trap code 0");
    invalid(with_statement({0x05, 0, 0x103}), "local 0 does not exist");
    invalid(with_statement({0x00010007, 0x103, 0x103}), "buffer 1");
    invalid(with_statement({0x01030004, 0}), "no elements");
    limit(with_statement({0x01030004, 4097}), "local arrays");
    accepted(with_statement({0x01030004, 4096}));
    accepted(with_statement({0x01060004, 4096}));
    limit(with_statement({0x01060004, 4097}), "local arrays");  // f16 counts as 4 bytes
    invalid(with_statement({0x01100003}), "type code");

    Wire wire = with_body({2, 0x10});
    invalid(wire, "statements are announced");
    wire = with_body({0});
    wire.section(6)[0] = 2;
    invalid(wire, "words are announced");
    wire.section(6) = {1, 0, 0};
    invalid(wire, "left over");
    wire = with_body({1, 0x10, 0});
    invalid(wire, "left over");
}

TEST_CASE("nesting and depth stop at their limits") {
    const auto nested = [](unsigned blocks) {  // `blocks` in all, the body included
        test::Words body;
        for (unsigned i = 1; i < blocks; ++i) {
            body.insert(body.end(), {1, 0x0c, 0x01010100, 0});
        }
        body.push_back(0);
        return with_body(body);
    };
    accepted(nested(64));
    limit(nested(65), "nesting of blocks is 65");
    limit(nested(100000), "nesting of blocks is 65");
    const auto deep = [](unsigned nodes) {
        test::Words expression(nodes - 1, 0x202);
        expression.insert(expression.end(), {0x01010100, 0});
        return with_let(expression);
    };
    accepted(deep(128));
    limit(deep(129), "depth of an expression is 129");
    limit(deep(100000), "depth of an expression is 129");
    const auto size = [](unsigned nodes) {  // 1 + (1 + (1 + ...)): depth = operators + 1
        Wire wire = with_body({0});
        test::Words& head = wire.section(1);
        head[8] = 2;
        head[9] = 1;
        head.push_back(4 * nodes + 3);
        for (unsigned i = 0; i < nodes; ++i) head.insert(head.end(), {4, 1, 1, 0});
        head.insert(head.end(), {1, 1, 0});
        return wire;
    };
    accepted(size(127));
    limit(size(128), "depth of a size expression");
}

TEST_CASE("calls multiply, and the product is limited") {
    // f0 is one node. Each other function calls the function before four times.
    Wire wire = with_body({0});
    test::Words& f = wire.section(5);
    const unsigned count = 12;
    f = {count, 1, 'a', 0x0103, 0, 2, 0, 0x00050103};
    for (std::uint32_t i = 1; i < count; ++i) {
        f.insert(f.end(), {1, 'a' + i, 0x0103, 0, 8, 0});
        const std::uint32_t call = 0x10d | (i - 1) << 16;
        f.insert(f.end(), {0x203, 0x203, 0x203, call, call, call, call});
    }
    limit(wire, "calls inlined");
    f[0] = 3;
    f.resize(8 + 2 * 13);
    accepted(wire);
}

TEST_CASE("cut off anywhere, a program is refused") {
    for (const std::uint64_t seed : {3U, 14U, 15U, 92U}) {
        const auto wire = encode(test::scrambled(seed));
        REQUIRE(wire.ok());
        for (std::size_t size = 0; size < wire->size(); ++size) {
            const auto read = decode(std::span(*wire).first(size));
            CAPTURE(size);
            REQUIRE_FALSE(read.ok());
            CHECK(read.error().code == wye::Code::INVALID_WIRE);
        }
    }
}

TEST_CASE("a changed byte is refused or says what it says") {
    // Changed bytes that are accepted decode to a program whose encoding is the same bytes.
    constexpr std::size_t kParts = support::kSanitized ? 24 : 3;
    constexpr unsigned kChanges[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
    const support::Slice slice = support::Slice::of_this_run();
    std::size_t accepted_count = 0;
    std::size_t refused_count = 0;
    for (const std::uint64_t seed : {6U, 5U, 35U, 89U}) {
        const auto wire = encode(test::scrambled(seed));
        REQUIRE(wire.ok());
        for (std::size_t at = 0; at < wire->size(); ++at)
            for (std::size_t i = 0; i < std::size(kChanges); ++i) {
                if (!slice.has(at + i, kParts)) continue;
                const unsigned change = kChanges[i];
                auto bytes = *wire;
                bytes[at] ^= static_cast<std::byte>(change);
                const auto read = decode(bytes);
                if (!read.ok()) {
                    ++refused_count;
                    continue;
                }
                ++accepted_count;
                const auto again = encode(*read);
                CAPTURE(at);
                CAPTURE(change);
                REQUIRE_MESSAGE(again.ok(), (again.ok() ? std::string() : again.error().message));
                REQUIRE(*again == bytes);
            }
    }
    CHECK(accepted_count > 100);
    CHECK(refused_count > 100);
    std::printf("slice: changed bytes of programs, %s\n", slice.text(kParts).c_str());
}

}  // namespace test_malformed
