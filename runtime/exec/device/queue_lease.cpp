// SPDX-License-Identifier: Apache-2.0
//
// The submit stage: the only place where operations reach a driver's queue.
#include <fmt/format.h>

#include "exec/device/session.hpp"

namespace wye::exec {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;
// How long work that was told to stop may take to do so.
constexpr std::uint64_t kCancelGrace = 2'000'000'000;

}  // namespace

[[gnu::hot]] QueueLease::~QueueLease() {
    if (lock_.owns_lock() && !session_->abandoned_) session_->scratch_.release_all();
}

Result<wye_buffer_object*> QueueLease::scratch(std::uint64_t size, std::uint32_t alignment) {
    auto taken = session_->scratch_.take(session_->device_, size, alignment);
    if (!taken.ok()) return session_->noted(std::move(taken).error());
    return taken;
}

Result<wye_buffer_object*> QueueLease::trap_buffer() {
    if (!session_->trap_buffer_) {
        auto made = registry::NativeBuffer::create(session_->device_, sizeof session_->trap_record_,
                                                   64, "trap record", WYE_BUFFER_USAGE_STAGING);
        if (!made.ok()) return session_->noted(std::move(made).error());
        session_->trap_buffer_ = std::move(made).value();
    }
    return session_->trap_buffer_->object();
}

std::uint32_t* QueueLease::trap_record() noexcept { return session_->trap_record_; }

std::vector<wye_operation>& QueueLease::operations() noexcept {
    session_->operations_.clear();
    return session_->operations_;
}

std::vector<wye_binding>& QueueLease::bindings() noexcept {
    session_->bindings_.clear();
    return session_->bindings_;
}

[[gnu::hot]] Result<void> QueueLease::run(std::span<const wye_operation> operations,
                                          std::uint64_t timeout_ns, bool timed,
                                          Clock::time_point start, RunTimes& times,
                                          std::uint64_t& pending) {
    pending = 0;
    if (operations.empty()) return {};
    if (auto ready = session_->ensure_queue(timed); !ready.ok())
        return session_->noted(std::move(ready).error());
    registry::NativeQueue& queue = *session_->queue_;

    auto submitted = queue.submit(operations);
    const Clock::time_point queued = now();
    times.enqueue_ns += nanoseconds(queued - start);
    if (!submitted.ok()) {
        session_->queue_.reset();
        return session_->noted(std::move(submitted).error());
    }
    if (times.unwritten != nullptr) [[unlikely]]
        session_->write(*std::exchange(times.unwritten, nullptr));
    auto waited = queue.wait(*submitted, timeout_ns == 0 ? kNoLimit : timeout_ns);
    const Clock::time_point ended = now();
    times.ended = ended;
    times.wait_ns += nanoseconds(ended - queued);
    if (waited.ok()) {
        if (!timed) return {};
        const auto timing = queue.timing(*submitted);
        times.device_known = times.device_known && timing.ok() && timing->device_ns != 0;
        if (times.device_known) times.device_ns += timing->device_ns;
        return {};
    }
    if (waited.error().code != Code::TIMEOUT) {
        session_->queue_.reset();  // its later events are poisoned too
        return session_->noted(std::move(waited).error());
    }
    pending = *submitted;
    if (queue.cancel(*submitted).ok()) {
        const auto stopped = queue.wait(*submitted, kCancelGrace);
        if (stopped.ok() || stopped.error().code != Code::TIMEOUT) {
            pending = 0;
            if (!stopped.ok()) {
                (void)session_->noted(stopped.error());
                session_->queue_.reset();
            }
        }
    }
    return waited;
}

Result<void> QueueLease::run(std::span<const wye_operation> operations) {
    RunTimes times;
    std::uint64_t pending = 0;
    return run(operations, 0, false, now(), times, pending);
}

void QueueLease::abandon(Abandoned work) { session_->abandoned_ = std::move(work); }

}  // namespace wye::exec
