// SPDX-License-Identifier: Apache-2.0
//
// Compiling ahead, and the disk cache.
#include "exec/api/api.hpp"
#include "exec/program/compile.hpp"
#include "route/route.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

namespace {

Result<void> prepare_ahead(Context& context, wye_program program_handle, wye_device device_handle,
                           wye_prepare_report& report) {
    const Clock::time_point start = Clock::now();
    WYE_ASSIGN(const Pin pin, context.handles().find(program_handle, HandleKind::program));
    WYE_ASSIGN(const Pin device, context.handles().find(device_handle, HandleKind::device));
    ProgramObject& program = pin.as<ProgramObject>();
    DeviceSession& session = device.as<DeviceSession>();
    if (program.plan().analysis.uses_grid_barrier)
        return Error(Code::UNSUPPORTED,
                     "program `" + program.program().name +
                         "` has grid barriers: what is compiled of it depends on the launch",
                     "Fix: dispatch it", program.program().name);
    wye::plan::Launch launch;
    launch.buffer_count = 0;
    launch.workgroup = program.program().workgroup;
    const std::vector<std::string_view> formats = wye::lower::formats();
    WYE_TRY(wye::route::check_launch(session.info(), program.plan(), launch, false, formats));
    PrepareStats stats;
    PreparedKey key;
    key.workgroup = launch.workgroup;
    WYE_TRY(session.prepared(program, key, stats, {}, true));
    session.write(stats);
    // Which form a dispatch runs is its launch's to decide: none may have to wait for a compiler.
    if (session.format() != WYE_FORMAT_PROGRAM) {
        WYE_ASSIGN(const wye::lower::Preconditions* asked, program.preconditions());
        key.check_free = !asked->empty();
    }
    if (key.check_free) WYE_TRY(session.prepared(program, key, stats, {}, true));
    session.write(stats);
    report.compiled = stats.compiled == 0 ? 0 : 1;
    report.disk_cache = disk_use(stats);
    report.lower_ns = stats.lower_ns;
    report.driver_ns = stats.driver_ns;
    report.kept_bytes = stats.kept_bytes;
    report.total_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    return {};
}

}  // namespace

wye_status wye_program_prepare(wye_context* context, wye_program program, wye_device device,
                               wye_prepare_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        if (report != nullptr)
            WYE_TRY(check_header(report->header, sizeof *report, "wye_prepare_report"));
        wye_prepare_report made{};
        WYE_TRY(prepare_ahead(*self, program, device, made));
        if (report != nullptr) {
            made.header = report->header;
            *report = made;
        }
        return {};
    });
}

wye_status wye_cache_report(wye_context* context, wye_blob** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(std::string text, cache_json(self->disk()));
        *out = make_blob(std::move(text));
        return {};
    });
}

wye_status wye_cache_clear(wye_context* context, uint64_t* freed_bytes, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const std::uint64_t freed, clear_cache(self->disk()));
        if (freed_bytes != nullptr) *freed_bytes = freed;
        return {};
    });
}
