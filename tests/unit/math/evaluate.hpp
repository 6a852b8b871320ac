// SPDX-License-Identifier: Apache-2.0
//
// Math functions of the language on many values, through the public API: r[i] = f(x[i], y[i]).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace test {

// The text of the program that is run.
template <typename T>
[[nodiscard]] std::string program_text(std::string_view function, bool two_arguments);

class Evaluator {
  public:
    // A selector such as "cpu" or "opencl:0".
    // `isa` chooses the build of the CPU plugin's kernels; empty: the plugin's choice.
    explicit Evaluator(std::string_view device = "cpu", const std::string& isa = {});

    // `y` is empty for functions of one argument. T: float or double. Fails the test case when
    // something is refused.
    template <typename T>
    void run(std::string_view function, const std::vector<T>& x, const std::vector<T>& y,
             std::vector<T>& r);

  private:
    wye::Context context_;
    wye::Device device_;
    std::map<std::string, wye::Program> programs_;
};

}  // namespace test
