// SPDX-License-Identifier: Apache-2.0
//
// Tally: counts the outcomes of the programs that one device ran. Prints one line of NAME=NUMBER,
// so that scripts can add up the lines of many processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/referee.hpp"

namespace differential {

using support::Finding;

struct Tally {
    std::uint64_t equal = 0;
    std::uint64_t different = 0;  // another result, or the device failed
    std::uint64_t refused = 0;    // the device cannot run the program
    std::uint64_t useless = 0;    // the program has no single correct result
    std::uint64_t not_run = 0;    // the device stayed busy
    std::uint64_t left_out = 0;   // the device lacks a capability that the case's file names
    std::map<std::string, std::uint64_t> reasons;  // how often each reason was found

    void add(const Finding& finding);
    // Whether two or more dispatches in a row did not end. Later dispatches would probably only
    // wait for them.
    [[nodiscard]] bool stays_busy() const { return timeouts_ >= 2; }
    [[nodiscard]] std::uint64_t programs() const { return equal + different + refused + useless; }
    [[nodiscard]] bool all_equal() const { return programs() == equal && not_run == 0; }
    // "programs=8 equal=7 different=1 refused=0 useless=0 not_run=0 left_out=0 bytes=1 seconds=0.4
    // peak_MiB=31". peak_MiB is the peak memory of the process: do not add it up.
    [[nodiscard]] std::string line(double seconds) const;

  private:
    unsigned timeouts_ = 0;  // dispatches in a row that did not end
};

}  // namespace differential
