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

// The long way, through all stages, of a call that began at `start`.
[[nodiscard]] Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                                            Clock::time_point start, wye_report* report);

// The report's times.
inline void report_times(const RunTimes& times, Clock::time_point start, bool timed,
                         wye_report& report) {
    report.wall_ns = nanoseconds((times.ended ? *times.ended : now()) - start);
    report.device_ns = timed && times.device_known ? times.device_ns : WYE_TIME_UNKNOWN;
    report.enqueue_ns = times.enqueue_ns;
    report.wait_ns = times.wait_ns;
}

// Admission only: `sizes` by argument, `groups` three words.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
