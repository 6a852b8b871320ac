// SPDX-License-Identifier: Apache-2.0
//
// Fault injection into the `wye` command. Each failing call has a process of its own.
#pragma once

#include <string>

#include "faults/job.hpp"

namespace faults {

// The names of the tested command lines; none if the command was not built.
std::vector<std::string> tool_names();
int run_tool_job(const Job& job, const Range& range, const std::string& folder, Progress& progress);

}  // namespace faults
