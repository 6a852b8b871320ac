// SPDX-License-Identifier: Apache-2.0
//
// Zeros, infinities, NaN, subnormals, whole numbers and ends of ranges, in all combinations. Where
// the C library, which follows Annex F of the C standard, gives zero, infinity or NaN, the
// functions give the same, with the same sign. Elsewhere the bound on the error holds.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "reference.hpp"

namespace {

template <typename T>
std::vector<T> special() {
    using Limits = std::numeric_limits<T>;
    const T whole = std::ldexp(T(1), Limits::digits);  // from this value on, every value is even
    std::vector<T> out = {Limits::quiet_NaN()};
    for (const T value : {T(0),
                          Limits::denorm_min(),
                          Limits::min() / 3,
                          Limits::min(),
                          Limits::epsilon(),
                          T(0.25),
                          T(1) / 3,
                          T(0.5),
                          T(1) - Limits::epsilon() / 2,
                          T(1),
                          T(1) + Limits::epsilon(),
                          T(1.5),
                          T(2),
                          T(2.5),
                          T(3),
                          T(4),
                          T(1023),
                          T(1025),
                          whole / 2 - 1,
                          whole / 2 + T(0.5),
                          whole - 1,
                          whole,
                          whole + 2,
                          Limits::max() / 2,
                          Limits::max(),
                          Limits::infinity()}) {
        out.push_back(value);
        out.push_back(-value);
    }
    return out;
}

double error(const reference::Function& f, double x, double y, float got) {
    return reference::error_f32(f, x, y, got);
}
double error(const reference::Function& f, double x, double y, double got) {
    return reference::error_f64(f, x, y, got);
}

// In set 2, all f32 results are correctly rounded.
double bound(unsigned set, float) { return set == 2 ? 0.5 : 0.51; }
double bound(unsigned, double) { return 1; }

template <typename T>
void check_all(unsigned set) {
    test::Evaluator cpu;
    const std::vector<T> values = special<T>();
    for (const reference::Function& f : reference::functions()) {
        if (f.set > set) continue;
        std::vector<T> x, y, r;
        for (const T a : values)
            for (const T b : f.arguments == 2 ? values : std::vector<T>{0}) {
                x.push_back(a);
                y.push_back(b);
            }
        if (f.arguments == 1) y.clear();
        cpu.run(set, f.name, x, y, r);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double b = y.empty() ? 0 : static_cast<double>(y[i]);
            const double exact = f.one != nullptr ? f.one(x[i]) : f.two(x[i], b);
            CAPTURE(std::string(f.name));
            CAPTURE(x[i]);
            CAPTURE(b);
            CAPTURE(r[i]);
            if (std::isnan(exact)) {
                CHECK(std::isnan(r[i]));
            } else if (std::isinf(exact) || exact == 0) {
                CHECK(r[i] == static_cast<T>(exact));
                CHECK(std::signbit(r[i]) == std::signbit(exact));
            } else {
                CHECK(error(f, x[i], b, r[i]) <= bound(set, r[i]));
            }
        }
    }
}

}  // namespace

TEST_CASE("set 1: special values as Annex F") {
    check_all<float>(1);
    check_all<double>(1);
}
TEST_CASE("set 2: special values as Annex F") {
    check_all<float>(2);
    check_all<double>(2);
}
