// SPDX-License-Identifier: Apache-2.0
//
// Finds or makes the compiled form of a program. Drivers' compilers run on a separate thread with a
// large stack, for three reasons: the compilers do not depend on the size of the caller's stack,
// the caller can stop waiting at its deadline, and a driver that changes the signal mask, the
// alternate stack or the floating-point mode of its thread does not affect threads of the
// application. A built-in plugin that takes programs in wire form calls no such compiler, so
// without a deadline it compiles on the caller's thread.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "exec/device/compile_job.hpp"
#include "exec/device/session.hpp"
#include "exec/program/compile.hpp"
#include "registry/open/process_state.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// The maximum number of programs that are kept alive until the device is closed, because they can
// be saved only then.
constexpr std::size_t kMostUnsaved = 64;

void add(CompileStats& sum, CompileStats&& part) {
    sum.compiled += part.compiled;
    sum.loaded += part.loaded;
    sum.missed += part.missed;
    sum.saved_bytes += part.saved_bytes;
    sum.lower_ns += part.lower_ns;
    sum.driver_ns += part.driver_ns;
    for (CacheEntry& entry : part.unwritten) sum.unwritten.push_back(std::move(entry));
}

std::string what_of(const CompileJob& job) {
    return fmt::format("compiling `{}`", job.program->name());
}

Error not_in_time(const std::string& device, const CompileJob& job, bool own) {
    const std::string state =
        own ? "it continues, and a later dispatch uses its result" : "another call waits for it";
    return {Code::TIMEOUT,
            fmt::format("{} for {} did not end before the time-out; nothing ran; {}", what_of(job),
                        device, state),
            "Fix: give a longer time-out, prepare the program before it is dispatched "
            "(wye_program_prepare), or make it smaller",
            job.program->name()};
}

Error overdue_error(const std::string& device, const CompileJob& job) {
    return {Code::DEVICE_BUSY,
            fmt::format("{} is still {}, which did not end before a time-out; it compiles one "
                        "program at a time",
                        device, what_of(job)),
            "Fix: wait for it with a flush, dispatch programs that are compiled already, or use "
            "another device",
            device};
}

}  // namespace

CompiledRef DeviceSession::find(LoadedProgram& program, const Form& form) {
    if (CompiledRef found = program.find_compiled(*this, form)) return found;
    const auto [first, last] = by_fingerprint_.equal_range(program.fingerprint().bytes);
    for (auto it = first; it != last; ++it) {
        CompiledRef found = it->second.lock();
        // A fingerprint can be forged, so the bytes are compared.
        if (!found || found->form != form || *found->encoding != *program.encoding()) continue;
        program.remember(*this, found);
        return found;
    }
    return nullptr;
}

bool DeviceSession::await(sdk::WaitingLock& lock, const std::optional<Clock::time_point>& deadline,
                          const CompileJob& job) {
    while (!job.done) {
        if (!deadline)
            lock.wait(compile_ended_);
        else if (!lock.wait_until(compile_ended_, *deadline))
            return job.done;
    }
    return true;
}

Result<CompiledRef> DeviceSession::compiled(LoadedProgram& program, const Form& form,
                                            std::string_view format, CompileStats& stats,
                                            std::optional<Clock::time_point> deadline, bool warms) {
    std::shared_ptr<CompileJob> job;
    // Gets the last overdue job, if any, after it has ended. Declared before `lock`, so that the
    // lock is released before the thread of that job is joined.
    std::shared_ptr<CompileJob> late;
    sdk::WaitingLock lock(compile_mutex_);
    for (;;) {
        job = std::make_shared<CompileJob>(program.shared_from_this(), form, format);
        job->known = find(program, form);
        job->warms = warms && format_ != WYE_FORMAT_PROGRAM;
        if (job->known && (!job->warms || job->known->made_code)) {
            counters_.found();
            return job->known;
        }
        if (!job_) break;
        // If two calls need the same program, the second waits for the compile of the first.
        const std::shared_ptr<CompileJob> running = job_;
        if (running->overdue && (running->program != job->program || running->form != form))
            return overdue_error(info().selector, *running);
        if (!await(lock, deadline, *running)) return not_in_time(info().selector, *running, false);
    }
    const Span span(trace(), "compile", {.subject = program.name()});
    late = std::move(late_);
    if (!deadline && compiles_here()) {
        job_ = job;
        lock.unlock();
        compile(*job);
    } else {
        WYE_ASSIGN(job->thread, sdk::WideThread::start("wye-compile",
                                                       [this, job = job.get()] { compile(*job); }));
        job_ = job;
        if (!await(lock, deadline, *job)) {
            job->overdue = true;
            late_ = job;
            return not_in_time(info().selector, *job, true);
        }
        lock.unlock();
        job->thread.join();
    }
    add(stats, std::move(job->stats));
    if (job->thrown) std::rethrow_exception(job->thrown);
    return *std::move(job->made);
}

bool DeviceSession::compiles_here() const {
    return device_->built_in() && format_ == WYE_FORMAT_PROGRAM && sdk::has_room(sdk::kRoom);
}

// Runs on the job's thread, or on the caller's thread.
void DeviceSession::compile(CompileJob& job) noexcept {
    const Span span(trace(), "compile", {.subject = job.program->name()});
    job.stats.trace = trace();
    try {
        job.made.emplace(compile_now(job));
    } catch (...) {
        job.thrown = std::current_exception();
    }
    counters_.compiled(job.stats);
    bool overdue = false;
    {
        const sdk::Lock lock(compile_mutex_);
        overdue = job.overdue;
        job.done = true;
        job_.reset();  // waiting calls, or `late_`, still share the job
        compile_ended_.notify_all();
    }
    if (overdue) save_entries(job.stats, *disk_);
}

Result<CompiledRef> DeviceSession::compile_now(CompileJob& job) {
    CompiledRef out = job.known;
    if (!out) {
        WYE_TRY(alive());
        auto made = try_twice([&] {
            return exec::compile(device_, facts_, lines_, *job.program, job.form, job.format,
                                 *disk_, job.stats);
        });
        if (!made.ok()) return noted(std::move(made).error());
        out = std::move(made).value();
        if (trace_) trace_->name_object(out->native.object(), job.program->name());
        const sdk::Lock lock(compile_mutex_);
        if (out->unsaved && unsaved_.size() < kMostUnsaved) unsaved_.push_back(out);
        std::erase_if(by_fingerprint_, [](const auto& entry) { return entry.second.expired(); });
        by_fingerprint_.emplace(job.program->fingerprint().bytes, out);
        job.program->remember(*this, out);
    }
    if (job.warms) make_code(*job.program, *out, job.stats);
    return out;
}

// Submits a launch of no workgroups, so that drivers which generate code at the first launch do it
// now. Errors are dropped: the first launch would report them again.
void DeviceSession::make_code(const LoadedProgram& program, CompiledProgram& compiled,
                              CompileStats& stats) {
    const Clock::time_point start = now();
    const registry::ProcessStateGuard guard(!device_->built_in());
    if (!ready().ok()) return;
    const WorkspaceLease workspace = workspaces_.take();
    // The trap buffer stands in for all buffers of the program, since nothing accesses them.
    const auto buffer = trap_buffer(*workspace);
    if (!buffer.ok()) return;
    const plan::ProgramPlan& plan = program.plan();
    const std::vector<wye_binding> bindings(plan.bindings.arguments.size(),
                                            sdk::binding_of(*buffer, 0, 0, 0));
    const std::vector<std::uint64_t> params(plan.params.size / sizeof(std::uint64_t) + 1);
    wye_operation operation = sdk::new_operation(WYE_OPERATION_DISPATCH);
    wye_dispatch_op& dispatch = operation.u.dispatch;
    dispatch.program = compiled.native.object();
    dispatch.bindings = bindings.data();
    dispatch.binding_count = static_cast<std::uint32_t>(bindings.size());
    dispatch.params = params.data();
    dispatch.params_size = plan.params.size;
    if (compiled.uses_trap) dispatch.trap = sdk::binding_of(*buffer, 0, 8, 1);
    if (run({&operation, 1}, {}).ok()) compiled.made_code = true;
    stats.driver_ns += nanoseconds(now() - start);
}

bool DeviceSession::overdue() {
    const sdk::Lock lock(compile_mutex_);
    return job_ && job_->overdue;
}

void DeviceSession::await_overdue() {
    std::shared_ptr<CompileJob> late;
    sdk::WaitingLock lock(compile_mutex_);
    while (job_ && job_->overdue) lock.wait(compile_ended_);
    if (!job_) late = std::move(late_);
}

}  // namespace wye::exec
