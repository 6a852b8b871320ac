// SPDX-License-Identifier: Apache-2.0
//
// Memory runs out in one call while a device is busy: each allocation of the call in turn, each
// pair of them, and all from one on.
#pragma once

#include <string>
#include <vector>

#include "faults/job.hpp"

namespace faults {

// Names of targets, one for each place where the work of a call runs, and of the calls.
std::vector<std::string> busy_targets();
std::vector<std::string> busy_calls();
int run_busy_job(const Job& job, const Range& range, const std::string& cache, Progress& progress);

}  // namespace faults
