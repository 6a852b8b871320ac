// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16, against exact arithmetic in double that is rounded by scaling: every f16
// through every operation of one operand, every f16 and bf16 through conversions and memory, pairs
// of edges and a million random pairs through the others, on each kernel build.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "edges.hpp"
#include "rig.hpp"
#include "support/half.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace {

using Half = std::uint16_t;

using support::half_of_value;
using support::value_of_half;

std::vector<Half> all_halves() {
    std::vector<Half> out(65536);
    for (unsigned n = 0; n < 65536; ++n) out[n] = static_cast<Half>(n);
    return out;
}

// Runs `r[i] = text` with x, y, z at i, and the results as they lie in memory.
template <typename R>
std::vector<R> compute(test::Rig& rig, const std::string& text, const std::string& type,
                       const std::string& result, const std::vector<test::Bytes>& inputs,
                       std::size_t count) {
    std::string head = "wye 1; program op; workgroup 64;";
    std::string body = "grid elements len(r); main { let i = global_id.x; if i < len(r) { ";
    std::vector<test::Bytes> buffers = inputs;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
        const std::string name(1, "xyz"[n]);
        head += "input b" + name + ": " + type + "[];";
        body += "let " + name + " = b" + name + "[i];";
    }
    buffers.emplace_back(count * sizeof(R));
    test::Loaded program(rig, head + "output r: " + result + "[" + std::to_string(count) + "];" +
                                  body + "r[i] = " + text + "; } }");
    REQUIRE(program.failure().message == "");
    const auto run = program.run({}, buffers);
    REQUIRE(run.failure.message == "");
    return test::values_of<R>(run.buffers.back());
}

template <typename R>
void compare(const std::string& text, const std::vector<R>& got, const std::vector<R>& wanted) {
    std::size_t different = 0;
    for (std::size_t n = 0; n < got.size(); ++n) {
        if (test::bits_of(got[n]) == test::bits_of(wanted[n])) continue;
        if (different++ == 0)
            MESSAGE(text << " at " << n << ": " << got[n] << " is not " << wanted[n]);
    }
    CAPTURE(text);
    CHECK(different == 0);
}

// Every f16 through an operation of one operand.
void unary(test::Rig& rig, const std::string& text, const std::function<double(double)>& op) {
    const std::vector<Half> x = all_halves();
    std::vector<Half> wanted;
    for (const Half h : x) wanted.push_back(half_of_value(op(value_of_half(h))));
    compare(text, compute<Half>(rig, text, "f16", "f16", {test::bytes_of(x)}, x.size()), wanted);
}

struct Triples {
    std::vector<Half> x, y, z;
};

// Pairs of edges (each zero, infinity, NaN, the ends of the ranges, ties), then random ones.
Triples triples(std::size_t random_count) {
    const std::vector<Half> edges = {0,      0x8000, 1,      0x8001, 2,      0x3ff,  0x400,  0x401,
                                     0x7fff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x7bff, 0xfbff, 0x7bfe,
                                     0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x3555, 0x4200, 0xc200,
                                     0x0800, 0x0bff, 0x0c00, 0x1400, 0x5bff, 0x5c00, 0x6400, 0x6401,
                                     0x83ff, 0x8400, 0x7800, 0x2e66};
    Triples out;
    for (const Half a : edges)
        for (const Half b : edges)
            for (const Half c : {a, b, Half(0x8000), Half(0x7bff)})
                out.x.push_back(a), out.y.push_back(b), out.z.push_back(c);
    support::Random random(16);
    for (std::size_t n = 0; n < random_count; ++n) {
        out.x.push_back(static_cast<Half>(support::random_scalar(random, WYE_KIND_F16)));
        out.y.push_back(static_cast<Half>(support::random_scalar(random, WYE_KIND_F16)));
        out.z.push_back(static_cast<Half>(support::random_scalar(random, WYE_KIND_F16)));
    }
    return out;
}

using Ternary = std::function<double(double, double, double)>;

void ternary(test::Rig& rig, const Triples& in, const std::string& text, const Ternary& op) {
    std::vector<Half> wanted;
    for (std::size_t n = 0; n < in.x.size(); ++n)
        wanted.push_back(half_of_value(
            op(value_of_half(in.x[n]), value_of_half(in.y[n]), value_of_half(in.z[n]))));
    compare(text,
            compute<Half>(rig, text, "f16", "f16",
                          {test::bytes_of(in.x), test::bytes_of(in.y), test::bytes_of(in.z)},
                          in.x.size()),
            wanted);
}

double smaller(double x, double y) {
    if (std::isnan(x)) return y;
    if (std::isnan(y)) return x;
    if (x == y) return std::signbit(x) ? x : y;
    return x < y ? x : y;
}
double larger(double x, double y) { return -smaller(-x, -y); }

template <typename T>
std::vector<T> random_values(std::size_t count, unsigned kind) {
    support::Random random(count + kind);
    return test::values_of<T>(support::random_scalars(random, kind, count));
}

template <typename T>
void to_halves(test::Rig& rig, unsigned kind) {
    std::vector<T> x = random_values<T>(200000, kind);
    for (const T e : test::edges<T>()) x.push_back(e);
    // Around every tie between two f16, and every f16.
    for (unsigned n = 0; n < 0x7c00; ++n) {
        const double a = value_of_half(static_cast<Half>(n));
        const double b = n == 0x7bff ? 65536 : value_of_half(static_cast<Half>(n + 1));
        if constexpr (std::is_floating_point_v<T>) {
            const T tie = T((a + b) / 2);
            for (const T v : {tie, std::nextafter(tie, T(0)), std::nextafter(tie, T(1e9)), T(-tie)})
                x.push_back(v);
        } else if (a >= 1024) {
            for (const T v : {T((a + b) / 2), T((a + b) / 2 - 1), T((a + b) / 2 + 1)})
                x.push_back(v);
        }
    }
    std::vector<Half> wanted;
    for (const T v : x) {
        // 2^60 and beyond are infinite; below, the integers that matter are exact in double.
        const double d = std::fabs(double(v)) > 1e6 ? std::copysign(1e6, double(v)) : double(v);
        wanted.push_back(half_of_value(d));
    }
    const std::string type = test::name_of<T>();
    compare("f16(" + type + ")",
            compute<Half>(rig, "f16(x)", type, "f16", {test::bytes_of(x)}, x.size()), wanted);
}

template <typename T>
void from_halves(test::Rig& rig, const std::function<T(double)>& convert) {
    const std::vector<Half> x = all_halves();
    std::vector<T> wanted;
    for (const Half h : x) wanted.push_back(test::stored(convert(value_of_half(h))));
    const std::string text = test::name_of<T>() + "(x)";
    compare(text, compute<T>(rig, text, "f16", test::name_of<T>(), {test::bytes_of(x)}, x.size()),
            wanted);
}

template <typename T>
T saturated(double x) {
    using L = std::numeric_limits<T>;
    if (std::isnan(x)) return 0;
    if (std::isinf(x)) return x > 0 ? L::max() : L::min();
    return x < double(L::min()) ? L::min() : T(x);  // no finite f16 passes the largest
}

}  // namespace

TEST_CASE("every f16 through operations of one operand") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        unary(rig, "x", [](double x) { return x; });
        unary(rig, "-x", [](double x) { return -x; });
        unary(rig, "abs(x)", [](double x) { return std::fabs(x); });
        unary(rig, "sqrt(x)", [](double x) { return std::sqrt(x); });
        unary(rig, "floor(x)", [](double x) { return std::floor(x); });
        unary(rig, "ceil(x)", [](double x) { return std::ceil(x); });
        unary(rig, "trunc(x)", [](double x) { return std::trunc(x); });
        unary(rig, "round(x)", [](double x) { return std::nearbyint(x); });
        unary(rig, "f16(isnan(x))", [](double x) { return std::isnan(x) ? 1 : 0; });
        unary(rig, "f16(isinf(x))", [](double x) { return std::isinf(x) ? 1 : 0; });
        unary(rig, "x * x + 0.1f16",
              [](double x) { return value_of_half(half_of_value(x * x)) + value_of_half(0x2e66); });
    }
}

TEST_CASE("f16 arithmetic is f32 arithmetic that is rounded once more") {
    const Triples in = triples(1000000);
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        ternary(rig, in, "x + y", [](double x, double y, double) { return x + y; });
        ternary(rig, in, "x - y", [](double x, double y, double) { return x - y; });
        ternary(rig, in, "x * y", [](double x, double y, double) { return x * y; });
        ternary(rig, in, "x / y", [](double x, double y, double) { return x / y; });
        // Two roundings, to f32 and to f16, as the language says.
        ternary(rig, in, "fma(x, y, z)", [](double x, double y, double z) {
            const auto product = static_cast<float>(x * y);  // exact
            return static_cast<double>(product + static_cast<float>(z));
        });
        ternary(rig, in, "min(x, y)", [](double x, double y, double) { return smaller(x, y); });
        ternary(rig, in, "max(x, y)", [](double x, double y, double) { return larger(x, y); });
        ternary(rig, in, "clamp(x, y, z)",
                [](double x, double y, double z) { return smaller(larger(x, y), z); });
        ternary(rig, in, "copysign(x, y)", [](double x, double y, double) {
            return std::copysign(x, std::isnan(y) ? 1.0 : y);
        });
        ternary(rig, in, "select(x < y, y, z)",
                [](double x, double y, double z) { return x < y ? y : z; });
        ternary(rig, in, "f16((x == y) || (x >= z))",
                [](double x, double y, double z) { return x == y || x >= z ? 1 : 0; });
    }
}

TEST_CASE("conversions to f16 round once, from f16 they are exact") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        to_halves<float>(rig, WYE_KIND_F32);
        to_halves<double>(rig, WYE_KIND_F64);
        to_halves<std::int32_t>(rig, WYE_KIND_I32);
        to_halves<std::uint32_t>(rig, WYE_KIND_U32);
        to_halves<std::int64_t>(rig, WYE_KIND_I64);
        to_halves<std::uint64_t>(rig, WYE_KIND_U64);
        from_halves<float>(rig, [](double x) { return static_cast<float>(x); });
        from_halves<double>(rig, [](double x) { return x; });
        from_halves<std::int32_t>(rig, saturated<std::int32_t>);
        from_halves<std::uint32_t>(rig, saturated<std::uint32_t>);
        from_halves<std::int64_t>(rig, saturated<std::int64_t>);
        from_halves<std::uint64_t>(rig, saturated<std::uint64_t>);
    }
}

TEST_CASE("u32 and f16x2 are the same bits but for NaNs, low half first") {
    const std::vector<Half> x = all_halves();
    std::vector<std::uint32_t> pairs;
    std::vector<std::uint32_t> wanted;
    for (const Half low : x) {
        const Half high = static_cast<Half>(low * 40503U);  // odd, so every one comes up
        pairs.push_back(std::uint32_t{high} << 16 | low);
        wanted.push_back(std::uint32_t{half_of_value(value_of_half(low))} << 16 |
                         half_of_value(value_of_half(high)));
    }
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        const std::string text = "bitcast<u32>(f16x2(bitcast<f16x2>(x).y, bitcast<f16x2>(x).x))";
        compare(
            text,
            compute<std::uint32_t>(rig, text, "u32", "u32", {test::bytes_of(pairs)}, pairs.size()),
            wanted);
    }
}

TEST_CASE("bf16 elements: loads are exact, stores round to nearest even") {
    const std::vector<Half> x = all_halves();
    std::vector<float> exact;
    for (const Half bits : x)
        exact.push_back(test::stored(std::bit_cast<float>(std::uint32_t{bits} << 16)));
    std::vector<float> wide = random_values<float>(500000, WYE_KIND_F32);
    for (unsigned n = 0; n < 65536; ++n)  // ties and what stands beside them
        for (const unsigned low : {0x7fffU, 0x8000U, 0x8001U})
            wide.push_back(std::bit_cast<float>(n << 16 | low));
    std::vector<Half> wanted;
    for (const float v : wide) wanted.push_back(support::bf16_of_value(v));
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        compare("load", compute<float>(rig, "x", "bf16", "f32", {test::bytes_of(x)}, x.size()),
                exact);
        compare("store",
                compute<Half>(rig, "x", "f32", "bf16", {test::bytes_of(wide)}, wide.size()),
                wanted);
    }
}

TEST_CASE("f16 literals, tables, shared and local arrays, vectors out of order and out of range") {
    test::Rig rig;
    test::Loaded program(rig, R"(wye 1; program mixed; workgroup 4;
        table t: f16[4] = { 0.1f16, -inf_f16, nan_f16, 0x1p-24f16 };
        input x: f16x3[]; shared s: f16[4]; output r: f16[16];
        main {
            var a: f16x2[3];
            let i = local_index;
            s[i] = t[i] + 1.0f16;
            a[i] = f16x2(t[i], x[i].z);
            barrier;
            r[i] = s[3u - i];
            r[i + 4u] = a[i].x;
            r[i + 8u] = a[i].y;
            r[i + 12u] = x[i * 2u].y;
        })");
    REQUIRE(program.failure().message == "");
    const std::vector<Half> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto run = program.run({}, {test::bytes_of(x), test::Bytes(32)}, {{1, 1, 1}});
    REQUIRE(run.failure.message == "");
    const std::vector<Half> wanted = {0x3c00, 0x7e00, 0xfc00, 0x3c66, 0x2e66, 0xfc00, 0x7e00, 0,
                                      3,      6,      9,      0,      2,      8,      0,      0};
    CHECK(test::values_of<Half>(run.buffers[1]) == wanted);
}
