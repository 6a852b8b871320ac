// SPDX-License-Identifier: Apache-2.0
//
// Explorer: tries all sequences of a scope, the short ones first, so that the first fault is one of
// the shortest. Sequences that leave the library in states that it cannot tell apart are continued
// once. Each sequence runs from a freshly opened device, and is then ended and checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scope.hpp"

namespace wye::model {

struct Found {
    std::uint64_t sequences = 0, steps = 0;
    int depth = 0;         // all sequences up to this length were tried
    std::string sequence;  // of a fault
    std::string fault;     // empty: none
};

struct Share {
    int job = 0, jobs = 1;             // of the sequences of three steps and more
    std::vector<std::string> ignored;  // faults with one of these texts count as none
    double seconds = 1e9;              // after which no longer sequences are begun
};

[[nodiscard]] Found explore(const Scope& scope, int steps, const Share& share);
// Runs one sequence and prints what came of each step. Returns the fault.
[[nodiscard]] std::string replay(const Scope& scope, const std::string& sequence,
                                 const std::vector<std::string>& ignored);

}  // namespace wye::model
