// SPDX-License-Identifier: Apache-2.0
//
// Makes memory run out in one call while a device is busy: each allocation of the call fails in
// turn, each pair of allocations, and each allocation with all that follow.
#pragma once

#include <string>
#include <vector>

#include "faults/job.hpp"

namespace faults {

// The names of the targets, one for each Place, and the names of the calls.
std::vector<std::string> busy_targets();
std::vector<std::string> busy_calls();
int run_busy_job(const Job& job, const Range& range, const std::string& cache, Progress& progress);

}  // namespace faults
