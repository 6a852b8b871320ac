// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/events.hpp"

#include <new>

#include "wye/sdk/pauses.hpp"

namespace wye::cuda {

Result<EventRef> Events::record(EventKind kind) {
    const Driver& driver = device_.driver;
    EventRef event = take(kind);
    if (!event) {
        CUevent raw = nullptr;
        const unsigned untimed = kind == EventKind::Timed ? 0 : CU_EVENT_DISABLE_TIMING;
        const unsigned blocking = kind == EventKind::Quick ? 0 : CU_EVENT_BLOCKING_SYNC;
        WYE_TRY(device_.check(driver.cuEventCreate(&raw, blocking | untimed), "cuEventCreate"));
        event = std::make_shared<Event>(Event{EventHandle(context_, raw), kind});
    }
    WYE_TRY(device_.check(driver.cuEventRecord(event->handle.get(), stream_), "cuEventRecord"));
    return event;
}

Result<bool> Events::wait(const EventRef& event) const {
    if (event->kind == EventKind::Quick) {
        for (sdk::Pauses pauses;; pauses.sleep()) {
            WYE_ASSIGN(const bool ended, has_ended(event));
            if (ended) return true;
        }
    }
    const CUresult status = device_.driver.cuEventSynchronize(event->handle.get());
    WYE_TRY(device_.check(status, "work on the queue"));
    return true;
}

sdk::WorkTimes Events::times_of(const EventRef& first, const EventRef& last) const {
    const auto between = [&](const EventRef& start,
                             const EventRef& end) -> std::optional<std::int64_t> {
        float milliseconds = 0;
        if (!start || device_.driver.cuEventElapsedTime(&milliseconds, start->handle.get(),
                                                        end->handle.get()) != CUDA_SUCCESS)
            return std::nullopt;
        return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
    };
    sdk::WorkTimes out;
    const auto spent = between(first, last);
    if (!spent || *spent < 0) return out;
    out.spent_ns = static_cast<std::uint64_t>(*spent);
    const auto moment = clock_.moment();
    const auto begin = between(moment.anchor, first);
    if (!begin) return out;
    // `begin` is negative if the work began before the moment at which the clocks were matched.
    out.begin_ns = moment.host_ns + static_cast<std::uint64_t>(*begin);
    out.end_ns = out.begin_ns + out.spent_ns;
    return out;
}

void Events::match_clock() {
    clock_.renew([&]() -> std::optional<EventRef> {
        auto event = record(EventKind::Timed);
        if (!event.ok()) return std::nullopt;
        CUresult now = CUDA_SUCCESS;
        const bool ended = sdk::ends_soon([&] {
            now = device_.driver.cuEventQuery((*event)->handle.get());
            return now != CUDA_ERROR_NOT_READY;
        });
        if (!ended || now != CUDA_SUCCESS) return std::nullopt;
        return *std::move(event);
    });
}

void Events::give_back(EventRef event) noexcept {
    if (event.use_count() != 1) return;
    const sdk::Lock lock(mutex_);
    std::vector<EventRef>& free = free_[static_cast<std::size_t>(event->kind)];
    try {
        free.push_back(std::move(event));
    } catch (const std::bad_alloc&) {
    }
}

EventRef Events::take(EventKind kind) {
    const sdk::Lock lock(mutex_);
    std::vector<EventRef>& free = free_[static_cast<std::size_t>(kind)];
    if (free.empty()) return nullptr;
    EventRef out = std::move(free.back());
    free.pop_back();
    return out;
}

}  // namespace wye::cuda
