// SPDX-License-Identifier: Apache-2.0
#include "vulkan/timeline.hpp"

#include "vulkan/quirks.hpp"

namespace wye::vulkan {

void Timeline::add(Segment segment) {
    const sdk::Lock lock(mutex_);
    newest_segment_ = segment.number;
    staging.mark(segment.number);
    segments_.push_back(std::move(segment));
}

std::uint64_t Timeline::add() {
    const sdk::Lock lock(mutex_);
    entries_.push_back({log_.newest() + 1, valued_segment_ + 1, newest_segment_});
    valued_segment_ = newest_segment_;
    const std::uint64_t value = log_.add();
    if (idle()) collect(newest_segment_);
    return value;
}

Result<SegmentWait> Timeline::event_for(std::uint64_t value) {
    const std::uint64_t segment = segment_of(value);
    if (segment == 0) return SegmentWait();
    return SegmentWait{semaphore_.get(), segment};
}

Result<bool> Timeline::ended(std::uint64_t value) {
    const std::uint64_t segment = segment_of(value);
    std::uint64_t now = 0;
    const VkResult result =
        device_.vk().vkGetSemaphoreCounterValue(device_.handle(), semaphore_.get(), &now);
    if (result != VK_SUCCESS) return failed(result, "vkGetSemaphoreCounterValue");
    if (now < segment && gone()) return failed(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
    if (now < segment) return false;
    const sdk::Lock lock(mutex_);
    collect(segment);
    return true;
}

Result<bool> Timeline::await(std::uint64_t value, std::uint64_t timeout_ns) {
    const std::uint64_t segment = segment_of(value);
    WYE_ASSIGN(const bool done, await_segment(segment, timeout_ns));
    if (!done) return false;
    const sdk::Lock lock(mutex_);
    collect(segment);
    return true;
}

Result<void> Timeline::wait_segment(std::uint64_t number) {
    if (number <= ended_segment_.load(std::memory_order_acquire)) return {};
    WYE_TRY(device_.loss.check());
    WYE_TRY(await_segment(number, UINT64_MAX));
    const sdk::Lock lock(mutex_);
    collect(number);
    return {};
}

// Everything up to `segment` has ended.
void Timeline::collect(std::uint64_t segment) {
    while (!segments_.empty() && segments_.front().number <= segment) {
        Segment ended = std::move(segments_.front());
        segments_.pop_front();
        sdk::run(ended.copies);
        if (ended.recording) {
            if (log_.keeps_times())
                if (const auto times = ended.recording->times(); times.ok())
                    times_.push_back({ended.number, *times});
            recordings.give_back(std::move(ended.recording));
        }
        ended_segment_.store(ended.number, std::memory_order_release);
    }
    staging.release(segment);
    while (!entries_.empty() && entries_.front().last <= segment) {
        const Entry ended = entries_.front();
        entries_.pop_front();
        if (log_.keeps_times()) log_.keep_time(ended.value, spent_ns(ended));
        while (!times_.empty() && times_.front().segment <= ended.last) times_.pop_front();
        log_.reach(ended.value);
    }
}

// 0: the host did all of it.
std::uint64_t Timeline::spent_ns(const Entry& ended) const {
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    for (const Time& time : times_) {
        if (time.segment < ended.first || time.segment > ended.last) continue;
        begin = std::min(begin, time.times.begin);
        end = std::max(end, time.times.end);
    }
    return end > begin ? end - begin : 0;
}

std::uint64_t Timeline::segment_of(std::uint64_t value) {
    const sdk::Lock lock(mutex_);
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const Entry& e, std::uint64_t v) { return e.value < v; });
    return at == entries_.end() ? 0 : at->last;
}

// quirk nvidia-vk-silent-loss: asks now and then whether the device is still there.
Result<bool> Timeline::await_segment(std::uint64_t segment, std::uint64_t timeout_ns) {
    auto info = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    const VkSemaphore semaphore = semaphore_.get();
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &segment;
    for (std::uint64_t left = timeout_ns;;) {
        const std::uint64_t slice = std::min(left, kAskEveryNs);
        const VkResult result = device_.vk().vkWaitSemaphores(device_.handle(), &info, slice);
        if (result == VK_SUCCESS) return true;
        if (result != VK_TIMEOUT) return failed(result, "vkWaitSemaphores");
        if (gone()) return failed(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
        if (timeout_ns != UINT64_MAX) left -= slice;
        if (left == 0) return false;
    }
}

Error Timeline::failed(VkResult result, std::string_view call) {
    Error error = device_.failed(result, call);
    log_.fail_pending(error);
    return error;
}

bool Timeline::gone() {
    const Clock::time_point now = Clock::now();
    Clock::time_point last = asked_.load(std::memory_order_relaxed);
    if (now - last < std::chrono::nanoseconds(kAskEveryNs) ||
        !asked_.compare_exchange_strong(last, now))
        return false;
    const auto nothing = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    const sdk::Lock lock(shared_.mutex);
    return device_.vk().vkQueueSubmit(shared_.handle, 1, &nothing, VK_NULL_HANDLE) ==
           VK_ERROR_DEVICE_LOST;
}

}  // namespace wye::vulkan

template class wye::sdk::Timeline<wye::vulkan::Timeline>;
