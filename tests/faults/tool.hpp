// SPDX-License-Identifier: Apache-2.0
//
// Fault injection into the `wye` command, with one process for each failing call.
#pragma once

#include <string>

#include "faults/job.hpp"

namespace faults {

// Names of the command lines to test; empty if built without the command.
std::vector<std::string> tool_names();
int run_tool_job(const Job& job, const Range& range, const std::string& folder, Progress& progress);

}  // namespace faults
