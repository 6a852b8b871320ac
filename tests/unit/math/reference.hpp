// SPDX-License-Identifier: Apache-2.0
//
// Expected results of math functions: from the system's f64 functions as a quick first check, and
// from MPFR with 420 bits for the exact value. Not thread-safe: MPFR's variables are kept between
// calls.
#pragma once

#include <span>
#include <string_view>

namespace reference {

struct Function {
    std::string_view name;
    int arguments;
    double (*one)(double);          // the system's function, with an error of about 1 ulp
    double (*two)(double, double);  // the same, for two arguments
    unsigned set = 1;               // the lowest math set that has the function
};
[[nodiscard]] std::span<const Function> functions();
[[nodiscard]] const Function& function(std::string_view name);

// The exact value rounded once, subnormals and overflow included. `y` is ignored where the function
// has one argument.
[[nodiscard]] float rounded_f32(const Function& f, double x, double y);
[[nodiscard]] double rounded_f64(const Function& f, double x, double y);

// |got - exact| in ulp of the exact value, where an ulp is at least the least subnormal. Special
// values: 0 if `got` is the right infinity or zero, or a NaN where the exact function has no value;
// else infinity.
[[nodiscard]] double error_f32(const Function& f, double x, double y, float got);
[[nodiscard]] double error_f64(const Function& f, double x, double y, double got);

}  // namespace reference
