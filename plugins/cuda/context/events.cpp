// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/events.hpp"

namespace wye::cuda {

Result<EventRef> Events::record(bool timed) {
    const Driver& driver = device_.driver;
    EventRef event = take(timed);
    if (!event) {
        CUevent raw = nullptr;
        const unsigned untimed = timed ? 0 : CU_EVENT_DISABLE_TIMING;
        const CUresult status = driver.cuEventCreate(&raw, CU_EVENT_BLOCKING_SYNC | untimed);
        WYE_TRY(device_.check(status, "cuEventCreate"));
        event = std::make_shared<EventHandle>(context_, raw);
    }
    WYE_TRY(device_.check(driver.cuEventRecord(event->get(), stream_), "cuEventRecord"));
    return event;
}

std::uint64_t Events::spent_ns(const EventRef& first, const EventRef& last) const {
    float milliseconds = 0;
    if (!first ||
        device_.driver.cuEventElapsedTime(&milliseconds, first->get(), last->get()) != CUDA_SUCCESS)
        return 0;
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

void Events::give_back(EventRef event, bool timed) {
    if (!event || event.use_count() != 1) return;
    const sdk::Lock lock(mutex_);
    free_[timed ? 1 : 0].push_back(std::move(event));
}

EventRef Events::take(bool timed) {
    const sdk::Lock lock(mutex_);
    std::vector<EventRef>& free = free_[timed ? 1 : 0];
    if (free.empty()) return nullptr;
    EventRef out = std::move(free.back());
    free.pop_back();
    return out;
}

}  // namespace wye::cuda
