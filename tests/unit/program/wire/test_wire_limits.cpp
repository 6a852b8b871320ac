// SPDX-License-Identifier: Apache-2.0
// Wrong counts must not make the reader allocate much. This program counts allocated bytes.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "wire_bytes.hpp"
#include "wye/sdk/wire.hpp"

namespace {

std::atomic<std::size_t> allocated{0};

}  // namespace

// Not inlined, since GCC 12 would report `new` and `delete` as mismatched.
__attribute__((noinline)) void* operator new(std::size_t size) {
    allocated += size;
    if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
    throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using namespace wye::ir;

namespace {

// The total bytes that decode allocates for these bytes, which must be refused.
std::size_t cost_of_refusing(const std::vector<std::byte>& bytes) {
    const std::size_t before = allocated;
    const auto read = decode(bytes);
    const std::size_t cost = allocated - before;
    CHECK_FALSE(read.ok());
    return cost;
}

test::Wire sums(std::uint32_t statements) {
    // Each statement is `let = 1u + 2u * 3u`, with five expressions.
    test::Words body{statements};
    for (std::uint32_t i = 0; i < statements; ++i)
        body.insert(body.end(), {0x01, 0x203, 0x01030100, 1, 0x205, 0x01030100, 2, 0x01030100, 3});
    return test::with_body(body);
}

}  // namespace

TEST_CASE("a count larger than the bytes allocates next to nothing") {
    constexpr std::size_t kSmall = 32768;
    for (const std::uint32_t count : {0xffffffffU, 0x7fffffffU, 0x00100000U, 1000U}) {
        CAPTURE(count);
        CHECK(cost_of_refusing(test::with_body({count}).bytes()) < kSmall);
        CHECK(cost_of_refusing(test::with_body({count, count, count, count}).bytes()) < kSmall);
        for (const std::uint32_t id : {2U, 3U, 4U, 5U, 7U}) {
            test::Wire wire = test::with_body({0});
            wire.section(id) = {count};
            CHECK(cost_of_refusing(wire.bytes()) < kSmall);
            wire.section(id) = {1, count, count};
            CHECK(cost_of_refusing(wire.bytes()) < kSmall);
            wire.section(id) = {1, 1, 'x', 0x0103, count, count};
            CHECK(cost_of_refusing(wire.bytes()) < kSmall);
        }
        test::Wire wire = test::with_body({0});
        wire.section(1)[0] = count;
        CHECK(cost_of_refusing(wire.bytes()) < kSmall);
        wire = test::with_body({0});
        wire.section(1)[8] = 1;
        wire.section(1)[9] = 1;
        wire.section(1).push_back(count);
        CHECK(cost_of_refusing(wire.bytes()) < kSmall);
    }
}

TEST_CASE("nested counts that each fit do not add up") {
    // 60 nested loops, each announcing as many statements as there are bytes for.
    test::Words body;
    for (unsigned i = 0; i < 60; ++i) body.insert(body.end(), {100000, 0x0c, 0x01010100, 0});
    body.resize(body.size() + 200000);
    const auto bytes = test::with_body(body).bytes();
    CHECK(cost_of_refusing(bytes) < 65536);
}

TEST_CASE("what is accepted costs a small multiple of its bytes") {
    const auto bytes = sums(20000).bytes();
    const std::size_t before = allocated;
    CHECK(decode(bytes).ok());
    const std::size_t growth = allocated - before;  // includes what growing vectors freed
    CHECK(growth < 40 * bytes.size());
}

TEST_CASE("the numbers of statements and of locals are limited") {
    const auto refused = [](const test::Wire& wire, const char* part) {
        const auto read = decode(wire.bytes());
        REQUIRE_FALSE(read.ok());
        CHECK(read.error().code == wye::Code::LIMIT_EXCEEDED);
        CHECK_MESSAGE(read.error().message.find(part) != std::string::npos, read.error().message);
    };
    const auto zeros = [](std::uint32_t count) {
        test::Words body{count};
        body.resize(count + 1, 0x01030003);
        return test::with_body(body);
    };
    CHECK(decode(zeros(65535).bytes()).ok());
    refused(zeros(65536), "number of locals is 65536");
    const auto barriers = [](std::uint32_t count) {
        test::Words body{count};
        body.resize(count + 1, 0x10);
        return test::with_body(body);
    };
    CHECK(decode(barriers(1U << 20U).bytes()).ok());
    refused(barriers((1U << 20U) + 1), "number of statements");
    // With 60 nodes in each statement, the program has too many nodes before too many statements.
    test::Words body{80000};
    for (unsigned i = 0; i < 80000; ++i) {
        body.insert(body.end(), {0x0c});
        body.insert(body.end(), 60, 0x202);
        body.insert(body.end(), {0x01010100, 0, 0});
    }
    refused(test::with_body(body), "number of nodes");
}
