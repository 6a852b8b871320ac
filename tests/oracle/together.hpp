// SPDX-License-Identifier: Apache-2.0
//
// What invocations of a workgroup do together: barriers, subgroup operations and
// workgroup_uniform_load.
#pragma once

#include <vector>

#include "oracle/invocation.hpp"

namespace oracle {

// Called when no invocation can go on by itself. Lets those go on that wait for nothing but one
// another; false when none can: all have ended, or all wait at a grid barrier. Refuses anything
// else, which would be flow that is not uniform.
bool meet(Machine& machine, std::vector<Invocation>& invocations);

// The results of a subgroup operation, lane by lane, from the operands of all lanes.
std::vector<Value> subgroup(std::uint32_t op, const std::vector<std::vector<Value>>& operands);

}  // namespace oracle
