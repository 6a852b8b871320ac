// SPDX-License-Identifier: Apache-2.0
//
// Times the ways of a row (way.hpp) in turn, so that clock changes and other work of the machine
// affect all ways alike.
#pragma once

#include <span>
#include <vector>

#include "way.hpp"

namespace wye::bench {

struct Effort {
    double sample_seconds = 0.02;  // length of a sample, in which the work is repeated
    std::size_t rounds = 21;
    std::size_t least_rounds = 5;
    double row_seconds = 10;  // after this time, no round beyond least_rounds begins
};
[[nodiscard]] Effort effort_of(bool quick);

// Samples: the nanoseconds of one run of a way, by round. All ways have the same number of samples.
using Samples = std::vector<double>;
[[nodiscard]] Result<std::vector<Samples>> measure(std::span<const Way> ways, const Effort& effort);

[[nodiscard]] double median(std::vector<double> values);  // 0 if there are no values
// The median of wye / raw over all rounds.
[[nodiscard]] double ratio_of(const Samples& wye, const Samples& raw);

}  // namespace wye::bench
