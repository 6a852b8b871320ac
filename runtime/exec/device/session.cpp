// SPDX-License-Identifier: Apache-2.0
#include "exec/device/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "exec/device/compile_job.hpp"
#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "exec/program/compile.hpp"
#include "exec/program/loaded_program.hpp"
#include "route/route.hpp"
#include "wye/sdk/processors.hpp"

namespace wye::exec {
namespace {

// The time limit for saving programs when a device is closed, since saving may take as long as
// compiling. Later processes save the rest.
constexpr std::chrono::seconds kSaveTime{2};
constexpr std::uint64_t kNoLimit = UINT64_MAX;

// The default limit: 512 MiB, but at most an eighth of the machine's memory, since staging memory
// cannot be paged out.
std::uint64_t default_staging_bytes() noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{512} << 20U;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return kMost;
    return std::min(kMost,
                    static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 8);
}

// The staging memory limit of a device.
std::uint64_t staging_bytes(const registry::DeviceInfo& device, const TransferOptions& options) {
    using Staging = TransferOptions::Staging;
    const bool shared = device.facts.has(WYE_FACT_KEY_UNIFIED_MEMORY);
    const bool on = options.staging == Staging::On || (options.staging == Staging::Auto && !shared);
    if (!on) return 0;
    return options.bytes != 0 ? options.bytes : default_staging_bytes();
}

// The number of native queues that the device supports.
std::uint64_t native_queues(const registry::DeviceInfo& device) {
    return device.facts.number(WYE_FACT_KEY_MAX_QUEUES).value_or(1);
}

}  // namespace

// The default of `threads`: half of the processors, at most 8. The application has the rest.
TransferOptions::TransferOptions() : threads(std::clamp(sdk::usable_processors() / 2, 1U, 8U)) {}

Result<SessionRef> DeviceSession::open(registry::Registry& registry,
                                       const registry::Selection& selection,
                                       std::uint64_t generation, const SessionOptions& options) {
    WYE_ASSIGN(registry::DeviceRef device, registry.open_device(*selection.device));
    return std::make_shared<DeviceSession>(std::move(device), selection, generation, options);
}

DeviceSession::DeviceSession(registry::DeviceRef device, const registry::Selection& selection,
                             std::uint64_t generation, const SessionOptions& options)
    : device_(std::move(device)),
      reason_(selection.reason),
      passed_over_(selection.passed_over),
      disk_(options.cache),
      facts_(target_facts(device_->info().facts, options.quirks)),
      trace_(options.trace),
      trace_device_(
          trace_ ? trace_->add_device(device_->info().selector + ": " + device_->info().name) : 0),
      memory_(options.memory),
      account_{options.device_memory_limit},
      staging_(staging_bytes(device_->info(), options.transfer)),
      copiers_(options.copiers),
      pending_(queues_.mutex, options.pending, device_->info().selector),
      queues_(std::min(options.queues, native_queues(device_->info())),
              native_queues(device_->info()), {trace_.get(), trace_device_}) {
    const registry::DeviceInfo& info = device_->info();
    if (disk_->store.on()) lines_ = device_lines(info, facts_);
    owner_ = std::make_shared<const registry::Owner>(
        registry::Owner{info.plugin, info.index, generation});
    format_ = route::choose_format(info, lower::formats());
    limits_ = route::limits(info);
    memory_->add(*this);
}

DeviceSession::~DeviceSession() {
    memory_->remove(*this);
    finish();
    pending_.drop_idle();  // idle work refers to the queues, which are destroyed first
    try {
        const Clock::time_point start = Clock::now();
        for (const CompiledRef& compiled : unsaved_)
            if (!lost() && Clock::now() - start < kSaveTime)
                if (const auto entry = entry_of(*compiled))
                    disk_->store.put(entry->key, entry->value);
    } catch (const std::exception&) {  // no memory: the next process compiles again
    }
}

void DeviceSession::save(CompileStats& stats) noexcept {
    const Span span(trace(), "save compiled programs");
    save_entries(stats, *disk_);
}

Result<void> DeviceSession::settle() {
    for (;;) {
        Ticket ticket;
        std::string what;
        {
            const sdk::Lock lock(abandoned_mutex_);
            if (abandoned_.empty()) break;
            ticket = abandoned_.front().ticket;
            what = abandoned_.front().what;
        }
        const auto reached = ticket.queue->reached(ticket.value);
        if (reached.ok() && !*reached)
            return Error(
                Code::DEVICE_BUSY,
                fmt::format("{} is still running {}, which timed out and cannot be cancelled",
                            info().selector, what),
                "Fix: wait until that work has ended (wye_device_flush), or use another device",
                info().selector);
        if (!reached.ok()) failed(ticket, reached.error());
        let_go(ticket);
    }
    return alive();
}

void DeviceSession::let_go(const Ticket& ticket) {
    std::optional<Abandoned> work;  // freed after the lock is released
    const sdk::Lock lock(abandoned_mutex_);
    const auto found = std::ranges::find_if(
        abandoned_, [&](const Abandoned& one) { return one.ticket == ticket; });
    if (found == abandoned_.end()) return;  // another thread has released it
    work = std::move(*found);
    abandoned_.erase(found);
    set_special(kHasAbandoned, !abandoned_.empty());
}

void DeviceSession::collect() {
    (void)pending_.collect();
    (void)settle();
}

Result<void> DeviceSession::flush() {
    settle_all();
    return alive();
}

void DeviceSession::settle_all() {
    const Span span(trace(), "flush");
    await_overdue();
    line_.await_idle();
    pending_.wait_for_all();
    for (;;) {
        Ticket ticket;
        {
            const sdk::Lock lock(abandoned_mutex_);
            if (abandoned_.empty()) break;
            ticket = abandoned_.front().ticket;
        }
        try {
            auto waited = ticket.queue->wait(ticket.value);
            if (!waited.ok()) failed(ticket, waited.error());
        } catch (const std::bad_alloc&) {
            if (!ticket.queue->has_ended(ticket.value)) throw;
        }
        let_go(ticket);
    }
    for (const Ticket& newest : queues_.newest()) await_end(newest);
    (void)queues_.newest();  // destroys native queues whose work has now ended
}

void DeviceSession::await_end(const Ticket& ticket) {
    if (!ticket.queue) return;
    try {
        (void)wait(ticket);
    } catch (const std::bad_alloc&) {  // nobody needs the error
        if (!ticket.queue->has_ended(ticket.value)) throw;
    }
    queues_.ended(ticket);
}

Result<QueueGrant> DeviceSession::take_queue(const QueueRequest& request) {
    WYE_TRY(alive());
    auto taken = queues_.take_public(device_, request);
    // Work in the line still holds the numbers of public queues that were freed meanwhile, so wait
    // for that work and try again.
    if (!taken.ok() && taken.error().code == Code::LIMIT_EXCEEDED && has_line()) {
        line_.await_idle();
        taken = queues_.take_public(device_, request);
    }
    if (!taken.ok()) return noted(std::move(taken).error());
    return taken;
}

Result<void> DeviceSession::wait_native(std::uint32_t queue, const wye_native_handle& event) {
    WYE_TRY(ready());
    auto sent = queues_.wait_native(device_, event, queue);
    if (!sent.ok()) return noted(std::move(sent).error());
    return sent;
}

// Waits twice, since polling a dispatch whose launch has ended may submit its read-backs.
Result<void> DeviceSession::flush(std::uint32_t queue) {
    const Span span(trace(), "flush queue");
    {
        const sdk::Lock lock(queues_.mutex);
        (void)queues_.await_place({}, queue, {});
    }
    for (int round = 0; round < 2; ++round) {
        await_end(queues_.newest_of(queue));
        (void)pending_.collect();
    }
    return alive();
}

void DeviceSession::finish() noexcept {
    for (;;) {
        try {
            settle_all();
            break;
        } catch (const std::exception&) {  // no memory for an error's text
            std::this_thread::yield();
        }
    }
    line_.stop();
    notifier_.stop();  // first, since its functions may wait for work with a time limit
    watcher_.stop();
}

void DeviceSession::abandon(Abandoned work) {
    std::list<Abandoned> one;
    one.push_back(std::move(work));
    abandon(one);
}

void DeviceSession::abandon(std::list<Abandoned>& work) noexcept {
    const sdk::Lock lock(abandoned_mutex_);
    abandoned_.splice(abandoned_.end(), work);
    set_special(kHasAbandoned, true);
}

void DeviceSession::put_in_line(Hold& hold, std::list<WorkRef>& work) noexcept {
    const sdk::Lock lock(queues_.mutex);
    queues_.hold_place(hold);
    set_special(kHasLine, true);
    line_.add(work);
}

void DeviceSession::leave_line(Hold& hold, std::atomic<bool>& in_line) noexcept {
    // The hold and the place in the line end under one lock, so that a thread that waited for the
    // hold finds the work submitted, and can wait for its end.
    const sdk::Lock lock(queues_.mutex);
    queues_.leave_place(hold);
    set_special(kHasLine, queues_.has_places());
    line_.left(in_line);
}

Result<void> DeviceSession::await_idle(Clock::time_point deadline, std::uint32_t queue) {
    const Ticket busy = queues_.busy_for(queue);
    if (!busy.queue) return {};
    const Clock::time_point start = now();
    const std::uint64_t limit = start < deadline ? nanoseconds(deadline - start) : 0;
    const auto waited = busy.queue->wait(busy.value, limit);
    // Any other error is for the call that waits for that work.
    if (waited.ok() || waited.error().code != Code::TIMEOUT) return {};
    const std::string running = pending_.given_up();
    return Error(
        Code::TIMEOUT,
        fmt::format(
            "{} did not become free before the time-out: it is still running {}", info().selector,
            running.empty()
                ? "earlier work"
                : fmt::format("the {}, which was cancelled and cannot be stopped", running)),
        "Fix: wait for it with a flush (wye_device_flush), give a longer time-out, or use another "
        "device",
        info().selector);
}

Result<void> DeviceSession::await_place(std::span<const BufferUse> uses, std::uint32_t queue,
                                        Clock::time_point deadline) {
    if (!has_line()) return {};
    const sdk::Lock lock(queues_.mutex);
    if (queues_.await_place(uses, queue, deadline)) return {};
    return Error(
        Code::TIMEOUT,
        fmt::format("earlier work on the same buffers or queue of {} is not submitted yet: "
                    "it is still being compiled, or has fixpoint iterations left to submit",
                    info().selector),
        "Fix: give a longer time-out, or prepare programs before they are dispatched "
        "(wye_program_prepare_submit)",
        info().selector);
}

Result<void> DeviceSession::alive() const {
    if (!lost()) return {};
    const sdk::Lock lock(loss_mutex_);
    return Error(*loss_).wrapped(
        Code::DEVICE_LOST, fmt::format("{} was lost", info().selector),
        "Fix: open the device again, and make its buffers anew: what was on it is gone",
        info().selector);
}

Error DeviceSession::noted(Error error) {
    if (error.code != Code::DEVICE_LOST && !device_->lost()) return error;
    const sdk::Lock lock(loss_mutex_);
    if (!loss_) loss_ = error;
    lost_.store(true, std::memory_order_release);
    return error;
}

// First closes the queues, so that nothing more is submitted. While this function waits for other
// calls or for the device, it holds no lock that other calls need.
Result<void> DeviceSession::recover() {
    const sdk::Lock alone(recovering_);
    if (!lost() || recovered_) return {};
    for (const Ticket& newest : queues_.close()) await_end(newest);
    settle_all();
    pending_.drop_idle();  // idle work refers to these queues
    workspaces_.clear();
    staging_.clear();
    if (const std::uint64_t lent = staging_.lent(); lent != 0)
        return Error(Code::DEVICE_BUSY,
                     fmt::format("{} was lost, and outputs of pending dispatches are still in {} "
                                 "of its buffers",
                                 info().selector, lent),
                     "Fix: free these pending dispatches, then open the device again",
                     info().selector);
    auto result = device_->recover();
    if (!result.ok() && result.error().code != Code::UNIMPLEMENTED &&
        result.error().code != Code::UNSUPPORTED)
        return result;
    recovered_ = true;
    return {};
}

void DeviceSession::await_use(BufferHistory& history) {
    for (;;) {
        const Ticket newest = [&] {
            const sdk::Lock lock(queues_.mutex);
            return queues_.pending_use(history);
        }();
        if (!newest.queue) return;
        await_end(newest);
    }
}

void DeviceSession::count(wye_counters& out) const {
    counters_.add_to(out);
    const registry::BufferCounts buffers = device_->buffer_counts();
    out.buffers_made += buffers.made;
    out.buffer_bytes += buffers.bytes;
    out.peak_buffer_bytes += buffers.peak_bytes;
    out.queues_made += queues_.publics_made();
    out.queue_submits += queues_.public_submits();
    const registry::LayoutCounts layouts = device_->layout_counts();
    out.layouts_made += layouts.made;
    out.layouts_shared += layouts.shared;
}

Error DeviceSession::failed(const Ticket& ticket, Error error) {
    (void)ticket.queue->retire(ticket.value);  // no other thread asks for the outcome
    if (error.code != Code::CANCELLED && queues_.replace(ticket))
        pending_.drop_idle();  // idle work refers to this queue
    return noted(std::move(error));
}

Result<Ticket> DeviceSession::submit(std::span<const wye_operation> operations,
                                     std::span<const BufferUse> uses, SubmitOptions options,
                                     Clock::time_point start, RunTimes& times) {
    Ticket ticket;
    auto sent = queues_.submit(device_, operations, uses, options, ticket);
    times.submitted(start);
    if (!sent.ok()) return noted(std::move(sent).error());
    counters_.submitted();
    return ticket;
}

Result<void> DeviceSession::ended_slowly(Result<void> waited, const Ticket& ticket, bool timed,
                                         RunTimes& times) {
    if (trace_) trace_end(ticket, waited.ok());
    if (!waited.ok()) return failed(ticket, std::move(waited).error());
    if (!timed) return {};
    const auto timing = ticket.queue->timing(ticket.value);
    times.device_known = times.device_known && timing.ok() && timing->device_ns != 0;
    if (times.device_known) times.device_ns += timing->device_ns;
    return {};
}

void DeviceSession::trace_end(const Ticket& ticket, bool ok) {
    TraceTimes times;
    if (ok)
        if (const auto timing = ticket.queue->timing(ticket.value); timing.ok())
            times = {timing->begin_ns, timing->end_ns};
    trace_->ended(trace_device_, ticket.index, ticket.value, ok, times);
}

Result<void> DeviceSession::wait_traced(const Ticket& ticket, std::uint64_t timeout_ns) {
    const Span span(trace(), "wait",
                    {.submit = ticket.value, .device = trace_device_, .queue = ticket.index});
    return ticket.queue->wait(ticket.value, timeout_ns);
}

Result<void> DeviceSession::wait(const Ticket& ticket, std::uint64_t timeout_ns, bool timed,
                                 RunTimes& times, bool& runs) {
    runs = false;
    const registry::NativeQueue& queue = *ticket.queue;
    auto waited = wait(ticket, timeout_ns == 0 ? kNoLimit : timeout_ns);
    if (waited.ok() || waited.error().code != Code::TIMEOUT)
        return ended(std::move(waited), ticket, timed, times);
    times.waited();
    runs = true;
    if (!queue.cancel(ticket.value, ticket.value).ok()) return waited;
    const auto stopped = queue.wait(ticket.value, nanoseconds(kCancelGrace));
    if (!stopped.ok() && stopped.error().code == Code::TIMEOUT) return waited;
    runs = false;
    if (!stopped.ok()) failed(ticket, stopped.error());
    return waited;
}

[[gnu::hot]] Result<void> DeviceSession::run(std::span<const wye_operation> operations,
                                             std::span<const BufferUse> uses, SubmitOptions options,
                                             Clock::time_point start, RunTimes& times) {
    if (operations.empty()) return {};
    WYE_ASSIGN(const Ticket ticket, submit(operations, uses, options, start, times));
    return wait_end(ticket, options.timed, times);
}

[[gnu::hot]] Result<void> DeviceSession::wait_end(const Ticket& ticket, bool timed,
                                                  RunTimes& times) {
    return ended(wait(ticket), ticket, timed, times);
}

Result<void> DeviceSession::run(std::span<const wye_operation> operations,
                                std::span<const BufferUse> uses) {
    RunTimes times;
    return run(operations, uses, false, now(), times);
}

}  // namespace wye::exec
