// SPDX-License-Identifier: Apache-2.0
//
// Expected results of math functions: by the system's f64 functions as a quick first check, by MPFR
// with 160 bits for the exact value. Not thread-safe: MPFR's variables are kept between calls.
#pragma once

#include <span>
#include <string_view>

namespace reference {

struct Function {
    std::string_view name;
    int arguments;
    double (*one)(double);          // the system's, about 1 ulp
    double (*two)(double, double);  // the same, of two arguments
    unsigned set = 1;               // the lowest math set that has the function
};
[[nodiscard]] std::span<const Function> functions();
[[nodiscard]] const Function& function(std::string_view name);

// The exact value rounded once, subnormals and overflow included. `y` is ignored where the function
// has one argument.
[[nodiscard]] float rounded_f32(const Function& f, double x, double y);
[[nodiscard]] double rounded_f64(const Function& f, double x, double y);

// |got - exact| in units of the last place of the exact value (the least subnormal's at least); 0
// for the right infinity or zero and for NaN where the exact function has none; else infinity.
[[nodiscard]] double error_f32(const Function& f, double x, double y, float got);
[[nodiscard]] double error_f64(const Function& f, double x, double y, double got);

}  // namespace reference
