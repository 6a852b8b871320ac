// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/pending_later.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/submit.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {
namespace {

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

Result<WorkPtr<Pending>> Pending::submit(Context& context, Target& target,
                                         const RequestRules& rules, Clock::time_point start,
                                         NamedQueue queue, Keep keep) {
    const registry::HandleTable& handles = context.handles();
    const wye_dispatch_desc& desc = target.request();
    Flow flow(target, rules);
    flow.queue = std::move(queue);
    flow.keep = keep;
    const Span span(context.trace(), "submit dispatch",
                    {.subject = flow.program.name(), .label = label_of(desc)}, start);
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);
    WYE_TRY(decide(context, flow));
    bool later = false;
    if (rules.defers) {
        WYE_ASSIGN(const bool found, find_kernels(flow));
        later = !found;
    } else {
        WYE_TRY(compile_kernels(flow));
    }
    later = later || stops_between_iterations(flow);
    const bool ready = flow.session().is_ready();
    if (!ready) WYE_TRY(flow.session().ready());
    WYE_ASSIGN(PendingRoom room,
               flow.session().pending().room(owned_bytes(flow), flow.has(WYE_DISPATCH_AT_ONCE),
                                             flow.deadline));
    if (later || !ready) [[unlikely]] {
        WYE_ASSIGN(auto out, submit_later(context, target, flow, later, start, room));
        if (out) return out;
    }
    WorkPtr<PendingRequest> out(
        flow.session().recycler().make<PendingRequest>(context, flow, start));
    const bool limited = desc.timeout_ns != 0;
    if (limited) WYE_TRY(out->set_limit(desc.timeout_ns, *flow.deadline, rules.defers));
    WYE_TRY(out->start(handles, flow));
    if (!out->has_ended()) room.take(out);
    if (limited) out->set_alarm();
    flow.counted = true;
    flow.count_launch();
    return WorkPtr<Pending>(std::move(out));
}

// Another thread may add a hold between the check of the holds and the submit. As the two calls are
// not ordered, this submit need not come after that hold.
Result<WorkPtr<Pending>> Pending::submit_later(Context& context, Target& target, Flow& flow,
                                               bool must, Clock::time_point start,
                                               PendingRoom& room) {
    DeviceSession& session = flow.session();
    if (!must) {
        BufferUses uses;
        flow.residents.uses(flow.launch, uses);
        const sdk::Lock lock(session.queues().mutex);
        if (!session.queues().is_held({uses.data(), uses.size()}, flow.queue.number()))
            return WorkPtr<Pending>();
    }
    WYE_TRY(session.line().start());
    const std::uint64_t timeout_ns = flow.desc.timeout_ns;
    const auto deadline = flow.deadline;
    const bool watched = flow.rules.defers;
    WYE_ASSIGN(auto later, Later::make(context, target, flow));
    WorkPtr<PendingLater> out(new PendingLater(context, std::move(later), start));
    if (deadline) WYE_TRY(out->set_limit(timeout_ns, *deadline, watched));
    WYE_TRY(PendingLater::put(out, context.handles(), room));
    if (deadline) out->set_alarm();
    flow.counted = true;
    return WorkPtr<Pending>(std::move(out));
}

Result<WorkPtr<Pending>> Pending::submit_behind(const Context& context,
                                                const CheckedTransfer& checked, std::uint32_t flags,
                                                Clock::time_point start, PendingRoom& room) {
    DeviceSession& session = checked.session();
    {
        const sdk::Lock lock(session.queues().mutex);
        if (!session.queues().is_held(std::span(checked.uses).first(checked.count),
                                      checked.queue.number()))
            return WorkPtr<Pending>();
    }
    WYE_TRY(session.line().start());
    WorkPtr<PendingLater> out(new PendingLater(context, checked, flags, start));
    WYE_TRY(PendingLater::put(out, context.handles(), checked, room));
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

Result<void> Pending::outcome(wye_report* out) const {
    Result<void> result = outcome();
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        const wye_header header = out->header;
        *out = report_;
        out->header = header;
    }
    return result;
}

template <typename Wait>
void Pending::wait_surely(const Wait& once) noexcept {
    for (;;) {
        try {
            once();
            return;
        } catch (const std::exception&) {  // no memory for an error's text
            end_without_memory();
        }
        if (has_ended()) return;
        std::this_thread::yield();
    }
}

void Pending::wait_for_end() noexcept {
    wait_surely([&] { (void)wait({}); });
}

void Pending::wait_for_result() noexcept {
    wait_surely([&] { (void)wait_result({}); });
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

// A wait in the driver cannot be interrupted. So this function waits in short slices, and between
// them checks whether another thread has cancelled the work.
bool Pending::wait_in_slices(Clock::time_point deadline) {
    constexpr std::chrono::milliseconds kSlice{2};
    for (;;) {
        const Clock::time_point end = now() + kSlice;
        const bool last = deadline <= end;
        if (wait(last ? deadline : end) || is_given_up()) return true;
        if (last) return false;
    }
}

Result<void> Pending::set_limit(std::uint64_t timeout_ns, Clock::time_point deadline,
                                bool watched) {
    if (watched) WYE_TRY(session_.watcher().start());
    auto limit = std::make_unique<Limit>(timeout_ns, deadline);
    limit->alarm.work = this;
    limit->abandoned.push_back({{}, "a " + what(), {}, {}, {}});
    limit_ = std::move(limit);
    limit_watched_ = watched;
    special_.fetch_or(kLimited, std::memory_order_release);
    return {};
}

bool Pending::poll_special() {
    if (is_given_up()) return true;
    expire();
    return is_given_up() || poll();
}

bool Pending::wait_special(std::optional<Clock::time_point> deadline) {
    const bool limited = (special_.load(std::memory_order_acquire) & kLimited) != 0;
    for (;;) {
        // The alarm is read first: it becomes kNever only after the work was given up or has ended.
        const Clock::rep at = limited ? limit_->alarm.at.load() : Alarm::kNever;
        if (is_given_up()) return true;
        auto next = deadline;
        if (at != Alarm::kNever) {
            const Clock::time_point alarm{Clock::duration(at)};
            next = deadline ? std::min(*deadline, alarm) : alarm;
        }
        if (!next) return wait({});
        if (wait_in_slices(*next)) return true;
        if (deadline && *deadline <= now()) return poll_special();
        expire();
    }
}

Result<bool> Pending::stop(bool late) {
    if (withdraw(late)) return true;
    const Ticket ticket = this->ticket();
    if (has_ended()) return true;
    if (ticket.queue) {
        auto asked = ticket.queue->cancel(ticket.value, ticket.value);
        if (asked.ok()) return true;
        // If `late`, an error of the driver is ignored: the caller gives the work up.
        if (!late && asked.error().code != Code::UNIMPLEMENTED &&
            asked.error().code != Code::UNSUPPORTED)
            return std::move(asked).error();
    }
    return false;
}

Result<void> Pending::cancel() {
    if (has_ended()) return {};
    {
        const sdk::Lock lock(mutex_);
        // After the time limit, `expire` stops the work or gives it up.
        if ((special_.load(std::memory_order_relaxed) & kLate) != 0) return {};
        special_.fetch_or(kCancelled, std::memory_order_release);
    }
    Result<bool> stops(false);
    try {
        stops = stop(false);
    } catch (const std::exception&) {
        stops = sdk::errors::brief(Code::OUT_OF_MEMORY);
    }
    const sdk::Lock lock(mutex_);
    if (!stops.ok()) {
        special_.fetch_and(static_cast<std::uint8_t>(~kCancelled), std::memory_order_release);
        return stops.error();
    }
    if (!*stops && !has_ended()) special_.fetch_or(kGivenUp, std::memory_order_release);
    return {};
}

// At the time limit, asks the device to stop the work. A second call, kCancelGrace later, gives up
// work that has not stopped. Work that the device cannot stop is given up at once.
void Pending::expire() noexcept {
    constexpr std::chrono::milliseconds kRetry{10};  // after memory ran out
    if ((special_.load(std::memory_order_acquire) & kLimited) == 0) return;
    std::atomic<Clock::rep>& at = limit_->alarm.at;
    if (at.load() > Clock::now().time_since_epoch().count()) return;
    try {
        if (poll()) return;  // the work has ended with its own result
        bool again = false;
        {
            const sdk::Lock lock(mutex_);
            if (has_ended()) return;
            // Several threads may be here at one limit; the first has set the alarm anew.
            if (at.load() > Clock::now().time_since_epoch().count()) return;
            const std::uint8_t before = special_.load(std::memory_order_relaxed);
            if ((before & kGivenUp) != 0) {
                at = Alarm::kNever;
                return;
            }
            at = (now() + kCancelGrace).time_since_epoch().count();
            again = (before & kLate) != 0;
            // The limit of cancelled work has no effect, unless the cancel fails.
            if (!again && (before & kCancelled) != 0) return;
            special_.fetch_or(kLate, std::memory_order_release);
        }
        const auto stops = again ? Result<bool>(withdraw(true)) : stop(true);
        if (stops.ok() && *stops) return;
        const Ticket ticket = this->ticket();
        const sdk::Lock lock(mutex_);
        if (has_ended()) return;
        if (ticket.queue && !limit_->abandoned.empty()) {
            limit_->abandoned.front().ticket = ticket;
            session_.abandon(limit_->abandoned);
        }
        // Set after `abandon`, so that a thread that sees this bit gets DEVICE_BUSY from then on.
        special_.fetch_or(kGivenUp, std::memory_order_release);
        at = Alarm::kNever;  // last, so that a thread that sees kNever also sees kGivenUp
    } catch (const std::exception&) {
        at = (now() + kRetry).time_since_epoch().count();
    }
}

Error Pending::stopped() const {
    if (given_up_code() == Code::TIMEOUT)
        return timed_out(what(), name(), session_.info().selector, limit_->timeout_ns, true, false);
    return {Code::CANCELLED,
            fmt::format("the {} on {} was cancelled; the device cannot stop it, and uses its "
                        "buffers until it ends",
                        what(), session_.info().selector),
            "Fix: wait for the device (wye_device_flush) before its buffers are used", name()};
}

Error Pending::stopped_early() const {
    if (given_up_code() == Code::TIMEOUT)
        return timed_out(what(), name(), session_.info().selector, limit_->timeout_ns, false,
                         false);
    return {Code::CANCELLED,
            fmt::format("the {} on {} was cancelled between two of its submits", what(),
                        session_.info().selector),
            "Fix: submit it again", name()};
}

Error Pending::never_ran(bool late) const {
    if (!late)
        return {Code::CANCELLED,
                fmt::format("the {} on {} was cancelled; it had not begun", what(),
                            session_.info().selector),
                "Fix: submit it again", name()};
    return {Code::TIMEOUT,
            fmt::format("the {} on {} had not begun within {:g} ms, since it, or work before it, "
                        "was still being compiled; nothing ran",
                        what(), session_.info().selector,
                        static_cast<double>(limit_->timeout_ns) / 1e6),
            "Fix: give a longer time-out, or prepare the program before it is dispatched "
            "(wye_program_prepare_submit)",
            name()};
}

void Pending::complete(Clock::time_point begun, const RunTimes& times,
                       Result<void> outcome) noexcept {
    if (times.wanted) report_times(times, begun, timed_, report_);
    if (!outcome.ok()) [[unlikely]]
        error_ = std::move(outcome).error();
    if (special_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        complete_special();
    if (error_) [[unlikely]]
        report_.bytes_downloaded = 0;
}

void Pending::complete_special() noexcept {
    const std::uint8_t special = special_.load(std::memory_order_relaxed);
    if ((special & kLimited) != 0) {
        session_.watcher().unset(limit_->alarm);
        limit_->alarm.at = Alarm::kNever;
    }
    const Code code = given_up_code();
    if ((special & kGivenUp) != 0 && !error_)
        error_ = sdk::errors::made_or_brief(code, [&] { return stopped(); });
    // The device has stopped the work. The error of the driver does not name the work, so the name
    // is added.
    if ((special & kGivenUp) == 0 && error_ && error_->code == Code::CANCELLED &&
        error_->subject != name())
        error_ = sdk::errors::made_or_brief(code, [&] {
            if (code == Code::TIMEOUT)
                return timed_out(what(), name(), session_.info().selector, limit_->timeout_ns,
                                 false, false);
            return Error(*error_).wrapped(
                Code::CANCELLED,
                fmt::format("the {} on {} was cancelled, and the device stopped it", what(),
                            session_.info().selector),
                "Fix: submit it again", name());
        });
}

void Pending::log(const Texts* texts) const {
    try {
        wye_dispatch_desc desc{};
        if (texts != nullptr) {
            desc.label = {texts->label.data(), texts->label.size()};
            desc.profile = {texts->profile.data(), texts->profile.size()};
        }
        log_dispatch(context_, desc, name(), session_.info().selector, outcome(), report_);
    } catch (const std::exception&) {  // no memory: the log line is lost
    }
}

std::string Pending::what() const { return fmt::format("dispatch of `{}`", name()); }

Result<std::span<const std::byte>> Pending::output(std::uint32_t binding) const {
    WYE_TRY(outcome());
    return Error(
        Code::NOT_FOUND, fmt::format("the {} owns no output with binding {}", what(), binding),
        "Fix: for a dispatch, name a host output whose `output` was null, or a resident argument "
        "with WYE_READ_BACK; for a download, binding 0",
        name());
}

}  // namespace wye::exec
