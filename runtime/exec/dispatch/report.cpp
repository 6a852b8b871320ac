// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace wye::exec {
namespace {

std::string_view text_of(wye_string text) {
    return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

}  // namespace

std::uint32_t determinism(const plan::ProgramPlan& plan, const plan::Launch& launch,
                          const Form& form) {
    if (!plan.analysis.doubts.empty() || form.variant != ir::kNone || form.natives != 0)
        return WYE_DETERMINISM_NOT_PROVEN;
    return launch.deterministic ? WYE_DETERMINISM_YES : WYE_DETERMINISM_BEYOND;
}

wye_report launch_report(const Flow& flow) {
    wye_report report{};
    const Form& form = flow.kernels.form;
    const bool ran = !flow.kernels.launches().empty();
    std::ranges::copy(flow.launch.groups, report.groups);
    report.native_functions = ran ? form.natives : 0;
    report.variant = ran && form.variant != ir::kNone ? form.variant + 1 : 0;
    report.check_free = form.check_free ? 1 : 0;
    report.profile = form.profile;
    report.cooperative = ran ? flow.kernels.cooperative : std::uint32_t{WYE_COOPERATIVE_NONE};
    report.determinism = ran ? determinism(flow.program.plan(), flow.launch, form)
                             : std::uint32_t{WYE_DETERMINISM_NONE};
    report.bytes_filled = flow.bound.bytes_filled;
    return report;
}

wye_report make_report(const Flow& flow, Clock::time_point start) {
    wye_report report = launch_report(flow);
    flow.routed.write(report);
    report.compiled = flow.stats.compiled == 0 ? 0 : 1;
    report.disk_cache = disk_use(flow.stats);
    report.trap_code = flow.trap.code;
    report.trap_count = flow.trap.count;
    report_times(flow.times, start, flow.has(WYE_DISPATCH_TIMED), report);
    report.bytes_uploaded = flow.bound.bytes_uploaded;
    report.bytes_downloaded = flow.trap.count == 0 ? flow.bound.bytes_downloaded : 0;
    report.bytes_copied = flow.bound.bytes_copied;
    return report;
}

void log_dispatch(const Context& context, const wye_dispatch_desc& desc, std::string_view program,
                  std::string_view device, const Result<void>& result, const wye_report& report) {
    context.log(
        WYE_LOG_DEBUG, "dispatch",
        fmt::format("label `{}`, profile `{}`: `{}` on {}, {}x{}x{} workgroups, {} ns, {} "
                    "bytes up, {} down: {}",
                    text_of(desc.label), text_of(desc.profile), program, device, report.groups[0],
                    report.groups[1], report.groups[2], report.wall_ns, report.bytes_uploaded,
                    report.bytes_downloaded, result.ok() ? "ok" : code_text(result.error().code)));
}

}  // namespace wye::exec
