// SPDX-License-Identifier: Apache-2.0
//
// The C functions for pipelines.
#include "exec/dispatch/pipeline.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "exec/api/api.hpp"
#include "exec/pipeline/pending_compile.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

namespace {

Result<void> check_pipeline(const wye_pipeline_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_pipeline_desc"));
    WYE_TRY(check_string(desc.profile, "profile"));
    WYE_TRY(check_string(desc.layout_fingerprint, "layout_fingerprint"));
    return check_string(desc.backend_layout_fingerprint, "backend_layout_fingerprint");
}

Result<wye_pipeline> add_pipeline(Context& context, const std::shared_ptr<Pipeline>& pipeline) {
    return context.handles().add(HandleKind::pipeline, pipeline, pipeline->session().owner(),
                                 pipeline->id());
}

}  // namespace

wye_status wye_pipeline_create(wye_context* context, const wye_pipeline_desc* desc,
                               wye_pipeline* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_pipeline(*desc));
        Pin device;
        WYE_ASSIGN(const auto pipeline, Pipeline::create(*self, *desc, device));
        WYE_ASSIGN(*out, add_pipeline(*self, pipeline));
        return {};
    });
}

wye_status wye_pipeline_create_submit(wye_context* context, const wye_pipeline_desc* desc,
                                      wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_pipeline(*desc));
        WYE_TRY(self->handles().make_room());
        Pin kept;
        WYE_ASSIGN(auto pending, PendingCompile::submit(*self, *desc, start, kept));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}

wye_status wye_program_prepare_submit(wye_context* context, wye_program program, wye_device device,
                                      uint64_t timeout_ns, wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(self->handles().make_room());
        Pin kept;
        WYE_ASSIGN(auto pending,
                   PendingCompile::submit(*self, program, device, timeout_ns, start, kept));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}

wye_status wye_pending_pipeline(wye_context* context, wye_pending pending, wye_pipeline* out,
                                wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(const Pin pin, self->handles().find(pending, HandleKind::pending));
        Pending& work = pin.as<Pending>();
        if (!work.poll_result())
            return Error(Code::NOT_READY, fmt::format("the {} has not ended", work.what()),
                         "Fix: wait for it first", work.name());
        auto* const compile = dynamic_cast<PendingCompile*>(&work);
        if (compile == nullptr)
            return Error(Code::NOT_FOUND, fmt::format("the {} makes no pipeline", work.what()),
                         "Fix: pass the handle that wye_pipeline_create_submit returned",
                         work.name());
        WYE_ASSIGN(auto pipeline, compile->take());
        struct Kept {
            ~Kept() {
                if (pipeline) compile.give_back(std::move(pipeline));
            }
            PendingCompile& compile;
            std::shared_ptr<Pipeline> pipeline;
        } kept{*compile, std::move(pipeline)};
        WYE_ASSIGN(*out, add_pipeline(*self, kept.pipeline));
        kept.pipeline.reset();
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
