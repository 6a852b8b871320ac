// SPDX-License-Identifier: Apache-2.0
//
// Tests the library of emulations against the host's own arithmetic. The oracle evaluates the
// functions. The operands are special values, neighbours of hard cases and random bits.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "lower/middle/library.hpp"
#include "oracle/arithmetic.hpp"
#include "oracle/oracle.hpp"
#include "program/wire/encode.hpp"
#include "programs.hpp"
#include "support/random.hpp"

namespace {

// Runs the library on the oracle, with a main that stores `call` of xs[i], ys[i] and zs[i].
template <typename T>
std::vector<T> run(const std::string& call, const std::string& type,
                   const std::array<std::vector<T>, 3>& operands) {
    std::string text(wye::lower::middle::emulations_text());
    const std::string buffers = "workgroup 64; input xs: " + type + "[]; input ys: " + type +
                                "[]; input zs: " + type + "[]; output results: " + type +
                                "[len(xs)]; grid elements len(xs);";
    text.replace(text.find("workgroup 1;"), 12, buffers);
    text.replace(text.rfind("main {"), 6, "main { let i = global_id.x; results[i] = " + call + ";");
    oracle::Launch launch;
    for (const auto& values : operands) {
        launch.buffers.emplace_back(values.size() * sizeof(T));
        std::memcpy(launch.buffers.back().data(), values.data(), values.size() * sizeof(T));
    }
    launch.buffers.emplace_back();
    const auto wire = wye::ir::encode(valid_program(text), wye::ir::Notes::Drop);
    const oracle::Outcome outcome = oracle::run(*wire, launch);
    REQUIRE(outcome.error == "");
    std::vector<T> out(operands[0].size());
    REQUIRE(outcome.buffers[3].size() == out.size() * sizeof(T));
    std::memcpy(out.data(), outcome.buffers[3].data(), outcome.buffers[3].size());
    return out;
}

// Random and special values; the third operand of every other case nearly cancels the product of
// the first two.
template <typename T, typename Bits>
std::array<std::vector<T>, 3> operands(unsigned kind, std::size_t count) {
    support::Random random(kind);
    std::array<std::vector<T>, 3> out;
    for (std::size_t i = 0; i < count; ++i) {
        for (auto& values : out)
            values.push_back(
                std::bit_cast<T>(static_cast<Bits>(support::random_scalar(random, kind))));
        if (i % 2 == 0) {
            const T near = -(out[0][i] * out[1][i]);
            const auto nudge = static_cast<Bits>(random.below(5)) - Bits{2};
            out[2][i] = std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(near) + nudge));
        }
    }
    return out;
}

// The operands above, and values of every size up to the first floats without a fraction. Half of
// these values are multiples of 1/2.
template <typename T, typename Bits>
std::array<std::vector<T>, 3> around_whole(unsigned kind) {
    std::array<std::vector<T>, 3> out = operands<T, Bits>(kind, 3000);
    support::Random random(kind);
    for (int exponent = -3; exponent < std::numeric_limits<T>::digits + 2; ++exponent)
        for (int i = 0; i < 40; ++i) {
            const double fraction = 1 + static_cast<double>(random.next() >> 12U) * 0x1p-52;
            const T value = std::ldexp(static_cast<T>(fraction), exponent);
            const T chosen = i % 2 == 0 ? value : std::trunc(value * 2) / 2;
            out[0].push_back(i % 4 < 2 ? chosen : -chosen);
        }
    for (auto& values : out) values.resize(out[0].size());
    return out;
}

template <typename T, typename Bits>
void check(const std::string& call, const std::string& type,
           const std::array<std::vector<T>, 3>& given, const std::function<T(T, T, T)>& expected) {
    const std::vector<T> results = run<T>(call, type, given);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const T right = expected(given[0][i], given[1][i], given[2][i]);
        const bool same = std::isnan(right)
                              ? std::isnan(results[i])
                              : std::bit_cast<Bits>(right) == std::bit_cast<Bits>(results[i]);
        if (same || ++wrong > 3) continue;
        CAPTURE(given[0][i]);
        CAPTURE(given[1][i]);
        CAPTURE(given[2][i]);
        CHECK_MESSAGE(same, call, " gives ", results[i], ", not ", right);
    }
    CHECK_MESSAGE(wrong == 0, call);
}

void check32(const std::string& call, const std::function<float(float, float, float)>& expected) {
    check<float, std::uint32_t>(call, "f32", operands<float, std::uint32_t>(WYE_KIND_F32, 6000),
                                expected);
}
void check64(const std::string& call,
             const std::function<double(double, double, double)>& expected) {
    check<double, std::uint64_t>(call, "f64", operands<double, std::uint64_t>(WYE_KIND_F64, 6000),
                                 expected);
}

}  // namespace

TEST_CASE("emulated divisions and roots are correctly rounded") {
    check32("div32(xs[i], ys[i])", [](float a, float b, float) { return a / b; });
    check64("div64(xs[i], ys[i])", [](double a, double b, double) { return a / b; });
    // The inverse square root from which these functions start may be 4 ulp off.
    const std::string off = "bitcast<f32>(bitcast<u32>(1.0 / sqrt(";
    const std::string by = ")) + i % 9u - 4u))";
    const auto root = [](auto a, auto, auto) { return std::sqrt(a); };
    check64("div64_by_fma(xs[i], ys[i], " + off + "radicand_of_divisor64(ys[i])" + by,
            [](double a, double b, double) { return a / b; });
    check64("sqrt64_by_fma(xs[i], " + off + "radicand64(xs[i])" + by, root);
    const auto root_of_magnitude = [](auto a, auto, auto) { return std::sqrt(std::abs(a)); };
    check64("sqrt64_by_fma(abs(xs[i]), " + off + "radicand64(abs(xs[i]))" + by, root_of_magnitude);
    check32("sqrt32(xs[i])", [](float a, float, float) { return std::sqrt(a); });
    check64("sqrt64(xs[i])", [](double a, double, double) { return std::sqrt(a); });
    check32("sqrt32(abs(xs[i]))", [](float a, float, float) { return std::sqrt(std::fabs(a)); });
    check64("sqrt64(abs(xs[i]))", [](double a, double, double) { return std::sqrt(std::fabs(a)); });
}

TEST_CASE("emulated fused multiply and add rounds once") {
    const auto fma32 = [](float a, float b, float c) { return std::fma(a, b, c); };
    check32("fma32_in_integers(xs[i], ys[i], zs[i])", fma32);
    check64("fma64(xs[i], ys[i], zs[i])",
            [](double a, double b, double c) { return std::fma(a, b, c); });
}

TEST_CASE("emulated rounding to whole numbers") {
    const auto check_all = [](const std::string& width, const std::string& type,
                              const auto& given) {
        using T = typename std::decay_t<decltype(given[0])>::value_type;
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        const std::pair<const char*, T (*)(T)> operations[] = {
            {"floor", [](T a) { return std::floor(a); }},
            {"ceil", [](T a) { return std::ceil(a); }},
            {"trunc", [](T a) { return std::trunc(a); }},
            {"round", [](T a) { return std::nearbyint(a); }}};
        for (const auto& [name, right] : operations)
            check<T, Bits>(name + width + "(xs[i])", type, given,
                           [whole = right](T a, T, T) { return whole(a); });
    };
    check_all("32", "f32", around_whole<float, std::uint32_t>(WYE_KIND_F32));
    check_all("64", "f64", around_whole<double, std::uint64_t>(WYE_KIND_F64));
}

TEST_CASE("quotients by words") {
    support::Random random(10);
    std::array<std::vector<std::uint64_t>, 3> given;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t b = support::random_scalar(random, WYE_KIND_U64) >> random.below(64);
        const std::uint64_t divisor = b == 0 ? 1 : b;
        std::uint64_t a = support::random_scalar(random, WYE_KIND_U64) >> random.below(64);
        // At a multiple of the divisor, or just below it, an estimated digit may be one too large.
        if (i % 2 == 0) a = a / divisor * divisor - random.below(2);
        given[0].push_back(a);
        given[1].push_back(divisor);
        given[2].push_back(0);
    }
    const auto quotients = run<std::uint64_t>("quotient64(xs[i], ys[i])", "u64", given);
    const auto signed_quotients =
        run<std::uint64_t>("signed_quotient64(xs[i], ys[i])", "i64", given);
    for (std::size_t i = 0; i < quotients.size(); ++i) {
        const std::uint64_t a = given[0][i], b = given[1][i];
        CHECK(quotients[i] == a / b);
        if (a == std::uint64_t{1} << 63U && b == ~std::uint64_t{0}) continue;
        CHECK(signed_quotients[i] == static_cast<std::uint64_t>(static_cast<std::int64_t>(a) /
                                                                static_cast<std::int64_t>(b)));
    }
}
