// SPDX-License-Identifier: Apache-2.0
//
// The steps of a dispatch, one call each:
//
//     resolve -> admit -> own -> route -> lower -> bind -> submit -> report
//
// The steps before submit do not call the driver; a request that they refuse changes nothing.
// Free-threaded.
#pragma once

#include <cstdint>

#include "exec/context.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Runs all steps, for a call that began at `start`. `report` may be null; else its members, except
// the header, are written on success and for TRAPPED.
[[nodiscard]] Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                                            Clock::time_point start, Keep keep, wye_report* report);

// Runs admission only. Writes `sizes`, one for each argument, and `groups`, three words.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
