// SPDX-License-Identifier: Apache-2.0
//
// Prepares a launch: sizes, counts, grid, arrays.
#pragma once

#include "oracle/invocation.hpp"
#include "oracle/module.hpp"
#include "oracle/oracle.hpp"

namespace oracle {

// Throws Refused if the launch does not fit the program. `module` must outlive the result.
Machine prepare(const Module& module, const Launch& launch);

}  // namespace oracle
