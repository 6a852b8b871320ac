// SPDX-License-Identifier: Apache-2.0
//
// The report step of a dispatch: fills the caller's report and writes a line to the log. Pure
// except for the log.
#pragma once

#include <string_view>

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/flow.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Writes the times of a call that began at `start`.
inline void report_times(const RunTimes& times, Clock::time_point start, bool timed,
                         wye_report& report) {
    report.wall_ns = nanoseconds((times.ended ? *times.ended : now()) - start);
    report.device_ns = timed && times.device_known ? times.device_ns : WYE_TIME_UNKNOWN;
    report.enqueue_ns = times.enqueue_ns;
    report.wait_ns = times.wait_ns;
}

// The member `determinism` in the report of a launch that ran in this form: enum wye_determinism.
[[nodiscard]] std::uint32_t determinism(const plan::ProgramPlan& plan, const plan::Launch& launch,
                                        const Form& form);

// Returns a report with the members that are the same for each run of the launch, except the
// members about the device.
[[nodiscard]] wye_report launch_report(const Flow& flow);
// Fills all members except the header.
[[nodiscard]] wye_report make_report(const Flow& flow, Clock::time_point start);

// Logs a dispatch that was submitted, with its label and profile.
void log_dispatch(const Context& context, const wye_dispatch_desc& desc, std::string_view program,
                  std::string_view device, const Result<void>& result, const wye_report& report);

}  // namespace wye::exec
