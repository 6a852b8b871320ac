// SPDX-License-Identifier: Apache-2.0
//
// Where a stored value needs no look for NaNs. Pure; shared by the lowerings.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// True where the value cannot be a NaN, whatever memory holds.
[[nodiscard]] bool never_nan(const ir::Code& code, ir::ExprId id);

}  // namespace wye::lower
