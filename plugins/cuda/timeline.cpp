// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

namespace wye::cuda {

Result<void> Timeline::begin() {
    const sdk::Lock lock(mutex_);
    if (log_.newest() > log_.reached()) WYE_TRY(mark(log_.newest()));
    if (log_.keeps_times()) {
        WYE_ASSIGN(first_, record());
    }
    return {};
}

std::byte* Timeline::stage(std::uint64_t size) {
    if (size > Staging::kMostBytes) return nullptr;
    const sdk::Lock lock(mutex_);
    std::byte* out = staging_.take(size);
    const auto oldest = staging_.ring.oldest();
    if (out != nullptr || !oldest) return out;
    (void)query(*oldest);  // perhaps some of it has ended
    return staging_.take(size);
}

void Timeline::deliver(const sdk::HostCopy& copy) {
    const sdk::Lock lock(mutex_);
    copies_.push_back(copy);
}

Result<std::uint64_t> Timeline::add() {
    const sdk::Lock lock(mutex_);
    const std::uint64_t value = log_.newest() + 1;
    if (log_.keeps_times()) {
        WYE_ASSIGN(EventRef last, record());
        keep({value, std::move(first_), std::move(last)});
    }
    staging_.ring.mark(value);
    if (!copies_.empty()) deliveries_.push_back({value, std::exchange(copies_, {})});
    return log_.add();
}

void Timeline::abandon() {
    const sdk::Lock lock(mutex_);
    staging_.ring.drop();
    copies_.clear();
    recycle(std::move(first_));
    first_.reset();
}

Result<EventRef> Timeline::event_for(std::uint64_t value) {
    const sdk::Lock lock(mutex_);
    if (value <= log_.reached()) return EventRef();
    return mark(value);
}

Result<bool> Timeline::ended(std::uint64_t value) {
    const Current current(context_);
    const sdk::Lock lock(mutex_);
    return query(value);
}

Result<bool> Timeline::await(std::uint64_t value, std::uint64_t timeout_ns) {
    const Current current(context_);
    const Clock::time_point start = Clock::now();
    WYE_ASSIGN(const bool done, spin(value, std::min(timeout_ns, device_.plugin.spin_ns)));
    if (done) return true;
    if (timeout_ns != UINT64_MAX)
        return ask_at_intervals(start, timeout_ns, [&] { return ended(value); });
    WYE_ASSIGN(const EventRef event, event_for(value));
    if (event) (void)device_.driver.cuEventSynchronize(event->get());
    return ended(value);
}

// Everything up to `value` has ended.
void Timeline::collect(std::uint64_t value) {
    while (!deliveries_.empty() && deliveries_.front().value <= value) {
        sdk::run(deliveries_.front().copies);
        deliveries_.pop_front();
    }
    staging_.ring.release(value);
    while (!entries_.empty() && entries_.front().value <= value) {
        Entry ended = std::move(entries_.front());
        entries_.pop_front();
        if (log_.keeps_times()) log_.keep_time(ended.value, spent_ns(ended));
        recycle(std::move(ended.first));
        recycle(std::move(ended.last));
    }
    log_.reach(value);
}

// True: it has ended, or failed.
bool Timeline::query(std::uint64_t value) {
    if (log_.state(value) != sdk::ValueLog::State::Pending) return true;
    const auto at = entry(value);
    const bool marked = at != entries_.end();
    const std::uint64_t then = marked ? at->value : log_.newest();  // before the stream is asked
    const CUresult status = marked ? device_.driver.cuEventQuery(at->last->get())
                                   : device_.driver.cuStreamQuery(stream_);
    if (status == CUDA_ERROR_NOT_READY) return false;
    if (status == CUDA_SUCCESS)
        collect(then);
    else
        log_.fail_pending(device_.failed(status, "work on the queue"));
    return true;
}

std::uint64_t Timeline::spent_ns(const Entry& ended) const {
    float milliseconds = 0;
    if (!ended.first || device_.driver.cuEventElapsedTime(&milliseconds, ended.first->get(),
                                                          ended.last->get()) != CUDA_SUCCESS)
        return 0;
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

std::deque<Timeline::Entry>::iterator Timeline::entry(std::uint64_t value) {
    return std::lower_bound(entries_.begin(), entries_.end(), value,
                            [](const Entry& e, std::uint64_t v) { return e.value < v; });
}

void Timeline::keep(Entry entry) {
    if (entries_.size() == kKept) {
        recycle(std::move(entries_.front().first));
        recycle(std::move(entries_.front().last));
        entries_.pop_front();
    }
    entries_.push_back(std::move(entry));
}

// An event at the end of what the stream has now.
Result<EventRef> Timeline::record() {
    EventRef event;
    if (!free_.empty()) {
        event = std::move(free_.back());
        free_.pop_back();
    } else {
        CUevent raw = nullptr;
        const unsigned untimed = log_.keeps_times() ? 0 : CU_EVENT_DISABLE_TIMING;
        WYE_TRY(device_.check(device_.driver.cuEventCreate(&raw, CU_EVENT_BLOCKING_SYNC | untimed),
                              "cuEventCreate"));
        event = std::make_shared<EventHandle>(context_, raw);
    }
    WYE_TRY(device_.check(device_.driver.cuEventRecord(event->get(), stream_), "cuEventRecord"));
    return event;
}

// An event behind everything submitted, which reaches at least `value`.
Result<EventRef> Timeline::mark(std::uint64_t value) {
    if (const auto at = entry(value); at != entries_.end()) return at->last;
    WYE_ASSIGN(EventRef event, record());
    keep({log_.newest(), nullptr, event});
    return event;
}

void Timeline::recycle(EventRef event) {
    // Somebody may still wait for it: then it goes with them.
    if (event && event.use_count() == 1) free_.push_back(std::move(event));
}

// Asks again and again, for a time.
Result<bool> Timeline::spin(std::uint64_t value, std::uint64_t limit_ns) {
    constexpr std::uint64_t kAloneNs = 50000;  // then other threads run in between
    const Clock::time_point start = Clock::now();
    for (;;) {
        {
            const sdk::Lock lock(mutex_);
            if (query(value)) return true;
        }
        const std::uint64_t spent = since(start);
        if (spent >= limit_ns) return false;
        if (spent > kAloneNs) std::this_thread::yield();
    }
}

}  // namespace wye::cuda
