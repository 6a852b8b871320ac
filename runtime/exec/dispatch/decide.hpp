// SPDX-License-Identifier: Apache-2.0
//
// Runs the steps of a dispatch before submit, in order. These steps call the driver only to open a
// device for a request that names none. A request that they refuse changes nothing.
#pragma once

#include "exec/context.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

[[nodiscard]] Result<void> decide(Context& context, Flow& flow);

}  // namespace wye::exec
