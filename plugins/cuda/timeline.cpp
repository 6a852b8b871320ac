// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

namespace wye::cuda {

Result<void> Timeline::begin() {
    const sdk::Lock lock(mutex_);
    const std::uint64_t newest = log_.newest();
    if (newest > log_.reached() && marks_.find(newest) == nullptr) {
        WYE_ASSIGN(EventRef last, marks_.record());
        marks_.add({newest, nullptr, std::move(last)});
    }
    if (log_.keeps_times()) {
        WYE_ASSIGN(first_, marks_.record());
    }
    return {};
}

std::byte* Timeline::stage(std::uint64_t size) {
    if (size > Staging::kMostBytes) return nullptr;
    const sdk::Lock lock(mutex_);
    std::byte* out = staging_.take(size);
    const auto oldest = staging_.ring.oldest();
    if (out != nullptr || !oldest) return out;
    (void)query(*oldest);  // perhaps it has ended
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
        WYE_ASSIGN(EventRef last, marks_.record());
        marks_.add({value, std::move(first_), std::move(last)});
    }
    staging_.ring.mark(value);
    if (!copies_.empty()) deliveries_.push_back({value, std::exchange(copies_, {})});
    return log_.add();
}

void Timeline::abandon() {
    const sdk::Lock lock(mutex_);
    staging_.ring.drop();
    copies_.clear();
    marks_.recycle(Mark{0, std::exchange(first_, nullptr), nullptr});
}

Result<EventRef> Timeline::event_for(std::uint64_t value) {
    const sdk::Lock lock(mutex_);
    if (value <= log_.reached()) return EventRef();
    if (const Mark* mark = marks_.find(value)) return mark->last;
    WYE_ASSIGN(EventRef event, marks_.record());
    marks_.add({log_.newest(), nullptr, event});
    return event;
}

Result<bool> Timeline::ended(std::uint64_t value) {
    const Current current(context_);
    const sdk::Lock lock(mutex_);
    return query(value);
}

// Asks again and again for a while, then sleeps.
Result<bool> Timeline::await(std::uint64_t value, std::uint64_t timeout_ns) {
    const Current current(context_);
    const Clock::time_point start = Clock::now();
    const std::uint64_t limit = std::min(timeout_ns, device_.plugin.spin_ns);
    WYE_ASSIGN(const bool done, ask_at_once(start, limit, [&]() -> Result<bool> {
                   const sdk::Lock lock(mutex_);
                   return query(value);
               }));
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
    for (Mark mark = marks_.take_up_to(value); mark.last; mark = marks_.take_up_to(value)) {
        if (log_.keeps_times()) log_.keep_time(mark.value, spent_ns(mark));
        marks_.recycle(std::move(mark));
    }
    log_.reach(value);
}

// True: it has ended, or failed.
bool Timeline::query(std::uint64_t value) {
    if (log_.state(value) != sdk::ValueLog::State::Pending) return true;
    const Mark* mark = marks_.find(value);
    const std::uint64_t then = mark ? mark->value : log_.newest();  // before the stream is asked
    const CUresult status = mark ? device_.driver.cuEventQuery(mark->last->get())
                                 : device_.driver.cuStreamQuery(stream_);
    if (status == CUDA_ERROR_NOT_READY) return false;
    if (status == CUDA_SUCCESS)
        collect(then);
    else
        log_.fail_pending(device_.failed(status, "work on the queue"));
    return true;
}

std::uint64_t Timeline::spent_ns(const Mark& ended) const {
    float milliseconds = 0;
    if (!ended.first || device_.driver.cuEventElapsedTime(&milliseconds, ended.first->get(),
                                                          ended.last->get()) != CUDA_SUCCESS)
        return 0;
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace wye::cuda

template class wye::sdk::Timeline<wye::cuda::Timeline>;
