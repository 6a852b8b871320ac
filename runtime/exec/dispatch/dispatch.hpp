// SPDX-License-Identifier: Apache-2.0
//
// The way of a dispatch, one call for each step:
//
//     resolve -> admit -> own -> route -> lower -> bind -> submit -> report
//
// Everything left of submit decides, and enters no driver; a refusal there costs nothing. A request
// that ran before goes to its queue at once. Free-threaded.
#pragma once

#include <cstdint>

#include "exec/context.hpp"
#include "exec/dispatch/repeat.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// All steps, of a call that began at `start`.
[[nodiscard]] Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                                            Clock::time_point start, wye_report* report);

// `report` may be null; all but its header is written, on success and for TRAPPED.
[[nodiscard]] inline Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                           wye_report* report) {
    const Clock::time_point start = now();
    Result<void> result;
    if (repeat(context, desc, start, report, result)) return result;
    return dispatch_in_full(context, desc, start, report);
}

// Admission only: `sizes` by argument, `groups` three words.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
