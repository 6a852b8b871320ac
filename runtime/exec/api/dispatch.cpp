// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/dispatch.hpp"

#include "exec/api/api.hpp"
#include "exec/prepared/repeat.hpp"
#include "lower/passes/native_functions.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Result;

[[gnu::hot]] wye_status wye_dispatch(wye_context* context, const wye_dispatch_desc* desc,
                                     wye_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_TRY(check_dispatch(*desc));
        if (report != nullptr) WYE_TRY(check_header(report->header, sizeof *report, "wye_report"));
        return dispatch(*self, *desc, report);
    });
}

wye_status wye_dispatch_sizes(wye_context* context, const wye_dispatch_desc* desc, uint64_t* sizes,
                              uint32_t* groups, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_TRY(check_header(desc->header, sizeof *desc, "wye_dispatch_desc"));
        if (desc->argument_count != 0) WYE_NEED(sizes);
        WYE_NEED(groups);
        return dispatch_sizes(*self, *desc, sizes, groups);
    });
}

const char* wye_native_function_name(uint32_t bit) {
    return bit < 64 ? wye::lower::native_name(bit) : "";
}
