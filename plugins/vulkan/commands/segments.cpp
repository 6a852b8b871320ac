// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/segments.hpp"

#include <algorithm>

#include "vulkan/quirks.hpp"

namespace wye::vulkan {

Result<void> Segments::send(const std::vector<SegmentWait>& waits,
                            std::unique_ptr<Recording>& recording,
                            std::vector<sdk::HostCopy>& copies) {
    std::vector<VkSemaphore> semaphores;
    std::vector<std::uint64_t> numbers;
    for (const SegmentWait& wait : waits) {
        semaphores.push_back(wait.of->semaphore_.get());
        numbers.push_back(wait.number);
    }
    const std::vector<VkPipelineStageFlags> stages(waits.size(),
                                                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    const std::uint64_t number = newest_ + 1;
    const VkSemaphore signal = semaphore_.get();
    const VkCommandBuffer commands = recording ? recording->commands() : VK_NULL_HANDLE;
    auto values =
        make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.waitSemaphoreValueCount = static_cast<std::uint32_t>(waits.size());
    values.pWaitSemaphoreValues = numbers.data();
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &number;
    auto info = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.waitSemaphoreCount = values.waitSemaphoreValueCount;
    info.pWaitSemaphores = semaphores.data();
    info.pWaitDstStageMask = stages.data();
    info.commandBufferCount = recording ? 1 : 0;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &signal;
    VkResult result = VK_SUCCESS;
    {
        const sdk::Lock lock(shared_.mutex);
        result = device_.vk().vkQueueSubmit(shared_.handle, 1, &info, VK_NULL_HANDLE);
    }
    WYE_TRY(device_.check(result, "vkQueueSubmit"));
    const sdk::Lock lock(mutex_);
    newest_ = number;
    staging.mark(number);
    pending_.push_back({number, std::move(recording), std::exchange(copies, {})});
    return {};
}

Result<bool> Segments::has_ended(std::uint64_t number) {
    if (number <= ended_.load(std::memory_order_acquire)) return true;
    WYE_TRY(device_.loss.check());
    std::uint64_t now = 0;
    const VkResult result =
        device_.vk().vkGetSemaphoreCounterValue(device_.handle(), semaphore_.get(), &now);
    if (result != VK_SUCCESS) return failed(result, "vkGetSemaphoreCounterValue");
    if (now < number && gone()) return failed(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
    return now >= number;
}

Result<bool> Segments::await(std::uint64_t number, std::uint64_t timeout_ns) {
    if (number <= ended_.load(std::memory_order_acquire)) return true;
    WYE_TRY(device_.loss.check());
    return wait_for(number, timeout_ns);
}

Result<void> Segments::finish() {
    if (idle()) return {};
    WYE_TRY(device_.loss.check());
    WYE_TRY(wait_for(newest_, UINT64_MAX));
    return {};
}

// quirk nvidia-vk-silent-loss: checks periodically whether the device is lost.
Result<bool> Segments::wait_for(std::uint64_t number, std::uint64_t timeout_ns) {
    auto info = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    const VkSemaphore semaphore = semaphore_.get();
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &number;
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

void Segments::collect(std::uint64_t number) {
    const sdk::Lock lock(mutex_);
    while (!pending_.empty() && pending_.front().number <= number) {
        Segment ended = std::move(pending_.front());
        pending_.pop_front();
        sdk::run(ended.copies);
        if (ended.recording) {
            if (ended.recording->timed())
                if (const auto times = ended.recording->times(); times.ok())
                    times_.push_back({ended.number, *times});
            recordings.give_back(std::move(ended.recording));
        }
        ended_.store(ended.number, std::memory_order_release);
    }
    staging.release(number);
}

void Segments::drop_copies(std::uint64_t first) {
    const sdk::Lock lock(mutex_);
    for (Segment& segment : pending_)
        if (segment.number >= first) segment.copies.clear();
}

Result<void> Segments::wait(std::uint64_t number) {
    if (number <= ended_.load(std::memory_order_acquire)) return {};
    WYE_TRY(device_.loss.check());
    WYE_TRY(await(number, UINT64_MAX));
    collect(number);
    return {};
}

sdk::WorkTimes Segments::times_of(std::uint64_t first, std::uint64_t last) {
    if (clock_.is_old()) match_clock();
    const sdk::Lock lock(mutex_);
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    for (; !times_.empty() && times_.front().number <= last; times_.pop_front()) {
        if (times_.front().number < first) continue;
        begin = std::min(begin, times_.front().times.begin);
        end = std::max(end, times_.front().times.end);
    }
    return sdk::times_on_host(begin, end, clock_);
}

void Segments::match_clock() {
    clock_.renew([&]() -> std::optional<std::uint64_t> {
        if (!device_.info.reads_clock || device_.vk().vkGetCalibratedTimestampsEXT == nullptr)
            return std::nullopt;
        auto info =
            make<VkCalibratedTimestampInfoEXT>(VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT);
        info.timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
        std::uint64_t ticks = 0;
        std::uint64_t deviation = 0;
        if (device_.vk().vkGetCalibratedTimestampsEXT(device_.handle(), 1, &info, &ticks,
                                                      &deviation) != VK_SUCCESS)
            return std::nullopt;
        return nanoseconds_of(device_.info, ticks);
    });
}

Error Segments::failed(VkResult result, std::string_view call) {
    const sdk::Lock lock(mutex_);
    for (Segment& segment : pending_) segment.copies.clear();
    return device_.failed(result, call);
}

bool Segments::gone() {
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
