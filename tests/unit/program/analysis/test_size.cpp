// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "program/analysis/analysis.hpp"
#include "text_helpers.hpp"

namespace test_size {

using namespace wye::ir;

namespace {

constexpr std::uint64_t kMinusOne = 0xffffffff;  // an i32 parameter's bits

wye::Result<std::uint64_t> size(const std::string& text) {
    const ParseResult result = parse(
        "wye 1; program t; workgroup 1; param n: u32; param i: i32; param w: u64; param j: i64;\n"
        "input x: u32[]; input y: u32[" +
        text + " + 0 * n]; main { }");
    REQUIRE(result.ok());
    const std::uint64_t params[] = {7, kMinusOne, 1ULL << 63, 0x8000000000000000ULL};
    const std::uint64_t lengths[] = {1ULL << 40, 0};
    return evaluate_size(result.program.buffers[1].size, result.program, params, lengths, "count");
}

}  // namespace

TEST_CASE("sizes are exact") {
    struct Row {
        const char* text;
        std::uint64_t value;
    };
    for (const Row& row :
         {Row{"n", 7}, Row{"n * n - 1", 48}, Row{"n / 2", 3}, Row{"1 - i", 2},
          Row{"len(x)", 1ULL << 40}, Row{"len(x) * 4096 * 1024", 1ULL << 62},
          Row{"w - 1", (1ULL << 63) - 1}, Row{"w * 4 / 8", 1ULL << 62},
          Row{"(w - 1) * (w - 1) / (w - 1)", (1ULL << 63) - 1},
          Row{"5 + i / 2", 4},  // rounds down: -1 / 2 is -1
          Row{"(n + 63) / 64 * 64", 64}, Row{"18446744073709551615 / 3", 6148914691236517205ULL}}) {
        CAPTURE(std::string(row.text));
        const auto value = size(row.text);
        REQUIRE(value.ok());
        CHECK(*value == row.value);
    }
}

TEST_CASE("sizes that no buffer can have are refused") {
    struct Row {
        const char* text;
        const char* message;
    };
    for (const Row& row :
         {Row{"n - 8", "count is negative: -1"}, Row{"i", "negative: -1"},
          Row{"n / (n - 7)", "by zero"}, Row{"w", "2^63 or more: 9223372036854775808"},
          Row{"j", "negative"}, Row{"w * w * w", "overflows"}, Row{"j * w * 2", "overflows"}}) {
        CAPTURE(std::string(row.text));
        const auto value = size(row.text);
        REQUIRE(!value.ok());
        CHECK(value.error().code == wye::Code::INVALID_ARGUMENT);
        CHECK(value.error().message.find(row.message) != std::string::npos);
        CHECK(value.error().fix.rfind("Fix: ", 0) == 0);
    }
}

TEST_CASE("values that are missing are no crash") {
    const Program p;
    CHECK(!evaluate_size({{WYE_SIZE_PARAM, 3, 0}}, p, {}, {}, "x").ok());
    CHECK(!evaluate_size({{WYE_SIZE_LEN, 3, 0}}, p, {}, {}, "x").ok());
    CHECK(!evaluate_size({{WYE_SIZE_ADD, 0, 0}}, p, {}, {}, "x").ok());
    CHECK(!evaluate_size({}, p, {}, {}, "x").ok());
}

}  // namespace test_size
