// SPDX-License-Identifier: Apache-2.0
//
// The steps of a dispatch before submit, in order. They enter no driver; a refusal changes nothing.
#pragma once

#include "exec/context.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

[[nodiscard]] Result<void> decide(const Context& context, Flow& flow);

}  // namespace wye::exec
