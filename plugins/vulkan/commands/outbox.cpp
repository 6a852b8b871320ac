// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/outbox.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <system_error>

#include "wye/sdk/blocked_signals.hpp"

namespace wye::vulkan {
namespace {

// If the device has no work, kept segments are sent once keep_ / kShortPart has passed since the
// last sending. Without this pause, segments in close succession would be sent one by one, and each
// sending would delay the next segment.
constexpr int kShortPart = 6;

// The state at the process's exit. Exit handlers run in reverse order of registration, so `leave`
// runs before the handlers in which drivers end. From then on, the threads of outboxes, which the
// application does not know of, call no driver.
struct Leaving {
    sdk::Mutex mutex;  // held while an outbox's thread calls the driver
    bool leaving WYE_GUARDED_BY(mutex) = false;
};
constinit Leaving process;

void leave() {
    const sdk::Lock lock(process.mutex);
    process.leaving = true;
}

VkSubmitInfo info_of(std::span<const VkCommandBuffer> commands, const VkSemaphore& semaphore,
                     const VkTimelineSemaphoreSubmitInfo& values) {
    auto out = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    out.pNext = &values;
    out.commandBufferCount = static_cast<std::uint32_t>(commands.size());
    out.pCommandBuffers = commands.data();
    out.signalSemaphoreCount = 1;
    out.pSignalSemaphores = &semaphore;
    return out;
}

VkTimelineSemaphoreSubmitInfo values_of(const std::uint64_t& number) {
    auto out =
        make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    out.signalSemaphoreValueCount = 1;
    out.pSignalSemaphoreValues = &number;
    return out;
}

}  // namespace

bool Outbox::keep(std::uint64_t number, std::span<const VkCommandBuffer> commands,
                  std::uint64_t in_flight) {
    const Clock::time_point now = Clock::now();
    const sdk::Lock lock(mutex_);
    if (keep_ == Clock::duration::zero() || (!thread_.joinable() && !start())) return false;
    failures_.reserve(failures_.size() + 1);
    commands_.insert(commands_.end(), commands.begin(), commands.end());
    if (count_ == 0) {
        first_ = number;
        const Batch newest = newest_batch();
        before_ = newest.last == number - 1 ? newest.first : number - 1;
        since_ = now;
    }
    ends_[count_++] = static_cast<std::uint32_t>(commands_.size());
    if (is_due(now, in_flight)) {
        send_kept(0);
        return true;
    }
    update();
    if (asleep_) {
        asleep_ = false;
        changed_.notify_one();
    }
    return true;
}

void Outbox::send() noexcept {
    const sdk::Lock lock(mutex_);
    send_kept(0);
}

std::uint64_t Outbox::attend_slowly(std::uint64_t number) noexcept {
    const sdk::Lock lock(mutex_);
    if (number >= before_) send_kept(number);
    return signalled(number);
}

std::uint64_t Outbox::old_signal_of(std::uint64_t number) const noexcept {
    const sdk::Lock lock(mutex_);
    const std::size_t known = std::min(batch_count_, batches_.size());
    for (std::size_t back = 1; back <= known; ++back) {
        const Batch& one = batches_[(batch_count_ - back) % batches_.size()];
        if (one.last < number) break;
        if (one.first <= number) return one.last;
    }
    return number;
}

std::optional<VkResult> Outbox::old_failure(std::uint64_t number) const {
    const sdk::Lock lock(mutex_);
    for (const Failure& one : failures_)
        if (one.first <= number && number <= one.last) return one.result;
    return std::nullopt;
}

void Outbox::forget_failures(std::uint64_t number) noexcept {
    if (number < concern_.load(std::memory_order_acquire)) [[likely]]
        return;
    const sdk::Lock lock(mutex_);
    std::erase_if(failures_, [&](const Failure& one) { return one.last <= number; });
    update();
}

void Outbox::keep_no_more() noexcept {
    const sdk::Lock lock(mutex_);
    send_kept(0);
    keep_ = Clock::duration::zero();
}

void Outbox::stop() noexcept {
    std::thread thread;
    {
        const sdk::Lock lock(mutex_);
        stopping_ = true;
        thread.swap(thread_);
        changed_.notify_one();
    }
    if (thread.joinable()) thread.join();
}

// Starts the thread that sends kept segments in time. False: there is no thread, so no segment may
// be kept.
bool Outbox::start() {
    static const bool told = std::atexit(&leave) == 0;
    try {
        const sdk::BlockedSignals blocked;
        if (told) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // the system has no more threads
    }
    if (!thread_.joinable()) {
        keep_ = Clock::duration::zero();
        return false;
    }
    (void)::pthread_setname_np(thread_.native_handle(), "wye-outbox");
    return true;
}

void Outbox::run() noexcept {
    constexpr unsigned long kSlackNs = 5000;  // by default timers may be 50 us late
    (void)::prctl(PR_SET_TIMERSLACK, kSlackNs, 0UL, 0UL, 0UL);
    sdk::WaitingLock lock(mutex_);
    while (!stopping_) {
        if (count_ == 0) {
            asleep_ = true;
            lock.wait(changed_);
            continue;
        }
        const Clock::time_point end = since_ + keep_;
        if (Clock::now() < end) {
            (void)lock.wait_until(changed_, end);
            continue;
        }
        if (!send_unless_leaving()) lock.wait(changed_);
    }
}

bool Outbox::send_unless_leaving() noexcept {
    const sdk::Lock lock(process.mutex);
    if (process.leaving) return false;
    send_kept(0);
    return true;
}

bool Outbox::is_due(Clock::time_point now, std::uint64_t in_flight) const {
    if (count_ >= std::clamp<std::uint64_t>(in_flight / 4, 1, kMost)) return true;
    const Clock::duration quiet = now - last_sent_;
    return quiet >= keep_ || (quiet >= keep_ / kShortPart && is_dry());
}

bool Outbox::is_dry() const {
    std::uint64_t now = 0;
    return device_.vk().vkGetSemaphoreCounterValue(device_.handle(), semaphore_, &now) ==
               VK_SUCCESS &&
           now >= signalled(first_ - 1);
}

// Sends the kept segments. If the device is lost, or the driver refuses the segments, drops them
// and records the failure. push_back cannot fail: keep() has reserved memory.
void Outbox::send_kept(std::uint64_t asked) noexcept {
    if (count_ == 0) return;
    const VkResult result = device_.loss.lost() ? VK_ERROR_DEVICE_LOST : submit(asked);
    if (result != VK_SUCCESS) {
        failures_.push_back({first_, first_ + count_ - 1, result});
        try {
            (void)device_.failed(result, "vkQueueSubmit");  // records a loss
        } catch (const std::bad_alloc&) {
        }
    }
    last_sent_ = Clock::now();
    count_ = 0;
    commands_.clear();
    update();
}

VkResult Outbox::submit(std::uint64_t asked) {
    const std::uint64_t newest = first_ + count_ - 1;
    const std::span<const VkCommandBuffer> all(commands_);
    const bool divided = first_ <= asked && asked < newest;
    const std::size_t end = divided ? ends_[asked - first_] : all.size();
    const std::array<std::uint64_t, 2> numbers = {divided ? asked : newest, newest};
    const std::array values = {values_of(numbers[0]), values_of(numbers[1])};
    const std::array infos = {info_of(all.first(end), semaphore_, values[0]),
                              info_of(all.subspan(end), semaphore_, values[1])};
    VkResult result = VK_SUCCESS;
    {
        const sdk::Lock lock(shared_.mutex);
        result = device_.vk().vkQueueSubmit(shared_.handle, divided ? 2 : 1, infos.data(),
                                            VK_NULL_HANDLE);
    }
    if (result != VK_SUCCESS) return result;
    sent(first_, numbers[0]);
    if (divided) sent(asked + 1, newest);
    return result;
}

Outbox::Batch Outbox::newest_batch() const {
    return batch_count_ == 0 ? Batch() : batches_[(batch_count_ - 1) % batches_.size()];
}

void Outbox::sent(std::uint64_t first, std::uint64_t last) noexcept {
    if (first == last) return;
    batches_[batch_count_++ % batches_.size()] = {first, last};
    last_batch_.store(last, std::memory_order_release);
}

// The newest segment number up to `number` that the driver accepted.
std::uint64_t Outbox::signalled(std::uint64_t number) const {
    for (std::size_t at = failures_.size(); at-- > 0;)
        if (failures_[at].first <= number && number <= failures_[at].last)
            number = failures_[at].first - 1;
    return number;
}

void Outbox::update() noexcept {
    std::uint64_t concern = count_ == 0 ? kNone : before_;
    if (!failures_.empty()) concern = std::min(concern, failures_.front().first);
    concern_.store(concern, std::memory_order_release);
    kept_.store(count_, std::memory_order_release);
}

}  // namespace wye::vulkan
