// SPDX-License-Identifier: Apache-2.0
//
// The C functions for compiling ahead and for the disk cache.
#include "exec/api/api.hpp"
#include "exec/dispatch/prepare.hpp"
#include "exec/program/disk_cache.hpp"

using namespace wye::exec;
using wye::Result;

wye_status wye_program_prepare(wye_context* context, wye_program program, wye_device device,
                               wye_prepare_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        if (report != nullptr)
            WYE_TRY(check_header(report->header, sizeof *report, "wye_prepare_report"));
        wye_prepare_report made{};
        WYE_TRY(prepare(*self, program, device, made));
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
