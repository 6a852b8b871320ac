// SPDX-License-Identifier: Apache-2.0
//
// Math functions of the language on many values, on the CPU through the public API: r[i] = f(x[i],
// y[i]).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace test {

class Evaluator {
  public:
    Evaluator();

    // Runs the function in a program that uses this math set. `y` is empty for functions of one
    // argument. T: float or double. Fails the test case when a call is refused.
    template <typename T>
    void run(unsigned set, std::string_view function, const std::vector<T>& x,
             const std::vector<T>& y, std::vector<T>& r);

  private:
    wye::Context context_;
    wye::Device device_;
    std::map<std::string, wye::Program> programs_;
};

}  // namespace test
