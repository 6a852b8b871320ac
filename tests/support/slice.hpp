// SPDX-License-Identifier: Apache-2.0
//
// Slice: the part of a test's work that this run does. A test that could run for hours does one
// part in each run, and another part for another commit. tools/check sets WYE_TEST_SLICE to a
// number below 65536 that it computes from the commit, or to "all".
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace support {

class Slice {
  public:
    // The slice that WYE_TEST_SLICE names; slice 0 if the variable is unset.
    static Slice of_this_run() {
        Slice slice;
        const char* const text = std::getenv("WYE_TEST_SLICE");
        slice.all_ = text != nullptr && std::string(text) == "all";
        if (text != nullptr && !slice.all_) slice.number_ = std::strtoul(text, nullptr, 10);
        return slice;
    }
    // Whether this run does item `index` of work that has `parts` slices.
    [[nodiscard]] bool has(std::size_t index, std::size_t parts) const {
        return all_ || index % parts == number_ % parts;
    }
    // "slice 3 of 8", or "all 8 slices". A test prints "slice: NAME, " and this text on one line,
    // which tools/check repeats in its summary.
    [[nodiscard]] std::string text(std::size_t parts) const {
        if (all_) return "all " + std::to_string(parts) + " slices";
        return "slice " + std::to_string(number_ % parts) + " of " + std::to_string(parts);
    }

  private:
    bool all_ = false;
    std::size_t number_ = 0;
};

}  // namespace support
