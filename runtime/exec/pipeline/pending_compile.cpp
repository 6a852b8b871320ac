// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline/pending_compile.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "exec/dispatch/report.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {

using registry::HandleKind;
using registry::Pin;

Result<WorkPtr<Pending>> PendingCompile::put(WorkPtr<PendingCompile> self, std::uint64_t timeout_ns,
                                             Clock::time_point start) {
    DeviceSession& session = self->session_;
    std::optional<Clock::time_point> deadline;
    if (timeout_ns != 0) deadline = after(start, timeout_ns);
    WYE_TRY(session.line().start());
    WYE_ASSIGN(PendingRoom room, session.pending().room(0, false, deadline));
    if (deadline) WYE_TRY(self->set_limit(timeout_ns, *deadline, true));
    std::list<WorkRef> entry(1, self);
    room.take(self);
    session.line().add(entry);
    if (deadline) self->set_alarm();
    return WorkPtr<Pending>(std::move(self));
}

Result<WorkPtr<Pending>> PendingCompile::submit(Context& context, const wye_pipeline_desc& desc,
                                                Clock::time_point start, Pin& kept) {
    WYE_ASSIGN(Pipeline::Begun begun, Pipeline::begin(context, desc, kept));
    Pipeline& pipeline = *begun.pipeline;
    WYE_TRY(check_ahead(context, pipeline.program(), pipeline.session(), begun.options));
    WorkPtr<PendingCompile> out(new PendingCompile(context, pipeline.session(), start));
    out->name_ = pipeline.program().name();
    pipeline.routed().write(out->report_);
    out->begun_pipeline_ = std::move(begun);
    return put(std::move(out), desc.timeout_ns, start);
}

Result<WorkPtr<Pending>> PendingCompile::submit(Context& context, wye_program program,
                                                wye_device device, std::uint64_t timeout_ns,
                                                Clock::time_point start, Pin& kept) {
    WYE_ASSIGN(Prepared found, find_prepared(context, program, device));
    LoadedProgram& loaded = found.program.as<LoadedProgram>();
    WYE_TRY(check_ahead(context, loaded, found.session(), {}));
    WorkPtr<PendingCompile> out(new PendingCompile(context, found.session(), start));
    out->name_ = loaded.name();
    out->program_ = loaded.shared_from_this();
    found.routed.write(out->report_);
    kept = std::move(found.device);
    return put(std::move(out), timeout_ns, start);
}

std::string PendingCompile::what() const {
    return fmt::format("compile of {} `{}`", program_ ? "program" : "pipeline", name_);
}

bool PendingCompile::wait(std::optional<Clock::time_point> deadline) {
    return session_.line().await(in_line_, deadline) || has_ended();
}

void PendingCompile::end(Result<void> outcome) noexcept {
    RunTimes times;
    times.device_known = false;
    complete(begun_, times, std::move(outcome));
    report_.enqueue_ns = report_.wait_ns = 0;
    session_.pending().remove(*this, ended_);
}

bool PendingCompile::withdraw(bool late) {
    {
        const sdk::Lock lock(mutex_);
        if (has_ended()) return true;
        error_ = sdk::errors::made_or_brief(late ? Code::TIMEOUT : Code::CANCELLED,
                                            [&] { return never_ran(late); });
        end({});
    }
    session_.line().left(in_line_);
    return true;
}

Result<void> PendingCompile::compile() {
    CompileStats stats;
    std::shared_ptr<Pipeline> made;
    {
        const Line::Compiling compiling(session_.line());
        session_.await_overdue();
        if (has_ended()) return {};
        if (program_) {
            auto forms = compile_ahead(context_, *program_, session_, {}, stats);
            if (!forms.ok()) return std::move(forms).error();
        } else {
            WYE_TRY(begun_pipeline_.pipeline->compile(context_, begun_pipeline_, stats));
            made = begun_pipeline_.pipeline;
        }
    }
    const sdk::Lock lock(mutex_);
    if (has_ended()) return {};
    report_.compiled = stats.compiled == 0 ? 0 : 1;
    report_.disk_cache = disk_use(stats);
    made_ = std::move(made);
    end({});
    return {};
}

void PendingCompile::take_turn() noexcept {
    try {
        auto compiled = compile();
        const sdk::Lock lock(mutex_);
        if (!compiled.ok() && !has_ended()) end(std::move(compiled));
    } catch (const std::exception&) {
        const sdk::Lock lock(mutex_);
        if (!has_ended()) {
            error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
            end({});
        }
    }
    begun_pipeline_.pipeline.reset();
    session_.line().left(in_line_);
}

Result<std::shared_ptr<Pipeline>> PendingCompile::take() {
    WYE_TRY(outcome());
    const sdk::Lock lock(mutex_);
    if (made_) return std::exchange(made_, nullptr);
    return Error(Code::NOT_FOUND,
                 program_ ? fmt::format("the {} makes no pipeline", what())
                          : fmt::format("the pipeline of the {} was taken already", what()),
                 program_ ? "Fix: pass the handle that wye_pipeline_create_submit returned"
                          : "Fix: keep the handle that the first call gave",
                 name_);
}

void PendingCompile::give_back(std::shared_ptr<Pipeline> pipeline) noexcept {
    const sdk::Lock lock(mutex_);
    made_ = std::move(pipeline);
}

}  // namespace wye::exec
