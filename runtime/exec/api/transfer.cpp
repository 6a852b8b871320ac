// SPDX-License-Identifier: Apache-2.0
//
// The C functions for transfers with a description.
#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "exec/device/buffer.hpp"
#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/report.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;

namespace {

Error invalid(std::string what, std::string fix) {
    return {Code::INVALID_ARGUMENT, std::move(what), std::move(fix), "wye_transfer_desc"};
}

}  // namespace

Result<void> wye::exec::check_transfer_desc(const wye_transfer_desc& desc, std::uint32_t flags) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_transfer_desc"));
    if (desc.kind < WYE_TRANSFER_UPLOAD || desc.kind > WYE_TRANSFER_FILL)
        return invalid(fmt::format("a transfer has no kind {}", desc.kind),
                       "Fix: use WYE_TRANSFER_UPLOAD, _DOWNLOAD, _COPY or _FILL");
    if ((desc.flags & ~flags) != 0 || desc.reserved != 0)
        return invalid(
            fmt::format("`flags` of wye_transfer_desc is {:#x}, and `reserved` is {}", desc.flags,
                        desc.reserved),
            "Fix: use WYE_TRANSFER_WHOLE and WYE_DISPATCH_TIMED, and for "
            "wye_buffer_transfer_submit also WYE_DISPATCH_BORROW and _AT_ONCE, and leave "
            "`reserved` 0");
    if ((desc.flags & WYE_TRANSFER_WHOLE) != 0 && desc.kind > WYE_TRANSFER_DOWNLOAD)
        return invalid("WYE_TRANSFER_WHOLE is for uploads and downloads",
                       "Fix: leave it out, and give the size of the copy or fill");
    const bool others[] = {desc.source != nullptr, desc.target != nullptr,
                           desc.source_buffer != 0 || desc.source_offset != 0,
                           desc.pattern != 0 || desc.pattern_size != 0};
    constexpr const char* kNames[] = {"an upload", "a download", "a copy", "a fill"};
    for (std::uint32_t kind = 0; kind < 4; ++kind)
        if (others[kind] && kind + 1 != desc.kind)
            return invalid(fmt::format("the transfer is {}, but has members of {}",
                                       kNames[desc.kind - 1], kNames[kind]),
                           "Fix: leave members of other kinds zero");
    return {};
}

wye_status wye_buffer_transfer(wye_context* context, const wye_transfer_desc* desc,
                               wye_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        if (report != nullptr) WYE_TRY(check_header(report->header, sizeof *report, "wye_report"));
        WYE_TRY(check_transfer_desc(*desc, WYE_DISPATCH_TIMED | WYE_TRANSFER_WHOLE));
        WYE_ASSIGN(const CheckedTransfer checked, check_transfer(self->handles(), *desc, true));
        const bool timed = (desc->flags & WYE_DISPATCH_TIMED) != 0;
        RunTimes times;
        WYE_TRY(run_transfer(self->handles(), checked, timed, times));
        if (report == nullptr) return {};
        const wye_header header = report->header;
        *report = {};
        report->header = header;
        report->device = checked.object().device;
        report_times(times, start, timed, *report);
        report_transfer(checked.kind(), desc->size, *report);
        return {};
    });
}

wye_status wye_buffer_transfer_submit(wye_context* context, const wye_transfer_desc* desc,
                                      wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        constexpr std::uint32_t kFlags =
            WYE_TRANSFER_WHOLE | WYE_DISPATCH_TIMED | WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE;
        WYE_TRY(check_transfer_desc(*desc, kFlags));
        const bool borrows = (desc->flags & WYE_DISPATCH_BORROW) != 0;
        if (!borrows && desc->target != nullptr)
            return invalid(
                "`target` is set, but without WYE_DISPATCH_BORROW the transfer owns the "
                "downloaded bytes",
                "Fix: leave `target` null and take the bytes from wye_pending_output, "
                "or set WYE_DISPATCH_BORROW and keep it until the transfer has ended");
        WYE_ASSIGN(const CheckedTransfer checked, check_transfer(self->handles(), *desc, borrows));
        WYE_TRY(self->handles().make_room());
        WYE_ASSIGN(auto pending, Pending::submit(*self, checked, desc->flags, start));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}
