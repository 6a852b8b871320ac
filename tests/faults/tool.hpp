// SPDX-License-Identifier: Apache-2.0
//
// The `wye` command, a process for each call that fails.
#pragma once

#include <string>

#include "faults/job.hpp"

namespace faults {

// The command lines that are run, by name; empty where the test is built without them.
std::vector<std::string> tool_names();
int run_tool_job(const Job& job, const Range& range, const std::string& folder, Progress& progress);

}  // namespace faults
