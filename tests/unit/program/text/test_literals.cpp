// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "program/text/literal.hpp"

namespace test_literals {

using namespace wye::ir;

namespace {

LiteralValue read(const std::string& text, bool negative = false) {
    const Number number = scan_number(text);
    CHECK_MESSAGE(number.problem.empty(), text << ": " << number.problem);
    return literal_value(number, negative);
}

std::uint64_t f32_bits(const std::string& text) { return read(text).bits; }
std::uint64_t f64_bits(const std::string& text) { return read(text + "f64").bits; }

// The exact value of a half, by its definition.
double half(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023);
    return exponent == 0 ? std::ldexp(fraction, -24)
                         : std::ldexp(1 + fraction / 1024, exponent - 15);
}

}  // namespace

TEST_CASE("literals carry their type") {
    struct Row {
        const char* text;
        Type type;
        std::uint64_t bits;
    };
    const Row rows[] = {
        {"0", kI32, 0},
        {"2147483647", kI32, 0x7fffffff},
        {"1_000", kI32, 1000},
        {"0xff", kI32, 255},
        {"0b1010_1010", kI32, 170},
        {"4294967295u", kU32, 0xffffffff},
        {"0xffff_ffffu", kU32, 0xffffffff},
        {"9223372036854775807i64", kI64, 0x7fffffffffffffff},
        {"18446744073709551615u64", kU64, ~0ULL},
        {"1.5", kF32, 0x3fc00000},
        {"1e3", kF32, 0x447a0000},
        {"1E-3", kF32, 0x3a83126f},
        {"1.0f64", kF64, 0x3ff0000000000000},
        {"1.0f16", kF16, 0x3c00},
        {"65504.0f16", kF16, 0x7bff},
        {"0x1.8p3", kF32, 0x41400000},
        {"0x1p-149", kF32, 1},
        {"0x1p-150", kF32, 0},                            // a tie, to even
        {"0x1.8p-150", kF32, 1},                          // above the tie
        {"0x1.000001p0", kF32, 0x3f800000},               // a tie, to even
        {"0x1.000003p0", kF32, 0x3f800002},               // a tie, to even, upwards
        {"0x1.0000010000000000001p0", kF32, 0x3f800001},  // far digits decide
        {"0x1.fffffffffffffp1023f64", kF64, 0x7fefffffffffffff},
        {"0x1p-1074f64", kF64, 1},
        {"0x1p-24f16", kF16, 1},
        {"0xffep4f16", kF16, 0x7bff},
        {"1e-50", kF32, 0},
        {"5e-324f64", kF64, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.text));
        const LiteralValue value = read(row.text);
        CHECK(value.problem.empty());
        CHECK(value.type == row.type);
        CHECK(value.bits == row.bits);
    }
}

TEST_CASE("a sign belongs to the literal") {
    CHECK(read("2147483648", true).bits == 0x80000000);
    CHECK(read("2147483648", true).problem.empty());
    CHECK(read("9223372036854775808i64", true).bits == 0x8000000000000000);
    CHECK(read("0.0", true).bits == 0x80000000);
    CHECK(read("1.0f16", true).bits == 0xbc00);
    CHECK(read("0x1p0f64", true).bits == 0xbff0000000000000);
}

TEST_CASE("out of range is refused") {
    for (const char* text :
         {"2147483648", "4294967296u", "0x1_0000_0000u", "9223372036854775808i64",
          "18446744073709551616u64", "99999999999999999999999", "3.5e38", "1e400", "1.8e308f64",
          "65520.0f16", "1e999999999999999999999", "0x1p128", "0x1p1024f64", "0x1.ffffffp127",
          "0x1p16f16"}) {
        CAPTURE(text);
        const LiteralValue value = read(text);
        CHECK(!value.problem.empty());
        CHECK(value.fix.rfind("Fix: ", 0) == 0);
    }
    CHECK(!read("2147483649", true).problem.empty());
    CHECK(!read("1u", true).problem.empty());
}

TEST_CASE("malformed numbers are named") {
    struct Row {
        const char* text;
        const char* part;
    };
    for (const Row& row : {Row{"1__0", "`_`"}, Row{"1_", "`_`"}, Row{"0x", "hexadecimal"},
                           Row{"0b", "binary"}, Row{"0b12", "binary digit"}, Row{"1.5f", "`f`"},
                           Row{"1i32", "`i32`"}, Row{"1u32", "`u32`"}, Row{"1f64", "float suffix"},
                           Row{"1.0u", "integer suffix"}, Row{"0x1.8", "exponent"},
                           Row{"1e", "exponent"}, Row{"1q", "suffix"}, Row{"0X1", "lower case"}}) {
        CAPTURE(std::string(row.text));
        const Number number = scan_number(row.text);
        CHECK(number.problem.find(row.part) != std::string::npos);
        CHECK(number.fix.rfind("Fix: ", 0) == 0);
    }
}

TEST_CASE("decimal floats round as strtof and strtod do") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string text = std::to_string(random() % 10) + "." + std::to_string(random());
        if (random() % 2 != 0) text += std::to_string(random());
        const int exponent = static_cast<int>(random() % 700) - 350;
        text += "e" + std::to_string(random() % 3 == 0 ? exponent : exponent / 9);
        CAPTURE(text);
        const float f = std::strtof(text.c_str(), nullptr);
        const double d = std::strtod(text.c_str(), nullptr);
        CHECK(f32_bits(text) == std::bit_cast<std::uint32_t>(f));
        CHECK(f64_bits(text) == std::bit_cast<std::uint64_t>(d));
    }
}

// No exponents near subnormal doubles, where glibc's strtod rounds hexadecimal digits wrongly.
TEST_CASE("hexadecimal floats round to the nearest") {
    std::mt19937_64 random(8);
    const auto digits = [&random](unsigned least_shift, int exponent) {
        char text[64];
        std::snprintf(text, sizeof text, "0x%x.%llxp%d", static_cast<unsigned>(random() % 16),
                      static_cast<unsigned long long>(random() >> (least_shift + random() % 40)),
                      exponent);
        return std::string(text);
    };
    for (int i = 0; i < 20000; ++i) {
        const std::string wide = digits(0, static_cast<int>(random() % 1900) - 900);
        CAPTURE(wide);
        CHECK(f64_bits(wide) == std::bit_cast<std::uint64_t>(std::strtod(wide.c_str(), nullptr)));
        // At most 52 bits are exact as a double, which the processor then rounds.
        const std::string narrow = digits(16, static_cast<int>(random() % 270) - 150);
        CAPTURE(narrow);
        const auto rounded = static_cast<float>(std::strtod(narrow.c_str(), nullptr));
        if (!std::isinf(rounded)) CHECK(f32_bits(narrow) == std::bit_cast<std::uint32_t>(rounded));
    }
}

TEST_CASE("halves round to the nearest, through f64") {
    std::mt19937_64 random(9);
    for (int i = 0; i < 5000; ++i) {
        const double value =
            std::ldexp(double(random() % 100000) / 99999.0, int(random() % 30) - 15);
        char text[64];
        std::snprintf(text, sizeof text, "%.20ff16", value);
        const double exact = std::strtod(text, nullptr);
        const std::uint64_t bits = read(text).bits;
        CAPTURE(text);
        const double error = std::abs(half(bits) - exact);
        CHECK(error <= std::abs(half(bits + 1) - exact));
        if (bits > 0) CHECK(error <= std::abs(half(bits - 1) - exact));
    }
}

TEST_CASE("printing reads back to the same bits") {
    std::mt19937_64 random(10);
    const auto back = [](Type type, std::uint64_t bits) {
        const std::string text = literal_text(type, bits);
        CAPTURE(text);
        const bool negative = text[0] == '-';
        const LiteralValue value = read(text.substr(negative ? 1 : 0), negative);
        CHECK(value.problem.empty());
        CHECK(value.type == type);
        CHECK(value.bits == bits);
    };
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits)
        if ((bits & 0x7c00) != 0x7c00) back(kF16, bits);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = random();
        const auto low = static_cast<std::uint32_t>(bits);
        if ((low & 0x7f800000) != 0x7f800000) back(kF32, low);
        if ((bits >> 52 & 0x7ff) != 0x7ff) back(kF64, bits);
        back(kI32, low);
        back(kU32, low);
        back(kI64, bits);
        back(kU64, bits);
    }
    CHECK(literal_text(kF32, 0x3dcccccd) == "0.1");
    CHECK(literal_text(kF32, 0x42c80000) == "100.0");
    CHECK(literal_text(kF32, 0x7149f2ca) == "1e30");
    CHECK(literal_text(kF32, 0x80000000) == "-0.0");
    CHECK(literal_text(kF16, 0x2e66) == "0.1f16");
    CHECK(literal_text(kF64, 0x3fb999999999999a) == "0.1f64");
    CHECK(literal_text(kF32, 0xff800000) == "-inf_f32");
    CHECK(literal_text(kF64, 0x7ff8000000000000) == "nan_f64");
    CHECK(literal_text(kI32, 0x80000000) == "-2147483648");
    CHECK(literal_text(kBool, 1) == "true");
}

}  // namespace test_literals
