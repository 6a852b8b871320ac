// SPDX-License-Identifier: Apache-2.0
//
// Fault injection into the `wye` command, one process for each failing call.
#pragma once

#include <string>

#include "faults/job.hpp"

namespace faults {

// The names of the command lines; empty if the test is built without them.
std::vector<std::string> tool_names();
int run_tool_job(const Job& job, const Range& range, const std::string& folder, Progress& progress);

}  // namespace faults
