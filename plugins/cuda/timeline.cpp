// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "cuda/status.hpp"

namespace wye::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kAloneNs = 50000;  // then a wait lets other threads run

Error not_ready(std::uint64_t value) {
    return {Code::NOT_READY, "value " + std::to_string(value) + " is not reached yet",
            "Fix: wait, or ask again later"};
}

}  // namespace

Event::~Event() {
    if (epoch_ != device_.epoch() || device_.lost()) return;
    const Current current(device_);
    (void)device_.driver.cuEventDestroy(event_);
}

// ---- Submitting ------------------------------------------------------------------------------

Result<EventRef> Timeline::record(bool timed) {
    EventRef event;
    if (!free_.empty()) {
        event = std::move(free_.back());
        free_.pop_back();
    } else {
        CUevent raw = nullptr;
        const CUresult status = device_.driver.cuEventCreate(
            &raw,
            timed ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
        if (status != CUDA_SUCCESS) return device_.failed(status, "cuEventCreate", {});
        event = std::make_shared<Event>(device_, raw);
    }
    const CUresult status = device_.driver.cuEventRecord(event->get(), stream_);
    if (status != CUDA_SUCCESS) return device_.failed(status, "cuEventRecord", {});
    return event;
}

void Timeline::recycle(EventRef event) {
    // Somebody may still wait for it: then it goes with them.
    if (event && event.use_count() == 1) free_.push_back(std::move(event));
}

// An event behind everything submitted, which reaches at least `value`.
Result<EventRef> Timeline::mark(std::uint64_t value) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const Entry& e, std::uint64_t v) { return e.value < v; });
    if (at != entries_.end()) return at->last;
    const std::uint64_t newest = newest_.load(std::memory_order_acquire);
    WYE_ASSIGN(EventRef event, record(timing_));
    if (entries_.size() == kKept) {
        recycle(std::move(entries_.front().first));
        recycle(std::move(entries_.front().last));
        entries_.pop_front();
    }
    entries_.push_back({newest, nullptr, event});
    return event;
}

Result<void> Timeline::begin() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    if (newest > reached_.load(std::memory_order_relaxed)) WYE_TRY(mark(newest));
    if (timing_) {
        WYE_ASSIGN(first_, record(true));
    }
    mark_ = staging_.mark();
    return {};
}

std::byte* Timeline::stage(std::uint64_t size) {
    if (size > Staging::kMostBytes) return nullptr;
    const std::lock_guard lock(mutex_);
    std::byte* out = staging_.take(size);
    if (out != nullptr || staged_.empty()) return out;
    (void)query(staged_.back().value);  // perhaps some of it has ended
    return staging_.take(size);
}

void Timeline::deliver(const std::byte* staged, void* target, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    deliveries_.push_back({staged, target, size});
}

Result<std::uint64_t> Timeline::end() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t value = newest_.load(std::memory_order_relaxed) + 1;
    if (timing_) {
        WYE_ASSIGN(EventRef last, record(true));
        if (entries_.size() == kKept) {
            recycle(std::move(entries_.front().first));
            recycle(std::move(entries_.front().last));
            entries_.pop_front();
        }
        entries_.push_back({value, std::move(first_), std::move(last)});
    }
    if (staging_.mark() != mark_) {
        staged_.push_back({value, staging_.mark(), std::move(deliveries_)});
        deliveries_.clear();
    }
    newest_.store(value, std::memory_order_release);
    return value;
}

void Timeline::abandon() {
    const std::lock_guard lock(mutex_);
    staging_.rewind(mark_);
    deliveries_.clear();
    recycle(std::move(first_));
    first_.reset();
}

// ---- Failing ---------------------------------------------------------------------------------

void Timeline::poison(Error error) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
    poisoned_at_.store(newest_.load() + 1);
}

// What was not reached never will be.
void Timeline::fail(CUresult status, std::string_view call) {
    Error error = device_.failed(status, call, {});
    if (error_) return;
    error_ = std::move(error);
    poisoned_at_.store(reached_.load() + 1);
}

std::optional<Error> Timeline::failure(std::uint64_t value) {
    if (value < poisoned_at_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return error_;
}

// ---- Asking and waiting ----------------------------------------------------------------------

void Timeline::reached(std::uint64_t value) {
    while (!staged_.empty() && staged_.front().value <= value) {
        for (const Delivery& d : staged_.front().deliveries)
            std::memcpy(d.target, d.staged, d.size);
        staging_.release(staged_.front().mark);
        staged_.pop_front();
    }
    if (!timing_)
        while (!entries_.empty() && entries_.front().value <= value) {
            recycle(std::move(entries_.front().last));
            entries_.pop_front();
        }
    if (reached_.load(std::memory_order_relaxed) < value)
        reached_.store(value, std::memory_order_release);
}

Timeline::State Timeline::query(std::uint64_t value) {
    if (value <= reached_.load(std::memory_order_relaxed)) return State::Reached;
    if (value >= poisoned_at_.load(std::memory_order_relaxed)) return State::Failed;
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const Entry& e, std::uint64_t v) { return e.value < v; });
    const bool marked = at != entries_.end();
    const std::uint64_t then =
        marked ? at->value : newest_.load(std::memory_order_acquire);  // before the stream is asked
    const CUresult status = marked ? device_.driver.cuEventQuery(at->last->get())
                                   : device_.driver.cuStreamQuery(stream_);
    if (status == CUDA_ERROR_NOT_READY) return State::Running;
    if (status == CUDA_SUCCESS) {
        reached(then);
        return State::Reached;
    }
    fail(status, "work on the queue");
    return State::Failed;
}

Result<void> Timeline::outcome(std::uint64_t value) const {
    if (error_ && value >= poisoned_at_.load(std::memory_order_relaxed)) return *error_;
    return {};
}

Result<void> Timeline::poll(std::uint64_t value) {
    if (value <= reached_.load(std::memory_order_acquire)) return {};
    const Current current(device_);
    const std::lock_guard lock(mutex_);
    return query(value) == State::Running ? Result<void>(not_ready(value)) : outcome(value);
}

// Asks again and again, for a time.
Timeline::State Timeline::spin(std::uint64_t value, std::uint64_t timeout_ns) {
    const Clock::time_point start = Clock::now();
    const std::uint64_t limit = std::min(timeout_ns, device_.plugin.spin_ns);
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            const State state = query(value);
            if (state != State::Running) return state;
        }
        const auto spent = static_cast<std::uint64_t>((Clock::now() - start).count());
        if (spent >= limit) return State::Running;
        if (spent > kAloneNs) std::this_thread::yield();
    }
}

// Sleeps until an event behind the value has happened.
Result<void> Timeline::block(std::uint64_t value) {
    WYE_ASSIGN(const EventRef event, event_for(value));
    CUresult status = CUDA_SUCCESS;
    if (event) status = device_.driver.cuEventSynchronize(event->get());
    const std::lock_guard lock(mutex_);
    if (status != CUDA_SUCCESS) fail(status, "work on the queue");
    (void)query(value);
    return outcome(value);
}

Result<void> Timeline::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    if (value <= reached_.load(std::memory_order_acquire)) return {};
    const Current current(device_);
    const Clock::time_point start = Clock::now();
    State state = spin(value, timeout_ns);
    if (state == State::Running && timeout_ns == UINT64_MAX) return block(value);
    for (std::chrono::nanoseconds pause(20000); state == State::Running;) {
        const auto spent = static_cast<std::uint64_t>((Clock::now() - start).count());
        if (spent >= timeout_ns)
            return Error(Code::TIMEOUT,
                         "value " + std::to_string(value) + " was not reached within " +
                             std::to_string(timeout_ns) + " ns",
                         "Fix: wait longer; the work goes on");
        const std::chrono::nanoseconds left(
            std::min<std::uint64_t>(timeout_ns - spent, std::uint64_t{1} << 40U));
        std::this_thread::sleep_for(std::min(pause, left));
        pause = std::min(pause * 2, std::chrono::nanoseconds(500000));
        const std::lock_guard lock(mutex_);
        state = query(value);
    }
    const std::lock_guard lock(mutex_);
    return outcome(value);
}

Result<EventRef> Timeline::event_for(std::uint64_t value) {
    if (value <= reached_.load(std::memory_order_acquire)) return EventRef();
    const std::lock_guard lock(mutex_);
    WYE_TRY(outcome(value));
    return mark(value);
}

Result<std::uint64_t> Timeline::device_ns(std::uint64_t value) {
    const Current current(device_);
    const std::lock_guard lock(mutex_);
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const Entry& e, std::uint64_t v) { return e.value < v; });
    if (at == entries_.end() || at->value != value || !at->first)
        return Error(Code::UNSUPPORTED, "times of value " + std::to_string(value) + " are not kept",
                     "Fix: create the queue with timing, and ask within " + std::to_string(kKept) +
                         " submits");
    float milliseconds = 0;
    const CUresult status =
        device_.driver.cuEventElapsedTime(&milliseconds, at->first->get(), at->last->get());
    if (status != CUDA_SUCCESS) return device_.failed(status, "cuEventElapsedTime", {});
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace wye::cuda
