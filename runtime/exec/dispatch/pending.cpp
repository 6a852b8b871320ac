// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending.hpp"

#include <fmt/format.h>

#include <exception>
#include <thread>

#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/pending_launch.hpp"
#include "exec/dispatch/pending_request.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/submit.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {
namespace {

constexpr std::chrono::seconds kCancelGrace{2};  // the time that cancelled work may take to stop

std::string copy_of(wye_string text) {
    return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

// Bytes of all copies that the dispatch will own.
std::uint64_t owned_bytes(const Flow& flow) {
    if (flow.has(WYE_DISPATCH_BORROW)) return 0;
    return (flow.rules.waits ? 0 : flow.bound.bytes_uploaded) + flow.bound.bytes_downloaded;
}

}  // namespace

Pending::Texts::Texts(const wye_dispatch_desc& desc)
    : label(copy_of(desc.label)), profile(copy_of(desc.profile)) {}

Result<WorkPtr<Pending>> Pending::submit(Context& context, const wye_dispatch_desc& desc,
                                         const RequestRules& rules, Clock::time_point start) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(Target target, Target::find(handles, desc));
    NamedQueue queue;
    if (target.has_device()) [[likely]] {
        WYE_ASSIGN(queue, NamedQueue::find(handles, desc.queue, target.session(), true));
        WYE_ASSIGN(auto repeated, PendingLaunch::repeat(context, target, queue.number(), start));
        if (repeated) return WorkPtr<Pending>(std::move(repeated));
    }
    Flow flow(target, rules);
    flow.queue = std::move(queue);
    const Span span(context.trace(), "submit dispatch",
                    {.subject = flow.program.name(), .label = label_of(desc)}, start);
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);
    WYE_TRY(decide(context, flow));
    WYE_TRY(compile_kernels(flow));
    WYE_TRY(check_rounds(flow));
    WYE_TRY(flow.session().ready());
    WYE_ASSIGN(PendingRoom room,
               flow.session().pending().room(owned_bytes(flow), flow.has(WYE_DISPATCH_AT_ONCE),
                                             flow.deadline));
    WorkPtr<PendingRequest> out(
        flow.session().recycler().make<PendingRequest>(context, flow, start));
    WYE_TRY(out->start(handles, flow));
    if (!out->has_ended()) room.take(out);
    flow.counted = true;
    flow.count_launch();
    return WorkPtr<Pending>(std::move(out));
}

Result<registry::Handle> Pending::add(WorkPtr<Pending> work, registry::HandleTable& handles) {
    struct Dropped {
        ~Dropped() {
            if (!work) return;
            try {
                (void)work->cancel();
            } catch (const std::exception&) {  // no memory for an error's text
            }
            if (work->borrows_) work->wait_for_end();
        }
        WorkPtr<Pending> work;
    } dropped{std::move(work)};
    DeviceSession& session = dropped.work->session_;
    auto handle = handles.add(registry::HandleKind::pending, dropped.work.get(), release_handle,
                              session.owner());
    if (handle.ok()) [[likely]] {
        (void)dropped.work.release();
        return handle;
    }
    Error error = std::move(handle).error();
    error.subject = session.info().selector;
    return error;
}

void Pending::wait_for_end() noexcept {
    for (;;) {
        try {
            wait({});
            return;
        } catch (const std::exception&) {  // no memory for an error's text
            end_without_memory();
        }
        if (has_ended()) return;
        std::this_thread::yield();
    }
}

bool Pending::await(const Ticket& ticket, std::optional<Clock::time_point> deadline,
                    Result<void>& waited) {
    std::uint64_t limit = UINT64_MAX;
    if (deadline) {
        const Clock::time_point start = now();
        limit = start < *deadline ? nanoseconds(*deadline - start) : 0;
    }
    if (limit == 0) {
        const auto reached = ticket.queue->reached(ticket.value);
        session_.counters().polled(!reached.ok() || *reached);
        if (!reached.ok()) waited = reached.error();
        return !reached.ok() || *reached;
    }
    waited = session_.wait(ticket, limit);
    return waited.ok() || waited.error().code != Code::TIMEOUT;
}

// A wait in the driver cannot be interrupted, so it waits in short slices and checks for a cancel
// by another thread between them.
bool Pending::wait_in_slices(Clock::time_point deadline) {
    constexpr std::chrono::milliseconds kSlice{2};
    for (;;) {
        const Clock::time_point end = now() + kSlice;
        const bool last = deadline <= end;
        if (wait(last ? deadline : end) || is_given_up()) return true;
        if (last) return false;
    }
}

Result<void> Pending::cancel() {
    const Ticket ticket = this->ticket();
    if (has_ended() || !ticket.queue) return {};
    auto asked = ticket.queue->cancel(ticket.value, ticket.value);
    if (asked.ok() ||
        (asked.error().code != Code::UNIMPLEMENTED && asked.error().code != Code::UNSUPPORTED))
        return asked;
    const sdk::Lock lock(mutex_);
    if (!has_ended()) given_up_.store(true, std::memory_order_release);
    return {};
}

Result<void> Pending::time_out(std::uint64_t timeout_ns) {
    const Ticket ticket = this->ticket();
    WYE_TRY(cancel());
    if (!is_given_up()) (void)wait_result(now() + kCancelGrace);
    const bool runs = !has_ended();
    if (!runs && status() != Code::CANCELLED) return {};  // it ended with its own result
    // The Pending keeps its own objects alive, so the abandoned entry has none.
    if (runs && ticket.queue) session_.abandon({ticket, "a " + what(), {}, {}, {}});
    return timed_out(name(), session_.info().selector, timeout_ns, runs, false);
}

Error Pending::cancelled() const {
    return {Code::CANCELLED,
            fmt::format("the {} on {} was cancelled; the device cannot stop it, and uses its "
                        "buffers until it ends",
                        what(), session_.info().selector),
            "Fix: wait for the device (wye_device_flush) before its buffers are used", name()};
}

void Pending::complete(Clock::time_point begun, const RunTimes& times,
                       Result<void> outcome) noexcept {
    if (times.wanted) report_times(times, begun, timed_, report_);
    if (!outcome.ok()) [[unlikely]]
        error_ = std::move(outcome).error();
    else if (!error_ && given_up_.load(std::memory_order_relaxed)) [[unlikely]]
        error_ = sdk::errors::made_or_brief(Code::CANCELLED, [&] { return cancelled(); });
    if (error_) [[unlikely]]
        report_.bytes_downloaded = 0;
}

void Pending::log(const Texts* texts) const {
    try {
        wye_dispatch_desc desc{};
        if (texts != nullptr) {
            desc.label = {texts->label.data(), texts->label.size()};
            desc.profile = {texts->profile.data(), texts->profile.size()};
        }
        log_dispatch(context_, desc, name(), session_.info().selector, outcome(), report_);
    } catch (const std::exception&) {  // no memory: the line is lost
    }
}

std::string Pending::what() const { return fmt::format("dispatch of `{}`", name()); }

Result<std::span<const std::byte>> Pending::output(std::uint32_t binding) const {
    WYE_TRY(outcome());
    return Error(
        Code::NOT_FOUND, fmt::format("the {} owns no output with binding {}", what(), binding),
        "Fix: name an output that was a host argument without storage, or binding 0 of a download",
        name());
}

}  // namespace wye::exec
