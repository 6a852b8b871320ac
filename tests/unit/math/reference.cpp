// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace reference {
namespace {

// If y / x is exactly the middle of two subnormal f32, its arctangent is lower by only about 2^-298
// of that value. This many bits show the difference.
constexpr mpfr_prec_t kBits = 420;

using One = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Two = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// For sinpi and cospi, which the system lacks. The rest of x after whole turns is exact, and so is
// the distance of the rest from the nearest quarter of a turn.
double sine_of_turns(double x, int quarters, double zero) {
    const double rest = x - 2 * std::rint(x / 2);
    const double whole = std::rint(2 * rest);
    const long double angle = M_PIl * static_cast<long double>(rest - whole / 2);
    if (std::isnan(angle)) return rest;
    const auto q = static_cast<unsigned>(static_cast<int>(whole) + quarters) & 3U;
    const long double sine = (q & 1U) == 0 ? std::sin(angle) : std::cos(angle);
    if (sine == 0) return zero;
    return static_cast<double>((q & 2U) == 0 ? sine : -sine);
}

struct Row {
    Function function;
    One exact_one;
    Two exact_two;
};

const Row kRows[] = {
    {{"exp", 1, std::exp, nullptr}, mpfr_exp, nullptr},
    {{"exp2", 1, std::exp2, nullptr}, mpfr_exp2, nullptr},
    {{"exp10", 1, ::exp10, nullptr}, mpfr_exp10, nullptr},
    {{"log", 1, std::log, nullptr}, mpfr_log, nullptr},
    {{"log2", 1, std::log2, nullptr}, mpfr_log2, nullptr},
    {{"log10", 1, std::log10, nullptr}, mpfr_log10, nullptr},
    {{"sin", 1, std::sin, nullptr}, mpfr_sin, nullptr},
    {{"cos", 1, std::cos, nullptr}, mpfr_cos, nullptr},
    {{"tan", 1, std::tan, nullptr}, mpfr_tan, nullptr},
    {{"asin", 1, std::asin, nullptr}, mpfr_asin, nullptr},
    {{"acos", 1, std::acos, nullptr}, mpfr_acos, nullptr},
    {{"atan", 1, std::atan, nullptr}, mpfr_atan, nullptr},
    {{"atan2", 2, nullptr, std::atan2}, nullptr, mpfr_atan2},
    {{"sinh", 1, std::sinh, nullptr}, mpfr_sinh, nullptr},
    {{"cosh", 1, std::cosh, nullptr}, mpfr_cosh, nullptr},
    {{"tanh", 1, std::tanh, nullptr}, mpfr_tanh, nullptr},
    {{"pow", 2, nullptr, std::pow}, nullptr, mpfr_pow},
    {{"rsqrt", 1, [](double x) { return 1 / std::sqrt(x); }, nullptr}, mpfr_rec_sqrt, nullptr},
    {{"cbrt", 1, std::cbrt, nullptr}, mpfr_cbrt, nullptr},
    {{"hypot", 2, nullptr, std::hypot}, nullptr, mpfr_hypot},
    {{"erf", 1, std::erf, nullptr}, mpfr_erf, nullptr},
    {{"expm1", 1, std::expm1, nullptr, 2}, mpfr_expm1, nullptr},
    {{"log1p", 1, std::log1p, nullptr, 2}, mpfr_log1p, nullptr},
    {{"sinpi", 1, [](double x) { return sine_of_turns(x, 0, std::copysign(0.0, x)); }, nullptr, 2},
     mpfr_sinpi,
     nullptr},
    {{"cospi", 1, [](double x) { return sine_of_turns(x, 1, 0.0); }, nullptr, 2},
     mpfr_cospi,
     nullptr},
};

// MPFR variables that live as long as the process.
struct Variables {
    mpfr_t x, y, result, difference;
    Variables() { mpfr_inits2(kBits, x, y, result, difference, nullptr); }
    ~Variables() { mpfr_clears(x, y, result, difference, nullptr); }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;
};
Variables& variables() {
    static Variables v;
    return v;
}

mpfr_srcptr exact(const Function& f, double x, double y) {
    Variables& v = variables();
    mpfr_set_d(v.x, x, MPFR_RNDN);
    mpfr_set_d(v.y, y, MPFR_RNDN);
    const auto row = std::ranges::find(kRows, f.name, [](const Row& r) { return r.function.name; });
    if (f.arguments == 1)
        row->exact_one(v.result, v.x, MPFR_RNDN);
    else
        row->exact_two(v.result, v.x, v.y, MPFR_RNDN);
    // The reciprocal square root of -0: C23 says -infinity, MPFR says +infinity.
    if (f.name == "rsqrt" && x == 0) mpfr_set_inf(v.result, std::signbit(x) ? -1 : 1);
    return v.result;
}

template <typename T>
T rounded(mpfr_srcptr value) {
    if constexpr (sizeof(T) == 4) return mpfr_get_flt(value, MPFR_RNDN);
    return mpfr_get_d(value, MPFR_RNDN);
}

template <typename T>
double error(const Function& f, double x, double y, T got) {
    using Limits = std::numeric_limits<T>;
    const double wrong = std::numeric_limits<double>::infinity();
    const mpfr_srcptr want = exact(f, x, y);
    if (mpfr_nan_p(want)) return std::isnan(got) ? 0 : wrong;
    if (std::isnan(got)) return wrong;
    if (mpfr_inf_p(want) || mpfr_zero_p(want)) {
        const T value = rounded<T>(want);
        return got == value && std::signbit(got) == std::signbit(value) ? 0 : wrong;
    }
    if (std::signbit(got) != (mpfr_sgn(want) < 0)) return wrong;
    const mpfr_exp_t least = Limits::min_exponent - Limits::digits;
    const mpfr_exp_t unit = std::max<mpfr_exp_t>(mpfr_get_exp(want) - Limits::digits, least);
    Variables& v = variables();
    if (std::isinf(got)) {
        mpfr_set_ui_2exp(v.difference, 1, Limits::max_exponent, MPFR_RNDN);
        if (got < 0) mpfr_neg(v.difference, v.difference, MPFR_RNDN);
    } else {
        mpfr_set_d(v.difference, got, MPFR_RNDN);
    }
    mpfr_sub(v.difference, v.difference, want, MPFR_RNDN);
    // Beyond the largest value, an ulp is that of the largest value.
    mpfr_mul_2si(v.difference, v.difference,
                 -std::min<mpfr_exp_t>(unit, Limits::max_exponent - Limits::digits), MPFR_RNDN);
    if (std::isinf(got) && mpfr_get_exp(want) > Limits::max_exponent) return 0;
    return std::fabs(mpfr_get_d(v.difference, MPFR_RNDN));
}

}  // namespace

std::span<const Function> functions() {
    static const auto all = [] {
        std::array<Function, std::size(kRows)> out;
        std::ranges::transform(kRows, out.begin(), &Row::function);
        return out;
    }();
    return all;
}

const Function& function(std::string_view name) {
    for (const Function& f : functions())
        if (f.name == name) return f;
    throw std::runtime_error("no math function `" + std::string(name) + "`");
}

float rounded_f32(const Function& f, double x, double y) { return rounded<float>(exact(f, x, y)); }
double rounded_f64(const Function& f, double x, double y) {
    return rounded<double>(exact(f, x, y));
}
double error_f32(const Function& f, double x, double y, float got) { return error(f, x, y, got); }
double error_f64(const Function& f, double x, double y, double got) { return error(f, x, y, got); }

}  // namespace reference
