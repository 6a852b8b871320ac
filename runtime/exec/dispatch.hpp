// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a dispatch, one call for each stage:
//
//     resolve -> admit -> route -> own -> lower -> bind -> submit -> report
//
// Everything left of submit decides; a refusal there enters no driver (a program met for the first
// time on a device is compiled in `lower`, after every check). Free-threaded.
#pragma once

#include <cstdint>

#include "exec/context.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// `report` may be null; all but its header is written, on success and for TRAPPED.
[[nodiscard]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                    wye_report* report);

// The short way of a request that ran before (exec/repeat.hpp): everything left of submit is
// remembered, but that the handles are live. False: `desc` has to take the long way, which also
// says what is wrong with it; the queue was not entered. `start` is when the call began.
[[nodiscard]] bool dispatch_again(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& desc, Clock::time_point start,
                                  wye_report* report, Result<void>& result);

// The report's times, of a call that began at `start`.
void report_times(const RunTimes& times, Clock::time_point start, bool timed, wye_report& report);

// Admission only: `sizes` by argument, `groups` three words.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
