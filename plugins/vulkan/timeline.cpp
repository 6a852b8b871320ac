// SPDX-License-Identifier: Apache-2.0
#include "vulkan/timeline.hpp"

#include <algorithm>

namespace wye::vulkan {

Result<std::unique_ptr<Timeline>> Timeline::create(OpenDevice& device, NativeQueue& native,
                                                   bool timed) {
    std::unique_ptr<Timeline> out(new Timeline(device, native, timed));
    auto type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto info = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    const VkResult result =
        device.vk().vkCreateSemaphore(device.handle(), &info, nullptr, &semaphore);
    if (result != VK_SUCCESS) return device.failed(result, "vkCreateSemaphore");
    out->semaphore_ = Semaphore(device.logical, semaphore);
    return out;
}

// ---- The submitting thread ------------------------------------------------------------------

Result<std::unique_ptr<Recording>> Timeline::take_recording() {
    {
        const std::lock_guard lock(mutex_);
        if (free_.size() >= kKeptRecordings) {
            std::unique_ptr<Recording> out = std::move(free_.front());
            free_.pop_front();
            return out;
        }
    }
    return Recording::create(device_, keeps_times_);
}

std::unique_ptr<Recording> Timeline::take_recorded(const Recipe& recipe) {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(free_.rbegin(), free_.rend(),
                                 [&](const auto& recording) { return recording->repeats(recipe); });
    if (at == free_.rend()) return nullptr;
    std::unique_ptr<Recording> out = std::move(*at);
    free_.erase(std::next(at).base());
    return out;
}

void Timeline::give_back(std::unique_ptr<Recording> recording) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(recording));
}

Result<std::optional<StagedRange>> Timeline::stage(std::uint64_t size, std::uint64_t alignment) {
    if (!staging_) {
        WYE_ASSIGN(staging_, create_buffer(device_, kRingBytes, Placement::Host, "staging"));
        if (staging_->mapped == nullptr)
            return Error(Code::DRIVER, device_.info.name + " has no memory that the host can map",
                         "Fix: update the Vulkan driver, or use another device", device_.info.name);
    }
    const std::lock_guard lock(mutex_);
    const std::optional<std::uint64_t> offset = ring_.take(size, alignment);
    if (!offset) return std::optional<StagedRange>();
    return std::optional<StagedRange>({staging_.get(), *offset});
}

void Timeline::drop_staged() {
    const std::lock_guard lock(mutex_);
    ring_.drop();
}

Result<void> Timeline::wait_for_staging() {
    std::optional<std::uint64_t> oldest;
    {
        const std::lock_guard lock(mutex_);
        oldest = ring_.oldest();
    }
    return oldest ? wait_segment(*oldest) : Result<void>();
}

void Timeline::add(Segment segment) {
    const std::lock_guard lock(mutex_);
    newest_segment_ = segment.number;
    ring_.mark(segment.number);
    segments_.push_back(std::move(segment));
}

std::uint64_t Timeline::add_value() {
    const std::lock_guard lock(mutex_);
    const Value value{++newest_value_, valued_segment_ + 1, newest_segment_};
    valued_segment_ = newest_segment_;
    if (keeps_times_) {
        if (timed_.size() == kKeptTimes) timed_.pop_front();
        timed_.push_back(value);
    }
    if (values_.empty() && ended_segment_.load() >= value.last) {
        reached_.store(value.value, std::memory_order_release);
    } else {
        values_.push_back(value);
    }
    return value.value;
}

bool Timeline::idle() { return ended_segment_.load(std::memory_order_acquire) == newest_segment_; }

bool Timeline::reads_pending() {
    return ended_segment_.load(std::memory_order_acquire) < reads_until_;
}

void Timeline::poison(Error error) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
    poisoned_at_.store(newest_value_ + 1);
}

// ---- Any thread -----------------------------------------------------------------------------

std::uint64_t Timeline::segment_of(std::uint64_t value) {
    if (value <= reached_.load(std::memory_order_acquire)) return 0;
    const std::lock_guard lock(mutex_);
    const auto at = std::lower_bound(values_.begin(), values_.end(), value,
                                     [](const Value& v, std::uint64_t n) { return v.value < n; });
    return at == values_.end() ? 0 : at->last;
}

std::optional<Error> Timeline::failure(std::uint64_t value) {
    // Another queue may have met the loss.
    if (device_.lost() && value > reached_.load(std::memory_order_acquire)) return device_.loss();
    if (value < poisoned_at_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return error_;
}

// Everything up to `segment` has ended.
void Timeline::collect(std::uint64_t segment) {
    while (!segments_.empty() && segments_.front().number <= segment) {
        Segment& ended = segments_.front();
        for (const HostCopy& copy : ended.copies) copy.run();
        if (ended.recording) {
            if (keeps_times_) {
                const auto times = ended.recording->times();
                if (times_.size() == kKeptTimes) times_.pop_front();
                if (times.ok()) times_.push_back({ended.number, *times});
            }
            free_.push_back(std::move(ended.recording));
        }
        ended_segment_.store(ended.number, std::memory_order_release);
        segments_.pop_front();
    }
    ring_.release(segment);
    while (!values_.empty() && values_.front().last <= segment) {
        reached_.store(values_.front().value, std::memory_order_release);
        values_.pop_front();
    }
}

Error Timeline::lost(VkResult result, std::string_view call) {
    Error error = device_.failed(result, call);
    const std::lock_guard lock(mutex_);
    if (!error_) {
        error_ = error;
        poisoned_at_.store(reached_.load() + 1);
    }
    return error;
}

Result<void> Timeline::poll(std::uint64_t value) {
    if (auto error = failure(value)) return *std::move(error);
    const std::uint64_t segment = segment_of(value);
    if (segment == 0) return {};
    std::uint64_t now = 0;
    const VkResult result =
        device_.vk().vkGetSemaphoreCounterValue(device_.handle(), semaphore_.get(), &now);
    if (result != VK_SUCCESS) return lost(result, "vkGetSemaphoreCounterValue");
    if (now < segment) {
        if (gone()) return lost(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
        return Error(Code::NOT_READY, "value " + std::to_string(value) + " is not reached yet",
                     "Fix: wait, or ask again later");
    }
    const std::lock_guard lock(mutex_);
    collect(segment);
    return {};
}

bool Timeline::gone() {
    const Clock::time_point now = Clock::now();
    Clock::time_point last = asked_.load(std::memory_order_relaxed);
    if (now - last < kAskEvery || !asked_.compare_exchange_strong(last, now)) return false;
    const auto nothing = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    const std::lock_guard lock(native_.mutex);
    return device_.vk().vkQueueSubmit(native_.handle, 1, &nothing, VK_NULL_HANDLE) ==
           VK_ERROR_DEVICE_LOST;
}

Result<bool> Timeline::wait_semaphore(std::uint64_t segment, std::uint64_t timeout_ns) {
    constexpr std::uint64_t kSlice = std::chrono::nanoseconds(kAskEvery).count();
    auto info = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    const VkSemaphore semaphore = semaphore_.get();
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &segment;
    for (std::uint64_t left = timeout_ns;;) {
        const std::uint64_t slice = std::min(left, kSlice);
        const VkResult result = device_.vk().vkWaitSemaphores(device_.handle(), &info, slice);
        if (result == VK_SUCCESS) return true;
        if (result != VK_TIMEOUT) return lost(result, "vkWaitSemaphores");
        if (gone()) return lost(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
        if (timeout_ns != UINT64_MAX) left -= slice;
        if (left == 0) return false;
    }
}

Result<void> Timeline::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    if (auto error = failure(value)) return *std::move(error);
    const std::uint64_t segment = segment_of(value);
    if (segment == 0) return {};
    WYE_ASSIGN(const bool reached, wait_semaphore(segment, timeout_ns));
    if (!reached)
        return Error(Code::TIMEOUT,
                     "value " + std::to_string(value) + " was not reached within " +
                         std::to_string(timeout_ns) + " ns",
                     "Fix: wait longer; the work goes on");
    const std::lock_guard lock(mutex_);
    collect(segment);
    return {};
}

Result<void> Timeline::wait_segment(std::uint64_t number) {
    if (number <= ended_segment_.load(std::memory_order_acquire)) return {};
    if (auto loss = device_.loss()) return *std::move(loss);
    WYE_TRY(wait_semaphore(number, UINT64_MAX));
    const std::lock_guard lock(mutex_);
    collect(number);
    return {};
}

Result<std::uint64_t> Timeline::device_ns(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(timed_.begin(), timed_.end(),
                                 [&](const Value& v) { return v.value == value; });
    if (at == timed_.end())
        return Error(Code::UNSUPPORTED, "times of value " + std::to_string(value) + " are not kept",
                     "Fix: create the queue with timing, and ask within " +
                         std::to_string(kKeptTimes) + " submits");
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    for (const Time& time : times_) {
        if (time.segment < at->first || time.segment > at->last) continue;
        begin = std::min(begin, time.times.begin);
        end = std::max(end, time.times.end);
    }
    return end > begin ? end - begin : std::uint64_t{0};  // 0: the host did all of it
}

}  // namespace wye::vulkan
