// SPDX-License-Identifier: Apache-2.0
// Each operation on one value, compared with results that follow from the language's rules.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "assembler.hpp"
#include "oracle/arithmetic.hpp"
#include "oracle/oracle.hpp"

namespace test_operations {

namespace {

namespace as = assembler;
using u64 = std::uint64_t;

constexpr unsigned kI32 = WYE_KIND_I32;
constexpr unsigned kU32 = WYE_KIND_U32;
constexpr unsigned kI64 = WYE_KIND_I64;
constexpr unsigned kU64 = WYE_KIND_U64;
constexpr unsigned kF16 = WYE_KIND_F16;
constexpr unsigned kF32 = WYE_KIND_F32;
constexpr unsigned kF64 = WYE_KIND_F64;

unsigned bytes_of(unsigned kind) {
    return kind == kF16 ? 2 : kind == kI32 || kind == kU32 || kind == kF32 ? 4 : 8;
}

std::vector<std::byte> one(unsigned kind, u64 bits) {
    std::vector<std::byte> out(bytes_of(kind));
    std::memcpy(out.data(), &bits, out.size());
    return out;
}

// Runs op(a, b, ...) in a program of one invocation. `bool_result`: the result is a bool, which is
// converted to u32.
u64 calculate(std::uint32_t op, unsigned result, const std::vector<unsigned>& kinds,
              const std::vector<u64>& operands, std::uint32_t imm = 0, bool bool_result = false) {
    as::Program program;
    oracle::Launch launch;
    launch.groups = {1, 1, 1};
    as::Words expression = as::op(op, imm);
    for (std::uint32_t i = 0; i < operands.size(); ++i) {
        program.buffer(WYE_ROLE_INPUT, WYE_TYPE(kinds[i], 1), 1);
        launch.buffers.push_back(one(kinds[i], operands[i]));
        expression = as::join({expression, as::load(i, as::u32(0))});
    }
    if (bool_result) expression = as::op(WYE_OP_CONVERT, WYE_TYPE(kU32, 1), {}, {expression});
    program.buffer(WYE_ROLE_OUTPUT, WYE_TYPE(result, 1), 1);
    launch.buffers.emplace_back();
    program.main({as::store(static_cast<std::uint32_t>(operands.size()), as::u32(0), expression)});
    const oracle::Outcome outcome = oracle::run(program.wire(), launch);
    REQUIRE(outcome.error == "");
    u64 bits = 0;
    std::memcpy(&bits, outcome.buffers.back().data(), outcome.buffers.back().size());
    return bits;
}

u64 f(float x) { return std::bit_cast<std::uint32_t>(x); }
u64 d(double x) { return std::bit_cast<u64>(x); }
u64 i32(std::int32_t x) { return static_cast<std::uint32_t>(x); }
u64 i64(std::int64_t x) { return static_cast<u64>(x); }

constexpr u64 kNan32 = 0x7fc00000;
constexpr u64 kNan64 = 0x7ff8000000000000;
constexpr u64 kMin32 = 0x80000000;
constexpr u64 kMin64 = 0x8000000000000000;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kInf32 = std::numeric_limits<float>::infinity();

struct Row {
    std::uint32_t op;
    unsigned kind;  // of the operands (shift counts are u32) and of the result
    std::vector<u64> operands;
    u64 expected;
};

}  // namespace

TEST_CASE("integer operations") {
    const std::vector<Row> rows = {
        {WYE_OP_ADD, kI32, {i32(2147483647), 1}, kMin32},
        {WYE_OP_SUB, kU32, {0, 1}, 0xffffffff},
        {WYE_OP_MUL, kI32, {i32(-3), i32(5)}, i32(-15)},
        {WYE_OP_MUL, kU64, {0xffffffffffffffff, 0xffffffffffffffff}, 1},
        {WYE_OP_NEG, kI32, {kMin32}, kMin32},
        {WYE_OP_NEG, kI64, {5}, i64(-5)},
        {WYE_OP_DIV, kI32, {i32(-7), 2}, i32(-3)},
        {WYE_OP_DIV, kI32, {i32(-7), 0}, i32(-7)},
        {WYE_OP_DIV, kI32, {kMin32, i32(-1)}, kMin32},
        {WYE_OP_DIV, kI64, {kMin64, i64(-1)}, kMin64},
        {WYE_OP_DIV, kU32, {0xfffffff0, 16}, 0x0fffffff},
        {WYE_OP_DIV, kU64, {9, 0}, 9},
        {WYE_OP_REM, kI32, {i32(-7), 2}, i32(-1)},
        {WYE_OP_REM, kI32, {i32(7), i32(-2)}, 1},
        {WYE_OP_REM, kI32, {i32(-7), 0}, 0},
        {WYE_OP_REM, kI32, {kMin32, i32(-1)}, 0},
        {WYE_OP_REM, kI64, {kMin64, i64(-1)}, 0},
        {WYE_OP_AND, kU32, {0b1100, 0b1010}, 0b1000},
        {WYE_OP_OR, kU32, {0b1100, 0b1010}, 0b1110},
        {WYE_OP_XOR, kU32, {0b1100, 0b1010}, 0b0110},
        {WYE_OP_NOT, kU32, {0x0000ffff}, 0xffff0000},
        {WYE_OP_NOT, kI64, {0}, 0xffffffffffffffff},
        {WYE_OP_SHL, kU32, {1, 31}, 0x80000000},
        {WYE_OP_SHL, kU32, {1, 32}, 1},
        {WYE_OP_SHL, kI64, {3, 65}, 6},
        {WYE_OP_SHR, kI32, {i32(-8), 1}, i32(-4)},
        {WYE_OP_SHR, kU32, {0x80000000, 31}, 1},
        {WYE_OP_SHR, kI64, {kMin64, 63}, 0xffffffffffffffff},
        {WYE_OP_SHR, kU64, {kMin64, 63}, 1},
        {WYE_OP_SHR, kI32, {i32(-8), 33}, i32(-4)},
        {WYE_OP_ROTL, kU32, {0x80000001, 4}, 0x00000018},
        {WYE_OP_ROTL, kU32, {0x12345678, 32}, 0x12345678},
        {WYE_OP_ROTR, kU32, {0x12345678, 8}, 0x78123456},
        {WYE_OP_ROTR, kU64, {1, 1}, kMin64},
        {WYE_OP_POPCOUNT, kI32, {i32(-1)}, 32},
        {WYE_OP_POPCOUNT, kU64, {kMin64 | 1}, 2},
        {WYE_OP_CLZ, kU32, {0}, 32},
        {WYE_OP_CLZ, kU32, {1}, 31},
        {WYE_OP_CLZ, kU64, {0}, 64},
        {WYE_OP_CLZ, kI64, {1}, 63},
        {WYE_OP_CTZ, kU32, {0}, 32},
        {WYE_OP_CTZ, kI32, {kMin32}, 31},
        {WYE_OP_CTZ, kU64, {0}, 64},
        {WYE_OP_REVERSE_BITS, kU32, {0x00000001}, 0x80000000},
        {WYE_OP_REVERSE_BITS, kU64, {0x00000000000000f0}, 0x0f00000000000000},
        {WYE_OP_MUL_HI, kU32, {0xffffffff, 0xffffffff}, 0xfffffffe},
        {WYE_OP_MUL_HI, kI32, {i32(-1), 1}, 0xffffffff},
        {WYE_OP_MUL_HI, kU64, {0xffffffffffffffff, 0xffffffffffffffff}, 0xfffffffffffffffe},
        {WYE_OP_MUL_HI, kI64, {kMin64, kMin64}, 0x4000000000000000},
        {WYE_OP_ADD_SAT, kI32, {i32(2147483647), 1}, i32(2147483647)},
        {WYE_OP_ADD_SAT, kI32, {kMin32, i32(-1)}, kMin32},
        {WYE_OP_ADD_SAT, kU32, {0xffffffff, 2}, 0xffffffff},
        {WYE_OP_ADD_SAT, kI64, {i64(9223372036854775807), 1}, i64(9223372036854775807)},
        {WYE_OP_ADD_SAT, kU64, {0xffffffffffffffff, 1}, 0xffffffffffffffff},
        {WYE_OP_SUB_SAT, kU32, {1, 2}, 0},
        {WYE_OP_SUB_SAT, kI32, {kMin32, 1}, kMin32},
        {WYE_OP_SUB_SAT, kI64, {i64(9223372036854775807), i64(-1)}, i64(9223372036854775807)},
        {WYE_OP_ABS, kI32, {i32(-5)}, 5},
        {WYE_OP_ABS, kI32, {kMin32}, kMin32},
        {WYE_OP_ABS, kI64, {kMin64}, kMin64},
        {WYE_OP_MIN, kI32, {i32(-5), 3}, i32(-5)},
        {WYE_OP_MIN, kU32, {i32(-5), 3}, 3},
        {WYE_OP_MAX, kI64, {i64(-5), 3}, 3},
        {WYE_OP_MAX, kU64, {i64(-5), 3}, i64(-5)},
        {WYE_OP_CLAMP, kI32, {i32(-9), i32(-5), 5}, i32(-5)},
        {WYE_OP_CLAMP, kU32, {7, 9, 3}, 3},  // min(max(x, lo), hi) where lo > hi
    };
    for (const Row& r : rows) {
        CAPTURE(r.op);
        CAPTURE(r.kind);
        CAPTURE(r.operands);
        std::vector<unsigned> kinds(r.operands.size(), r.kind);
        if (r.op == WYE_OP_SHL || r.op == WYE_OP_SHR || r.op == WYE_OP_ROTL || r.op == WYE_OP_ROTR)
            kinds[1] = kU32;
        CHECK(calculate(r.op, r.kind, kinds, r.operands) == r.expected);
    }
}

TEST_CASE("float operations") {
    const std::vector<Row> rows = {
        {WYE_OP_ADD, kF32, {f(1.0F), f(2.5F)}, f(3.5F)},
        {WYE_OP_ADD, kF32, {f(kInf32), f(-kInf32)}, kNan32},
        {WYE_OP_ADD, kF32, {0xffc12345, f(1.0F)}, kNan32},      // any NaN is stored canonical
        {WYE_OP_ADD, kF32, {1, 1}, 2},                          // subnormals are kept
        {WYE_OP_ADD, kF32, {0x4b800000, f(1.0F)}, 0x4b800000},  // 2^24 + 1: a tie goes to even
        {WYE_OP_SUB, kF64, {d(0.3), d(0.1)}, d(0.3 - 0.1)},
        {WYE_OP_MUL, kF32, {0x00800000, f(0.5F)}, 0x00400000},
        {WYE_OP_MUL, kF64, {d(0.1), d(0.1)}, 0x3f847ae147ae147c},
        {WYE_OP_DIV, kF32, {f(1.0F), f(3.0F)}, 0x3eaaaaab},
        {WYE_OP_DIV, kF64, {d(1.0), d(-0.0)}, d(-kInf)},
        {WYE_OP_DIV, kF64, {d(0.0), d(0.0)}, kNan64},
        {WYE_OP_SQRT, kF32, {f(2.0F)}, 0x3fb504f3},
        {WYE_OP_SQRT, kF64, {d(2.0)}, 0x3ff6a09e667f3bcd},
        {WYE_OP_SQRT, kF32, {f(-0.0F)}, f(-0.0F)},
        {WYE_OP_SQRT, kF64, {d(-1.0)}, kNan64},
        {WYE_OP_NEG, kF32, {f(0.0F)}, f(-0.0F)},
        {WYE_OP_ABS, kF64, {d(-kInf)}, d(kInf)},
        {WYE_OP_COPYSIGN, kF32, {f(3.0F), f(-0.0F)}, f(-3.0F)},
        {WYE_OP_COPYSIGN, kF32, {f(-3.0F), 0xffc00000}, f(3.0F)},  // a NaN counts as plus
        {WYE_OP_MIN, kF32, {f(0.0F), f(-0.0F)}, f(-0.0F)},
        {WYE_OP_MAX, kF32, {f(-0.0F), f(0.0F)}, f(0.0F)},
        {WYE_OP_MIN, kF64, {kNan64, d(1.0)}, d(1.0)},
        {WYE_OP_MIN, kF64, {d(1.0), kNan64}, d(1.0)},
        {WYE_OP_MAX, kF64, {kNan64, d(-kInf)}, d(-kInf)},
        {WYE_OP_MAX, kF32, {kNan32, kNan32}, kNan32},
        {WYE_OP_CLAMP, kF32, {kNan32, f(1.0F), f(2.0F)}, f(1.0F)},
        {WYE_OP_FLOOR, kF32, {f(-0.5F)}, f(-1.0F)},
        {WYE_OP_CEIL, kF32, {f(-0.5F)}, f(-0.0F)},
        {WYE_OP_TRUNC, kF64, {d(-1.9)}, d(-1.0)},
        {WYE_OP_ROUND, kF64, {d(2.5)}, d(2.0)},
        {WYE_OP_ROUND, kF64, {d(-3.5)}, d(-4.0)},
        {WYE_OP_ROUND, kF32, {f(-0.25F)}, f(-0.0F)},
        // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: only a single rounding keeps the last term.
        {WYE_OP_FMA,
         kF32,
         {f(1.000244140625F), f(1.000244140625F), f(-1.00048828125F)},
         0x33800000},
        // 0.1 * 10 - 1 = 2^-54 exactly.
        {WYE_OP_FMA, kF64, {d(0.1), d(10.0), d(-1.0)}, 0x3c90000000000000},
        {WYE_OP_FMA, kF32, {f(kInf32), f(0.0F), f(1.0F)}, kNan32},
        {WYE_OP_ADD, kF16, {0x3c00, 0x3c00}, 0x4000},
        {WYE_OP_ADD, kF16, {0x7bff, 0x7bff}, 0x7c00},
        {WYE_OP_ADD, kF16, {0x7bff, 0x4c00}, 0x7c00},  // 65504 + 16 = 65520: a tie goes to infinity
        {WYE_OP_MUL, kF16, {0x0001, 0x3800}, 0x0000},  // half the smallest: a tie goes to zero
        {WYE_OP_MUL, kF16, {0x0003, 0x3800}, 0x0002},
        {WYE_OP_DIV, kF16, {0x3c00, 0x4200}, 0x3555},
        {WYE_OP_SQRT, kF16, {0x4000}, 0x3da8},
        {WYE_OP_NEG, kF16, {0x3c00}, 0xbc00},
        {WYE_OP_ADD, kF16, {0xfe01, 0x3c00}, 0x7e00},
        {WYE_OP_MIN, kF16, {0x0000, 0x8000}, 0x8000},
        {WYE_OP_ROUND, kF16, {0x3e00}, 0x4000},  // 1.5
    };
    for (const Row& r : rows) {
        CAPTURE(r.op);
        CAPTURE(r.kind);
        CAPTURE(r.operands);
        const std::vector<unsigned> kinds(r.operands.size(), r.kind);
        CHECK(calculate(r.op, r.kind, kinds, r.operands) == r.expected);
    }
}

TEST_CASE("comparisons and tests give bools") {
    struct Test {
        std::uint32_t op;
        unsigned kind;
        std::vector<u64> operands;
        bool expected;
    };
    const std::vector<Test> rows = {
        {WYE_OP_LT, kI32, {i32(-1), 0}, true},      {WYE_OP_LT, kU32, {i32(-1), 0}, false},
        {WYE_OP_GE, kI64, {i64(-1), 0}, false},     {WYE_OP_GT, kU64, {kMin64, 1}, true},
        {WYE_OP_EQ, kF32, {kMin32, 0}, true},       {WYE_OP_NE, kF64, {kNan64, kNan64}, true},
        {WYE_OP_EQ, kF64, {kNan64, kNan64}, false}, {WYE_OP_LE, kF32, {kNan32, 0}, false},
        {WYE_OP_GE, kF32, {0, kNan32}, false},      {WYE_OP_LE, kI32, {3, 3}, true},
        {WYE_OP_ISNAN, kF32, {0xff800001}, true},   {WYE_OP_ISNAN, kF32, {0x7f800000}, false},
        {WYE_OP_ISINF, kF64, {d(-kInf)}, true},     {WYE_OP_ISINF, kF16, {0x7c01}, false},
        {WYE_OP_ISNAN, kF16, {0x7c01}, true},       {WYE_OP_LT, kF16, {0x8001, 0x0000}, true},
    };
    for (const Test& r : rows) {
        CAPTURE(r.op);
        CAPTURE(r.operands);
        const std::vector<unsigned> kinds(r.operands.size(), r.kind);
        CHECK(calculate(r.op, kU32, kinds, r.operands, 0, true) == (r.expected ? 1U : 0U));
    }
}

TEST_CASE("conversions") {
    struct Conversion {
        unsigned from;
        u64 bits;
        unsigned to;
        u64 expected;
    };
    const std::vector<Conversion> rows = {
        {kI32, i32(-1), kI64, 0xffffffffffffffff},
        {kI32, i32(-1), kU64, 0xffffffffffffffff},
        {kU32, 0xffffffff, kI64, 0xffffffff},
        {kU64, 0x1234567890abcdef, kI32, 0x90abcdef},
        {kF32, f(-1.5F), kI32, i32(-1)},
        {kF32, f(-1.5F), kU32, 0},
        {kF32, f(3e9F), kI32, 0x7fffffff},
        {kF32, f(-3e9F), kI32, kMin32},
        {kF32, f(3e9F), kU32, 3000000000U},
        {kF32, kNan32, kI64, 0},
        {kF64, d(1e300), kU64, 0xffffffffffffffff},
        {kF64, d(-1e300), kI64, kMin64},
        {kF64, d(9223372036854775807.0), kI64, 0x7fffffffffffffff},
        {kF64, d(4294967295.9), kU32, 0xffffffff},
        {kU32, 0xffffffff, kF32, 0x4f800000},
        {kI32, i32(-16777217), kF32, f(-16777216.0F)},
        {kU64, 0xffffffffffffffff, kF64, 0x43f0000000000000},
        {kU64, 0x1000001000000001, kF32, 0x5d800001},  // one rounding, not two through f64
        {kI64, i64(-5), kF64, d(-5.0)},
        {kF64, d(1e300), kF32, f(kInf32)},
        {kF64, d(-1e-50), kF32, f(-0.0F)},
        {kF64, kNan64 | 1, kF32, kNan32},
        {kF32, 0xff812345, kF64, kNan64},
        {kF32, f(65519.0F), kF16, 0x7bff},
        {kF32, f(65520.0F), kF16, 0x7c00},
        {kF32, f(-1.0F), kF16, 0xbc00},
        // 1 + 2^-11 + 2^-40: through f32 it would be a tie and go down.
        {kF64, 0x3ff0020000001000, kF16, 0x3c01},
        {kF16, 0x0001, kF64, d(5.9604644775390625e-08)},
        {kF16, 0xfc00, kF32, f(-kInf32)},
        {kI32, 2049, kF16, 0x6800},
        {kU64, 0xffffffffffffffff, kF16, 0x7c00},
        {kF16, 0xc500, kI32, i32(-5)},
    };
    for (const Conversion& r : rows) {
        CAPTURE(r.from);
        CAPTURE(r.bits);
        CAPTURE(r.to);
        CHECK(calculate(WYE_OP_CONVERT, r.to, {r.from}, {r.bits}, WYE_TYPE(r.to, 1)) == r.expected);
    }
}

TEST_CASE("bitcasts keep bits, and make NaNs canonical") {
    CHECK(calculate(WYE_OP_BITCAST, kU32, {kF32}, {f(1.0F)}, WYE_TYPE(kU32, 1)) == 0x3f800000);
    CHECK(calculate(WYE_OP_BITCAST, kU32, {kF32}, {0xff812345}, WYE_TYPE(kU32, 1)) == kNan32);
    CHECK(calculate(WYE_OP_BITCAST, kI64, {kF64}, {kNan64 | 5}, WYE_TYPE(kI64, 1)) == kNan64);
    CHECK(calculate(WYE_OP_BITCAST, kF32, {kI32}, {0x40490fdb}, WYE_TYPE(kF32, 1)) == 0x40490fdb);
    CHECK(calculate(WYE_OP_BITCAST, kU64, {kI64}, {kMin64}, WYE_TYPE(kU64, 1)) == kMin64);
}

TEST_CASE("f16 rounding is right at, below and above every half way point") {
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const double here = oracle::to_double(kF16, bits);
        const double next = bits == 0x7bff ? 65536.0 : oracle::to_double(kF16, bits + 1);
        CHECK(oracle::half_from_double(here) == bits);
        CHECK(oracle::half_from_double(-here) == (bits | 0x8000));
        const double middle = (here + next) / 2;  // exact
        CHECK(oracle::half_from_double(middle) == (bits % 2 == 0 ? bits : bits + 1));
        CHECK(oracle::half_from_double(std::nextafter(middle, 0.0)) == bits);
        CHECK(oracle::half_from_double(std::nextafter(middle, kInf)) == bits + 1);
    }
}

TEST_CASE("bf16 rounding is right at, below and above half way points") {
    for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
        const auto middle = std::bit_cast<float>(bits << 16 | 0x8000);
        CHECK(oracle::bf16_from_float(std::bit_cast<float>(bits << 16)) == bits);
        CHECK(oracle::bf16_from_float(middle) == (bits % 2 == 0 ? bits : bits + 1));
        CHECK(oracle::bf16_from_float(std::nextafterf(middle, 0.0F)) == bits);
        CHECK(oracle::bf16_from_float(std::nextafterf(middle, kInf32)) == bits + 1);
    }
}

// fma in f64, compared with exact arithmetic: the product and the sum fit in 128-bit integers.
TEST_CASE("the host's fma rounds once") {
    __extension__ using Wide = __int128;
    std::uint64_t state = 1;
    const auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int64_t>(state >> 11) - (std::int64_t{1} << 52);
    };
    for (int i = 0; i < 20000; ++i) {
        // a and b: integers between -2^52 and 2^52. c: minus their product, rounded to f64.
        const std::int64_t a = next();
        const std::int64_t b = next();
        const Wide product = static_cast<Wide>(a) * b;
        const auto c = -static_cast<double>(product);
        // The rounding error of the product fits f64 exactly.
        const Wide rest = product + static_cast<Wide>(c);
        const u64 got = calculate(WYE_OP_FMA, kF64, {kF64, kF64, kF64},
                                  {d(static_cast<double>(a)), d(static_cast<double>(b)), d(c)});
        CHECK(std::bit_cast<double>(got) == static_cast<double>(rest));
    }
}

TEST_CASE("math functions are refused by name") {
    as::Program program;
    program.buffer(WYE_ROLE_OUTPUT, WYE_TYPE(kF32, 1), 1);
    const as::Words one_f32 = as::op(WYE_OP_LITERAL, WYE_TYPE(kF32, 1), {0x3f800000});
    program.main({as::store(0, as::u32(0), as::op(WYE_OP_SIN, 0, {}, {one_f32}))});
    oracle::Launch launch;
    launch.groups = {1, 1, 1};
    launch.buffers.emplace_back();
    CHECK(oracle::run(program.wire(), launch).error.find("math function") != std::string::npos);
}

}  // namespace test_operations
