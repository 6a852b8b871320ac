// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch.hpp"
#include "exec/program.hpp"

namespace wye::exec {

[[gnu::hot]] bool dispatch_again(const registry::HandleTable& handles,
                                 const wye_dispatch_desc& desc, Clock::time_point start,
                                 wye_report* report, Result<void>& result) {
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
    if (report == nullptr || !result.ok()) return true;
    wye_report& out = *report;
    const wye_header header = out.header;
    out = {};
    out.header = header;
    out.device = desc.device;
    std::copy(known->groups.begin(), known->groups.end(), out.groups);
    out.variant = known->variant;
    out.bytes_filled = known->bytes_filled;
    report_times(times, start, timed, out);
    return true;
}

}  // namespace wye::exec
