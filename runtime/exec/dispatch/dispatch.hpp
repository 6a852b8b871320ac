// SPDX-License-Identifier: Apache-2.0
//
// The steps of a dispatch, one call each:
//
//     resolve -> admit -> own -> route -> lower -> bind -> submit -> report
//
// The steps before submit call the driver only to open a device for a request that names none. A
// request that these steps refuse changes nothing. Free-threaded.
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

// Runs the steps up to admission only. Writes to `sizes` the bytes of each argument, and to
// `groups` the number of workgroups on each of the three axes.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
