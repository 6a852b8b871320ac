// SPDX-License-Identifier: Apache-2.0
//
// Makes a case that shows some trouble as small as it can: greedy, always in the same order, so the
// same case and judge give the same result unless the time ends first. A change is kept when the
// program is still valid and the judge still finds the same kind of trouble.
#pragma once

#include <cstdint>
#include <functional>

#include "differential/case.hpp"
#include "differential/referee.hpp"

namespace differential {

struct ShrinkLimits {
    double seconds = 120;
    std::uint64_t tries = 100000;  // cases judged
};

struct Shrunk {
    Case smallest;
    Finding finding;  // of the smallest
    std::uint64_t tries = 0;
    std::size_t statements = 0;  // of the smallest, those of functions included
    bool finished = false;       // nothing smaller was found; else a limit came first
};

using Judge = std::function<Finding(const Case&)>;

// `finding`: what `judge` says of `first`.
[[nodiscard]] Shrunk shrink(const Case& first, const Finding& finding, const Judge& judge,
                            const ShrinkLimits& limits = {});

}  // namespace differential
