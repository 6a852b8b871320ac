// SPDX-License-Identifier: Apache-2.0
//
// A test that could run for hours takes a part of its work in each run, and another part for
// another commit. tools/check sets WYE_TEST_SLICE: a number below 65536 from the commit, or "all".
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace support {

class Slice {
  public:
    // If the variable is unset: slice 0.
    static Slice of_this_run() {
        Slice slice;
        const char* const text = std::getenv("WYE_TEST_SLICE");
        slice.all_ = text != nullptr && std::string(text) == "all";
        if (text != nullptr && !slice.all_) slice.number_ = std::strtoul(text, nullptr, 10);
        return slice;
    }
    // Whether item `index` is of this run, if the work has `parts` slices.
    [[nodiscard]] bool has(std::size_t index, std::size_t parts) const {
        return all_ || index % parts == number_ % parts;
    }
    // "slice 3 of 8", or "all 8 slices". A test prints "slice: NAME, " and this on a line of its
    // own, and tools/check repeats the line in its summary.
    [[nodiscard]] std::string text(std::size_t parts) const {
        if (all_) return "all " + std::to_string(parts) + " slices";
        return "slice " + std::to_string(number_ % parts) + " of " + std::to_string(parts);
    }

  private:
    bool all_ = false;
    std::size_t number_ = 0;
};

}  // namespace support
