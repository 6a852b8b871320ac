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
    double wye_ns = 0;  // both are medians
    double raw_ns = 0;
    double ratio = 0;  // median of the ratios of neighbouring runs
    double agree = 0;  // share of the output words that are equal
    std::uint64_t traffic = 0;
    std::uint64_t filled = 0;  // bytes that Wye zeroes before the launch
    std::string error;         // not empty: the other members are unset
};

// The median of at least one value.
[[nodiscard]] double median(std::vector<double> values);

// `fast`: compares with the fastest kernel, whose arithmetic may differ. Otherwise all output bytes
// must be equal.
[[nodiscard]] Result<Row> measure(const Case& c, bool fast, WyeSide& wye, RawApi& raw,
                                  double seconds);

}  // namespace wye::bench
