// SPDX-License-Identifier: Apache-2.0
//
// The C functions for pipelines.
#include "exec/pipeline/pipeline.hpp"

#include "exec/api/api.hpp"

using namespace wye::exec;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

wye_status wye_pipeline_create(wye_context* context, const wye_pipeline_desc* desc,
                               wye_pipeline* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_header(desc->header, sizeof *desc, "wye_pipeline_desc"));
        WYE_TRY(check_string(desc->profile, "profile"));
        WYE_TRY(check_string(desc->layout_fingerprint, "layout_fingerprint"));
        WYE_TRY(check_string(desc->backend_layout_fingerprint, "backend_layout_fingerprint"));
        WYE_ASSIGN(auto pipeline, Pipeline::create(*self, *desc));
        const auto& owner = pipeline->session().owner();
        const std::string& id = pipeline->id();
        WYE_ASSIGN(*out, self->handles().add(HandleKind::pipeline, pipeline, owner, id));
        return {};
    });
}

wye_status wye_pipeline_describe(wye_context* context, wye_pipeline pipeline,
                                 wye_pipeline_description* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_pipeline_description"));
        WYE_ASSIGN(const Pin pin, self->handles().find(pipeline, HandleKind::pipeline));
        pin.as<Pipeline>().describe(*out);
        return {};
    });
}

wye_status wye_pipeline_free(wye_context* context, wye_pipeline pipeline, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->handles().retire(pipeline, HandleKind::pipeline);
    });
}
