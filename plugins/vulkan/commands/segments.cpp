// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/segments.hpp"

#include <algorithm>

#include "vulkan/quirks.hpp"

namespace wye::vulkan {

Result<void> LastUse::wait() const {
    if (!queue_ || number_ <= queue_->ended.load() || number_ > queue_->newest.load()) return {};
    Device& device = queue_->device();
    WYE_TRY(device.loss.check());
    std::string_view call;
    const VkResult result = queue_->wait_for(queue_->outbox.attend(number_), UINT64_MAX, call);
    return device.check(result, call);
}

// quirk nvidia-vk-silent-loss: checks periodically whether the device is lost.
VkResult Progress::wait_for(std::uint64_t number, std::uint64_t timeout_ns,
                            std::string_view& call) {
    auto info = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    const VkSemaphore handle = semaphore.get();
    info.semaphoreCount = 1;
    info.pSemaphores = &handle;
    number = outbox.signal_of(number);
    info.pValues = &number;
    for (std::uint64_t left = timeout_ns;;) {
        const std::uint64_t slice = std::min(left, kAskEveryNs);
        call = "vkWaitSemaphores";
        const VkResult result = device_.vk().vkWaitSemaphores(device_.handle(), &info, slice);
        if (result != VK_TIMEOUT) return result;
        call = "vkQueueSubmit";
        if (gone()) return VK_ERROR_DEVICE_LOST;
        if (timeout_ns != UINT64_MAX) left -= slice;
        if (left == 0) return VK_TIMEOUT;
    }
}

bool Progress::gone() {
    const Clock::time_point now = Clock::now();
    Clock::time_point last = asked_.load(std::memory_order_relaxed);
    if (now - last < std::chrono::nanoseconds(kAskEveryNs) ||
        !asked_.compare_exchange_strong(last, now))
        return false;
    const auto nothing = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    const sdk::Lock lock(compute_.mutex);
    return device_.vk().vkQueueSubmit(compute_.handle, 1, &nothing, VK_NULL_HANDLE) ==
           VK_ERROR_DEVICE_LOST;
}

Result<void> Segments::send(std::span<const SemaphoreWait> waits,
                            std::unique_ptr<Segment>& segment) {
    if (!keeps_none()) progress_->outbox.send();
    make_room();
    const bool own = segment->lane != last_lane_ && !idle();
    if (own || !waits.empty() || send_info_.waitSemaphoreCount != 0)
        set_waits(waits, own, *segment);
    const std::uint64_t number = newest() + 1;
    send_number_ = number;
    send_info_.commandBufferCount = static_cast<std::uint32_t>(segment->commands.size());
    send_info_.pCommandBuffers = segment->commands.data();
    const VkResult result = submit(*shared_[static_cast<std::size_t>(segment->lane)]);
    if (result != VK_SUCCESS) return device_.failed(result, "vkQueueSubmit");
    last_lane_ = segment->lane;
    const bool staged = segment->staged;
    const sdk::Lock lock(mutex_);
    add_newest(number, &segment);
    if (staged) staging.mark(number);
    return {};
}

bool Segments::keep(std::span<const VkCommandBuffer> commands, std::unique_ptr<Segment>* segment) {
    make_room();
    const std::uint64_t number = newest() + 1;
    if (!progress_->outbox.keep(number, commands, number - ended())) return false;
    const sdk::Lock lock(mutex_);
    add_newest(number, segment);
    return true;
}

void Segments::make_room() {
    if (has_room_) return;
    const sdk::Lock lock(mutex_);
    pending_.make_room();
    has_room_ = true;
}

void Segments::add_newest(std::uint64_t number, std::unique_ptr<Segment>* segment) {
    progress_->newest.store(number, std::memory_order_release);
    Sent& sent = pending_.push_new();
    sent.number = number;
    if (segment != nullptr) {
        sent.segment = std::move(*segment);
        if (!spare_.empty()) {
            *segment = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    has_room_ = pending_.has_room();
}

void Segments::set_waits(std::span<const SemaphoreWait> waits, bool own, Segment& segment) {
    wait_semaphores_.clear();
    wait_numbers_.clear();
    const auto add = [&](const SemaphoreWait& wait) {
        wait_semaphores_.push_back(wait.semaphore);
        wait_numbers_.push_back(wait.value);
    };
    for (const SemaphoreWait& wait : waits) {
        add(wait);
        if (wait.owner) segment.waits.push_back(wait.owner);
    }
    if (own) add(signal_of(newest()));
    if (wait_stages_.size() < wait_numbers_.size())
        wait_stages_.resize(wait_numbers_.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    const auto count = static_cast<std::uint32_t>(wait_numbers_.size());
    send_info_.waitSemaphoreCount = send_values_.waitSemaphoreValueCount = count;
    send_info_.pWaitSemaphores = wait_semaphores_.data();
    send_info_.pWaitDstStageMask = wait_stages_.data();
    send_values_.pWaitSemaphoreValues = wait_numbers_.data();
}

void Segments::empty(Segment& segment) noexcept {
    for (std::unique_ptr<Recording>& recording : segment.recordings)
        recordings(segment.lane).give_back(std::move(recording));
    if (segment.stamps) recordings(segment.lane).give_back(std::move(segment.stamps));
    segment.lane = Lane::Compute;
    segment.recordings.clear();
    segment.commands.clear();
    segment.copies.clear();
    segment.staged = false;
    segment.waits.clear();
}

void Segments::expect_reads(std::span<const std::uint64_t> serials) {
    const sdk::Lock lock(mutex_);
    while (!reads_.empty() && reads_.front().number <= ended()) (void)reads_.pop();
    for (const std::uint64_t serial : serials) reads_.push({newest(), serial});
    reads_until_.store(newest());
}

std::uint64_t Segments::newest_read(std::uint64_t serial) {
    const sdk::Lock lock(mutex_);
    for (std::size_t at = reads_.size(); at-- > 0 && reads_[at].number > ended();)
        if (reads_[at].serial == serial) return reads_[at].number;
    return 0;
}

Result<bool> Segments::has_ended(std::uint64_t number) {
    if (number <= ended()) return true;
    number = progress_->outbox.attend(number);
    WYE_TRY(device_.loss.check());
    std::uint64_t now = 0;
    const VkResult result =
        device_.vk().vkGetSemaphoreCounterValue(device_.handle(), progress_->semaphore.get(), &now);
    if (result != VK_SUCCESS) return failed(result, "vkGetSemaphoreCounterValue");
    if (now < number && progress_->gone()) return failed(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
    return now >= number;
}

Result<bool> Segments::await(std::uint64_t number, std::uint64_t timeout_ns) {
    if (number <= ended()) return true;
    number = progress_->outbox.attend(number);
    WYE_TRY(device_.loss.check());
    return wait_for(number, timeout_ns);
}

std::optional<Error> Segments::settle_kept(std::uint64_t first, std::uint64_t last) {
    std::optional<Error> out;
    if (first <= last) out = failure(last);
    collect(last);
    progress_->outbox.forget_failures(last);
    return out;
}

Result<void> Segments::finish() {
    if (idle()) return {};
    progress_->outbox.send();
    WYE_TRY(device_.loss.check());
    WYE_TRY(wait_for(progress_->outbox.attend(newest()), UINT64_MAX));
    return {};
}

Result<bool> Segments::wait_for(std::uint64_t number, std::uint64_t timeout_ns) {
    std::string_view call;
    const VkResult result = progress_->wait_for(number, timeout_ns, call);
    if (result == VK_SUCCESS) return true;
    if (result == VK_TIMEOUT) return false;
    return failed(result, call);
}

void Segments::collect(std::uint64_t number) noexcept {
    const sdk::Lock lock(mutex_);
    bool staged = false;
    while (!pending_.empty() && pending_.front().number <= number) {
        Sent sent = pending_.pop();
        if (sent.segment != nullptr) {
            Segment& segment = *sent.segment;
            sdk::run(segment.copies);
            staged = staged || segment.staged;
            keep_times(sent.number, segment);
            empty(segment);
            try {
                spare_.push_back(std::move(sent.segment));
            } catch (const std::bad_alloc&) {  // the segment is freed
            }
        }
        progress_->ended.store(sent.number, std::memory_order_release);
    }
    if (staged) staging.release(number);
}

// Keeps a segment's times, unless there is no memory for them.
void Segments::keep_times(std::uint64_t number, const Segment& segment) noexcept {
    if (!segment.stamps) return;
    try {
        if (const auto times = segment.stamps->times(); times.ok()) times_.push({number, *times});
    } catch (const std::bad_alloc&) {
    }
}

void Segments::drop_copies(const Sent& sent) noexcept {
    if (sent.segment != nullptr) sent.segment->copies.clear();
}

void Segments::drop_copies(std::uint64_t first) noexcept {
    const sdk::Lock lock(mutex_);
    for (std::size_t at = 0; at < pending_.size(); ++at)
        if (pending_[at].number >= first) drop_copies(pending_[at]);
}

Result<void> Segments::wait(std::uint64_t number) {
    if (number <= ended()) return {};
    WYE_TRY(await(number, UINT64_MAX));
    collect(number);
    return {};
}

sdk::WorkTimes Segments::times_of(std::uint64_t first, std::uint64_t last) {
    if (clock_.is_old()) match_clock();
    const sdk::Lock lock(mutex_);
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    while (!times_.empty() && times_.front().number <= last) {
        const Time time = times_.pop();
        if (time.number < first) continue;
        begin = std::min(begin, time.times.begin);
        end = std::max(end, time.times.end);
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
    for (std::size_t at = 0; at < pending_.size(); ++at) drop_copies(pending_[at]);
    return device_.failed(result, call);
}

}  // namespace wye::vulkan
