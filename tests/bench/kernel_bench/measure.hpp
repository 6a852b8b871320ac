// SPDX-License-Identifier: Apache-2.0
//
// Measures one case on one device: compares the outputs, then runs Wye and the kernel in turn.
#pragma once

#include "kernel_bench/raw_api.hpp"
#include "kernel_bench/wye_side.hpp"

namespace wye::bench {

struct Row {
    std::string device;
    std::string name;
    double wye_ns = 0;  // wye_ns and raw_ns: medians
    double raw_ns = 0;
    double ratio = 0;  // median of wye / raw over the pairs of runs
    double agree = 0;  // share of the output words that count as equal
    std::uint64_t traffic = 0;
    std::uint64_t filled = 0;  // bytes that Wye zeroes before the launch
    std::string error;         // not empty: the other members are unset
};

// Returns the median. `values` must not be empty.
[[nodiscard]] double median(std::vector<double> values);

// `fast`: compares Wye with the kernel `c.fast`, whose arithmetic may differ. Otherwise compares
// Wye with `c.strict`, and all output bytes must be equal.
[[nodiscard]] Result<Row> measure(const Case& c, bool fast, WyeSide& wye, RawApi& raw,
                                  double seconds);

}  // namespace wye::bench
