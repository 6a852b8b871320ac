// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue_lease.hpp"

namespace wye::exec {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;
// Time that cancelled work may take to stop.
constexpr std::uint64_t kCancelGrace = 2'000'000'000;

}  // namespace

[[gnu::hot]] QueueLease::~QueueLease() {
    if (hold_ && !session_->abandoned_) session_->scratch_.release_all();
}

Result<wye_buffer_object*> QueueLease::scratch(std::uint64_t size, std::uint32_t alignment) {
    held();
    auto taken = session_->scratch_.take(session_->device_, size, alignment);
    if (!taken.ok()) return session_->noted(std::move(taken).error());
    return taken;
}

Result<wye_buffer_object*> QueueLease::trap_buffer() {
    held();
    if (!session_->trap_buffer_) {
        auto made = registry::NativeBuffer::create(session_->device_, sizeof session_->trap_words_,
                                                   64, "trap words", WYE_BUFFER_USAGE_STAGING);
        if (!made.ok()) return session_->noted(std::move(made).error());
        session_->trap_buffer_ = std::move(made).value();
    }
    return session_->trap_buffer_->object();
}

std::uint32_t* QueueLease::trap_words() noexcept {
    held();
    return session_->trap_words_;
}

std::vector<wye_operation>& QueueLease::operations() noexcept {
    held();
    session_->operations_.clear();
    return session_->operations_;
}

std::vector<wye_binding>& QueueLease::bindings() noexcept {
    held();
    session_->bindings_.clear();
    return session_->bindings_;
}

[[gnu::hot, gnu::always_inline]] inline Result<std::uint64_t> QueueLease::enter(
    std::span<const wye_operation> operations, bool timed, Clock::time_point start,
    RunTimes& times) {
    held();
    if (auto ready = session_->ensure_queue(); !ready.ok())
        return session_->noted(std::move(ready).error());
    auto submitted = session_->queue_->submit(operations, timed);
    times.queued = now();
    times.enqueue_ns += nanoseconds(times.queued - start);
    if (!submitted.ok()) {
        session_->queue_.reset();
        return session_->noted(std::move(submitted).error());
    }
    return submitted;
}

Result<std::uint64_t> QueueLease::submit(std::span<const wye_operation> operations, bool timed,
                                         Clock::time_point start, RunTimes& times) {
    return enter(operations, timed, start, times);
}

// Stores the end of a wait in which the work ended.
[[gnu::hot, gnu::always_inline]] inline Result<void> QueueLease::ended(Result<void> waited,
                                                                       std::uint64_t value,
                                                                       bool timed,
                                                                       RunTimes& times) {
    held();
    const Clock::time_point end = now();
    times.ended = end;
    times.wait_ns += nanoseconds(end - times.queued);
    if (!waited.ok()) {
        session_->queue_.reset();  // its later events are poisoned too
        return session_->noted(std::move(waited).error());
    }
    if (!timed) return {};
    const auto timing = session_->queue_->timing(value);
    times.device_known = times.device_known && timing.ok() && timing->device_ns != 0;
    if (times.device_known) times.device_ns += timing->device_ns;
    return {};
}

Result<void> QueueLease::wait(std::uint64_t value, std::uint64_t timeout_ns, bool timed,
                              RunTimes& times, std::uint64_t& pending) {
    held();
    pending = 0;
    registry::NativeQueue& queue = *session_->queue_;
    auto waited = queue.wait(value, timeout_ns == 0 ? kNoLimit : timeout_ns);
    if (waited.ok() || waited.error().code != Code::TIMEOUT)
        return ended(std::move(waited), value, timed, times);
    times.ended = now();
    times.wait_ns += nanoseconds(*times.ended - times.queued);
    pending = value;
    if (!queue.cancel(value, value).ok()) return waited;
    const auto stopped = queue.wait(value, kCancelGrace);
    if (!stopped.ok() && stopped.error().code == Code::TIMEOUT) return waited;
    pending = 0;
    if (!stopped.ok()) {
        (void)session_->noted(stopped.error());
        session_->queue_.reset();
    }
    return waited;
}

[[gnu::hot]] Result<void> QueueLease::run(std::span<const wye_operation> operations, bool timed,
                                          Clock::time_point start, RunTimes& times) {
    if (operations.empty()) return {};
    held();
    WYE_ASSIGN(const std::uint64_t value, enter(operations, timed, start, times));
    return ended(session_->queue_->wait(value), value, timed, times);
}

Result<void> QueueLease::run(std::span<const wye_operation> operations) {
    RunTimes times;
    return run(operations, false, now(), times);
}

void QueueLease::abandon(Abandoned work) {
    held();
    session_->abandoned_ = std::move(work);
}

}  // namespace wye::exec
