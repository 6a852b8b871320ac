// SPDX-License-Identifier: Apache-2.0
//
// The beginning of every dispatch, and the short way of a request that ran before. Apart from the
// long way, whose frame is large.
#include "exec/dispatch/dispatch.hpp"
#include "exec/program/program_object.hpp"

namespace wye::exec {
namespace {

void write_report(const Repeat& known, const RunTimes& times, Clock::time_point start, bool timed,
                  wye_report& report) {
    const wye_header header = report.header;
    report = {};
    report.header = header;
    report.device = known.request.device;
    std::copy(known.groups.begin(), known.groups.end(), report.groups);
    report.variant = known.variant;
    report.check_free = known.check_free;
    report.native_functions = known.natives;
    report.bytes_filled = known.bytes_filled;
    report_times(times, start, timed, report);
}

// Everything left of submit is remembered (exec/dispatch/repeat.hpp), but that the handles are
// live. False: the request has to take the long way, which also says what is wrong with it; the
// queue was not entered.
[[gnu::always_inline]] inline bool dispatch_again(const registry::HandleTable& handles,
                                                  const wye_dispatch_desc& desc,
                                                  Clock::time_point start, wye_report* report,
                                                  Result<void>& result) {
    if (!Repeats::may_have(desc)) return false;
    const registry::Pin program = handles.try_find(desc.program, registry::HandleKind::program);
    const registry::Pin device = handles.try_find(desc.device, registry::HandleKind::device);
    if (!program || !device) return false;
    std::optional<QueueLease> lease = device.as<DeviceSession>().try_lease();
    if (!lease) return false;
    const Repeat* known = lease->repeats().find(desc, program.as<ProgramObject>().plan());
    registry::InFlight uses;
    if (known == nullptr || !handles.try_use(known->handles(), uses)) return false;

    const bool timed = (desc.flags & WYE_DISPATCH_TIMED) != 0;
    RunTimes times;
    std::uint64_t pending = 0;  // stays 0 without a time limit
    result = lease->run(known->all(), 0, timed, start, times, pending);
    if (report != nullptr && result.ok()) write_report(*known, times, start, timed, *report);
    return true;
}

}  // namespace

[[gnu::hot]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                   wye_report* report) {
    const Clock::time_point start = now();
    Result<void> repeated;
    if (!context.logs() && dispatch_again(context.handles(), desc, start, report, repeated))
        return repeated;
    return dispatch_in_full(context, desc, start, report);
}

}  // namespace wye::exec
