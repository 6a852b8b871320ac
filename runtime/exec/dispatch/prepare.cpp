// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/prepare.hpp"

#include <fmt/format.h>

#include "route/route.hpp"

namespace wye::exec {

using registry::HandleKind;
using registry::Pin;

Result<void> prepare(Context& context, wye_program program_handle, wye_device device_handle,
                     wye_prepare_report& report) {
    const Clock::time_point start = now();
    WYE_ASSIGN(const Pin pin, context.handles().find(program_handle, HandleKind::program));
    WYE_ASSIGN(const Pin device, context.handles().find(device_handle, HandleKind::device));
    LoadedProgram& program = pin.as<LoadedProgram>();
    DeviceSession& session = device.as<DeviceSession>();
    WYE_TRY(session.alive());
    if (program.plan().analysis.uses_grid_barrier)
        return Error(Code::UNSUPPORTED,
                     fmt::format("program `{}` has grid barriers, so its kernels depend on the "
                                 "launch",
                                 program.name()),
                     "Fix: dispatch it", program.name());
    plan::Launch launch;
    launch.buffer_count = 0;
    launch.workgroup = program.ir().workgroup;
    WYE_ASSIGN(const route::Route route,
               route::route(session.info(), program.plan(), launch, {}, lower::formats()));
    CompileStats stats;
    Form form;
    form.workgroup = launch.workgroup;
    WYE_TRY(session.compiled(program, form, route.format, stats, {}, true));
    session.save(stats);
    // A dispatch chooses the form by its launch, so all forms are compiled.
    if (route.format != WYE_FORMAT_PROGRAM) {
        WYE_ASSIGN(const lower::Preconditions* preconditions, program.preconditions());
        form.check_free = !preconditions->empty();
    }
    if (form.check_free) WYE_TRY(session.compiled(program, form, route.format, stats, {}, true));
    session.save(stats);
    report.compiled = stats.compiled == 0 ? 0 : 1;
    report.disk_cache = disk_use(stats);
    report.lower_ns = stats.lower_ns;
    report.driver_ns = stats.driver_ns;
    report.kept_bytes = stats.saved_bytes;
    report.total_ns = nanoseconds(now() - start);
    return {};
}

}  // namespace wye::exec
