// SPDX-License-Identifier: Apache-2.0
//
// Explorer: tries all sequences of a scope. Short ones are tried first, so the first fault is one
// of the shortest. If several sequences leave the library in the same state, only one of them is
// continued. Each sequence begins with a freshly opened device. At its end all work ends, and the
// device and all objects are checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scope.hpp"

namespace wye::model {

struct Found {
    std::uint64_t sequences = 0, steps = 0;
    int depth = 0;         // all sequences up to this length were tried
    std::string sequence;  // the sequence with the fault
    std::string fault;     // empty: none
};

struct Share {
    int job = 0, jobs = 1;             // part `job` of `jobs` parts of the longer sequences
    std::vector<std::string> ignored;  // faults with one of these texts count as none
    double seconds = 1e9;              // the search stops after this time
};

[[nodiscard]] Found explore(const Scope& scope, int steps, const Share& share);
// Runs one sequence, and prints the result of each step. Returns the fault; empty: none.
[[nodiscard]] std::string replay(const Scope& scope, const std::string& sequence,
                                 const std::vector<std::string>& ignored);

}  // namespace wye::model
