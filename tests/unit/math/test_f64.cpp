// SPDX-License-Identifier: Apache-2.0
//
// f64 results, compared with MPFR on sampled arguments: of every size, near whole numbers, near
// multiples of pi/2 and near the ends of ranges. Further samples are compared with the system's
// functions first, and with MPFR only where these differ. WYE_MATH_SAMPLES=N draws N samples.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "reference.hpp"
#include "support/random.hpp"

namespace {

double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

double argument(support::Random& random, double other) {
    const double fraction = std::ldexp(static_cast<double>(random.next() >> 11U), -53);  // [0, 1)
    const double sign = random.chance(50) ? -1 : 1;
    const auto exponent = [&](int low, int high) {
        return static_cast<int>(random.between(low, high));
    };
    switch (random.below(8)) {
        case 0:
            return from_bits(random.next());
        case 1:
            return sign * fraction;
        case 2:
            return sign * std::ldexp(1 + fraction, exponent(-40, 11));
        case 3:  // near a multiple of pi/2
            return sign * static_cast<double>(random.next() >> (random.below(64))) *
                   1.5707963267948966;
        case 4:  // near 1, and near the other argument
            return (random.chance(50) ? 1 : other) *
                   (1 + sign * std::ldexp(fraction, -exponent(1, 50)));
        case 5:
            return static_cast<double>(random.between(-2000, 2000)) * 0.5;
        case 6:
            return sign * (700 + 50 * fraction);  // where exp overflows or underflows
        default:
            return sign * std::ldexp(1 + fraction, exponent(-8, 5));
    }
}

bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("f64: at most 1 ulp") {
    constexpr std::size_t kExact = 8000;  // MPFR judges each of the first 8000 samples
    std::size_t samples = 150000;
    if (const char* text = std::getenv("WYE_MATH_SAMPLES")) samples = std::stoul(text);
    test::Evaluator cpu;
    support::Random random(3);
    for (const reference::Function& f : reference::functions()) {
        std::vector<double> x(samples), y, r;
        for (double& value : x) value = argument(random, 1);
        if (f.arguments == 2)
            for (const double value : x) y.push_back(argument(random, value));
        cpu.run(f.set, f.name, x, y, r);
        double worst = 0, worst_x = 0, worst_y = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            const double b = y.empty() ? 0 : y[i];
            if (i >= kExact && same(r[i], f.one != nullptr ? f.one(x[i]) : f.two(x[i], b)))
                continue;
            const double error = reference::error_f64(f, x[i], b, r[i]);
            if (error <= worst) continue;
            worst = error;
            worst_x = x[i];
            worst_y = b;
        }
        std::printf("f64 %-5s worst %.4f ulp at %a %a\n", std::string(f.name).c_str(), worst,
                    worst_x, worst_y);
        CHECK_MESSAGE(worst <= 1, std::string(f.name));
    }
}
