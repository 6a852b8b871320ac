// SPDX-License-Identifier: Apache-2.0
//
// Statements that invocations of a workgroup perform together: barriers, subgroup operations and
// workgroup_uniform_load.
#pragma once

#include <vector>

#include "oracle/invocation.hpp"

namespace oracle {

// Called when no invocation can continue by itself. Releases those that wait only for one another;
// returns false if there are none: all have ended, or all wait at a grid barrier. Refuses any other
// state, which would be non-uniform control flow.
bool meet(Machine& machine, std::vector<Invocation>& invocations);

// The results of a subgroup operation, one per lane, from the operands of all lanes.
std::vector<Value> subgroup(std::uint32_t op, const std::vector<std::vector<Value>>& operands);

}  // namespace oracle
