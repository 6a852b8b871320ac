// SPDX-License-Identifier: Apache-2.0
//
// Outbox: the newest segments (segments.hpp) of a queue, which the plugin has not sent to the
// driver yet. These kept segments are sent together, since one vkQueueSubmit with one signal costs
// about as much for several segments as for one (quirk nvidia-vk-costly-submits). A segment is kept
// only while nobody waits for it, and many other segments are in flight as far as the host knows
// (kFewest). So work that is waited for soon is sent at once. Kept segments are sent
//
//     by a submit, if many are kept (a quarter of those in flight, at most kMost), if the device
//     has no work, or if the last sending was too long ago;
//     by a call that polls or waits for one of them, or for the last segments sent before them;
//     before any segment that is not kept, and before the queue is destroyed;
//     by the outbox's thread, `vulkan.keep_us` after the first of them was kept.
//
// If a call polls or waits for a kept segment, the kept segments up to that one are sent with one
// signal, and those after it with another. If the driver refuses kept segments, they have failed,
// and the semaphore never gets their numbers.
//
// Members are free-threaded unless stated. Lock order: the outbox's lock, then the VkQueue's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "vulkan/device.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::vulkan {

class Outbox {
  public:
    // A segment is kept only if others are kept already, or if at least this number of segments is
    // in flight, as far as the host knows.
    static constexpr std::uint64_t kFewest = 8;
    static constexpr std::uint64_t kMost = 64;  // the maximum number of kept segments

    Outbox(Device& device, SharedQueue& shared, VkSemaphore semaphore)
        : device_(device),
          shared_(shared),
          semaphore_(semaphore),
          keep_(std::chrono::nanoseconds(device.plugin.keep_ns)) {}
    ~Outbox() { stop(); }
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    [[nodiscard]] bool is_empty() const { return kept_.load(std::memory_order_acquire) == 0; }
    // Keeps a segment, or sends it together with all kept segments. `number`: the segment's number,
    // one above the newest segment's; `in_flight`: the number of segments in flight, this one
    // included, as far as the host knows. False: the segment was not taken, and the caller must
    // send it. Submitting thread only.
    [[nodiscard]] bool keep(std::uint64_t number, std::span<const VkCommandBuffer> commands,
                            std::uint64_t in_flight);
    // Sends all kept segments.
    void send() noexcept;
    // Whether a segment is kept, was sent in the last batch before the kept segments, was refused,
    // or comes after a refused segment.
    [[nodiscard, gnu::always_inline]] bool concerns(std::uint64_t number) const noexcept {
        return number >= concern_.load(std::memory_order_acquire);
    }
    // To be called before a segment is polled or waited for. Sends the kept segments if the segment
    // is one of them, or was sent in the last batch before them. Returns the number of the segment
    // to ask for: `number`, or, if refused, that of the newest accepted segment before.
    [[nodiscard, gnu::always_inline]] std::uint64_t attend(std::uint64_t number) noexcept {
        return concerns(number) ? attend_slowly(number) : number;
    }
    // The semaphore value to wait for, given a number that `attend` returned: the number of the
    // last segment of the same batch, since only that segment has a signal
    // (quirk layer-skipped-values).
    [[nodiscard, gnu::always_inline]] std::uint64_t signal_of(std::uint64_t number) const noexcept {
        if (number >= last_batch_.load(std::memory_order_acquire)) [[likely]]
            return number;
        return old_signal_of(number);
    }
    // The driver's error if the driver refused this segment after it was kept. Nothing: the segment
    // was not refused.
    [[nodiscard]] std::optional<VkResult> failure(std::uint64_t number) const {
        if (!concerns(number)) [[likely]]
            return std::nullopt;
        return old_failure(number);
    }
    // Forgets refusals of segments up to `number`, all of which have ended.
    void forget_failures(std::uint64_t number) noexcept;
    // Sends all kept segments, and keeps none from now on.
    void keep_no_more() noexcept;
    // Ends the outbox's thread. No segment may be kept at that time.
    void stop() noexcept;

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kNone = UINT64_MAX;

    // Consecutive segments that were sent with one signal, whose value is the last segment's
    // number.
    struct Batch {
        std::uint64_t first = 0, last = 0;
    };
    struct Failure {
        std::uint64_t first = 0, last = 0;
        VkResult result = VK_SUCCESS;
    };

    [[gnu::cold, gnu::noinline]] std::uint64_t attend_slowly(std::uint64_t number) noexcept;
    [[gnu::cold, gnu::noinline]] std::uint64_t old_signal_of(std::uint64_t number) const noexcept;
    [[gnu::cold, gnu::noinline]] std::optional<VkResult> old_failure(std::uint64_t number) const;
    [[nodiscard]] bool start() WYE_REQUIRES(mutex_);
    void run() noexcept;
    // Whether the submit that kept the newest segment must now send all kept segments.
    [[nodiscard]] bool is_due(Clock::time_point now, std::uint64_t in_flight) const
        WYE_REQUIRES(mutex_);
    // Whether all segments that were sent have ended.
    [[nodiscard]] bool is_dry() const WYE_REQUIRES(mutex_);
    // Sends all kept segments. `asked`: a segment that gets a signal of its own if it is kept; 0:
    // none.
    void send_kept(std::uint64_t asked) noexcept WYE_REQUIRES(mutex_);
    // Sends all kept segments from the outbox's thread. False: the process is about to end, and
    // nothing is sent.
    [[nodiscard]] bool send_unless_leaving() noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] VkResult submit(std::uint64_t asked) WYE_REQUIRES(mutex_);
    [[nodiscard]] std::uint64_t signalled(std::uint64_t number) const WYE_REQUIRES(mutex_);
    [[nodiscard]] Batch newest_batch() const WYE_REQUIRES(mutex_);
    // Records that these segments were sent as one batch.
    void sent(std::uint64_t first, std::uint64_t last) noexcept WYE_REQUIRES(mutex_);
    void update() noexcept WYE_REQUIRES(mutex_);

    Device& device_;
    SharedQueue& shared_;
    const VkSemaphore semaphore_;  // the queue's; its values are segment numbers

    std::atomic<std::uint64_t> kept_{0};
    // The lowest segment number for which `attend` has work: the first segment of the last batch
    // before the kept segments, or the first refused segment.
    std::atomic<std::uint64_t> concern_{kNone};

    std::atomic<std::uint64_t> last_batch_{0};  // the last segment of the newest batch

    mutable sdk::WaitMutex mutex_;
    Clock::duration keep_ WYE_GUARDED_BY(mutex_);     // 0: nothing is kept
    std::uint64_t first_ WYE_GUARDED_BY(mutex_) = 0;  // the first kept segment
    // The first segment of the last batch that was sent before first_.
    std::uint64_t before_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint64_t count_ WYE_GUARDED_BY(mutex_) = 0;
    std::vector<VkCommandBuffer> commands_ WYE_GUARDED_BY(mutex_);  // of all kept segments
    // Indexed by kept segment: the number of command buffers of this and all earlier kept segments.
    std::array<std::uint32_t, kMost> ends_ WYE_GUARDED_BY(mutex_) = {};
    Clock::time_point since_ WYE_GUARDED_BY(mutex_);        // when first_ was kept
    Clock::time_point last_sent_ WYE_GUARDED_BY(mutex_);    // when segments were last sent
    std::vector<Failure> failures_ WYE_GUARDED_BY(mutex_);  // ascending; has room for one more

    std::array<Batch, 64> batches_ WYE_GUARDED_BY(mutex_) = {};  // the newest
    std::size_t batch_count_ WYE_GUARDED_BY(mutex_) = 0;         // modulo the size: the next index

    std::condition_variable changed_;  // wakes the outbox's thread
    std::thread thread_ WYE_GUARDED_BY(mutex_);
    bool asleep_ WYE_GUARDED_BY(mutex_) = false;  // the thread waits until a segment is kept
    bool stopping_ WYE_GUARDED_BY(mutex_) = false;
};

}  // namespace wye::vulkan
