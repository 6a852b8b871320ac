// SPDX-License-Identifier: Apache-2.0
//
// Makes a failing case as small as possible. The search is greedy and always in the same order, so
// the same case and judge give the same result, unless the time ends first. A change is kept if the
// program is still valid and the judge finds the same kind of fault.
#pragma once

#include <cstdint>
#include <functional>

#include "support/case.hpp"
#include "support/referee.hpp"

namespace differential {

using support::Case;
using support::Finding;

struct ShrinkLimits {
    double seconds = 120;
    std::uint64_t tries = 100000;  // maximum number of judged cases
};

struct Shrunk {
    Case smallest;
    Finding finding;  // of the smallest case
    std::uint64_t tries = 0;
    std::size_t statements = 0;  // statements of main and functions in the smallest case
    bool finished = false;       // true: no smaller case was found; false: a limit was reached
};

using Judge = std::function<Finding(const Case&)>;

// `finding` must be the result of `judge` for `first`.
[[nodiscard]] Shrunk shrink(const Case& first, const Finding& finding, const Judge& judge,
                            const ShrinkLimits& limits = {});

}  // namespace differential
