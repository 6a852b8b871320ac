// SPDX-License-Identifier: Apache-2.0
//
// Finds stored values that need no NaN test. Pure; shared by the lowerings.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// True if the value is never NaN, whatever memory contains.
[[nodiscard]] bool never_nan(const ir::Code& code, ir::ExprId id);

}  // namespace wye::lower
