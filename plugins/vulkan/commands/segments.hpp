// SPDX-License-Identifier: Apache-2.0
//
// Segments: the segments that a queue has sent to the driver, or keeps for a short time
// (outbox.hpp). A segment is a part of a submit that is sent as a unit: a list of command buffers.
// The values of the queue's timeline semaphore number the segments. A submit usually has one
// segment. It has several if its transfers exceed the staging ring, and none if the host did all of
// its work. Once a segment has ended, its read-backs are copied to host memory, and its recordings
// and staging memory become free. All members are free-threaded unless stated.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "vulkan/commands/outbox.hpp"
#include "vulkan/commands/recordings.hpp"
#include "vulkan/commands/staging.hpp"
#include "wye/sdk/fifo.hpp"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::vulkan {

class Segments;

// A segment that another queue waits for; number 0: none.
struct SegmentWait {
    Segments* of = nullptr;
    std::uint64_t number = 0;
    explicit operator bool() const { return number != 0; }
};

class Progress;

// A value of a timeline semaphore that a segment waits for.
struct SemaphoreWait {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    std::uint64_t value = 0;
    std::shared_ptr<Progress> owner;  // null: the application owns the semaphore
};

// The part of a submit that is sent as a unit. Empty segments are reused, since they keep their
// memory.
struct Segment {
    Lane lane = Lane::Compute;
    std::vector<VkCommandBuffer> commands;  // in order
    // The recordings that own those command buffers, except the ones that belong to a Command.
    std::vector<std::unique_ptr<Recording>> recordings;
    std::unique_ptr<Stamps> stamps;     // null: not timed
    std::vector<sdk::HostCopy> copies;  // made by the host once the segment has ended
    bool staged = false;                // whether the segment uses staging memory
    // Keeps alive the semaphores that the segment waits for, since their queues may be destroyed
    // meanwhile.
    std::vector<std::shared_ptr<Progress>> waits;
};

// The numbers of a queue's newest segment and of its last ended one, and the queue's timeline
// semaphore. Outlives the queue while a segment of another queue waits for the semaphore, or a
// command's LastUse refers to this object. All segments then count as ended.
class Progress {
  public:
    Progress(Device& device, SharedQueue& compute, SemaphoreHandle handle)
        : semaphore(std::move(handle)),
          outbox(device, compute, semaphore.get()),
          device_(device),
          compute_(compute) {}

    const SemaphoreHandle semaphore;
    std::atomic<std::uint64_t> newest{0}, ended{0};
    Outbox outbox;  // the segments that are not sent yet

    [[nodiscard]] Device& device() const { return device_; }
    // Waits for a segment. VK_TIMEOUT: the segment did not end within timeout_ns. Sets `call` to
    // the driver's function that gave the result.
    [[nodiscard]] VkResult wait_for(std::uint64_t number, std::uint64_t timeout_ns,
                                    std::string_view& call);
    // Whether the driver now reports that the device is lost. Asks the driver only once in
    // kAskEveryNs; returns false in between.
    [[nodiscard]] bool gone();

  private:
    using Clock = std::chrono::steady_clock;
    Device& device_;
    SharedQueue& compute_;
    std::atomic<Clock::time_point> asked_{Clock::now()};
};

// The newest segment, of any queue, that contains the command buffer of a Command.
class LastUse {
  public:
    void set(const std::shared_ptr<Progress>& queue, std::uint64_t number) {
        if (queue_ != queue) queue_ = queue;
        number_ = number;
    }
    [[nodiscard]] bool is(const std::shared_ptr<Progress>& queue, std::uint64_t number) const {
        return queue_ == queue && number_ == number;
    }
    // Waits until the segment has ended. Returns at once if the segment was not submitted.
    [[nodiscard]] Result<void> wait() const;

  private:
    std::shared_ptr<Progress> queue_;
    std::uint64_t number_ = 0;
};

class Segments {
  public:
    // `for_transfers`: the queue is of the kind TRANSFER.
    Segments(Device& device, SharedQueue& shared, SemaphoreHandle semaphore, bool for_transfers)
        : staging(device),
          for_transfers_(for_transfers),
          device_(device),
          shared_{&shared, device.context().next_transfers(for_transfers)},
          progress_(std::make_shared<Progress>(device, shared, std::move(semaphore))) {
        send_values_.signalSemaphoreValueCount = 1;
        send_values_.pSignalSemaphoreValues = &send_number_;
        send_info_.pNext = &send_values_;
        send_info_.signalSemaphoreCount = 1;
        send_info_.pSignalSemaphores = &send_signal_;
    }
    ~Segments() {
        progress_->outbox.stop();
        progress_->ended.store(UINT64_MAX);
    }
    Segments(const Segments&) = delete;
    Segments& operator=(const Segments&) = delete;

    Staging staging;
    [[nodiscard]] Recordings& recordings(Lane lane) {
        return recordings_[static_cast<std::size_t>(lane)];
    }
    // The VkQueue of the compute lane, for the application. The application may rely on all earlier
    // submits, so kept segments are sent, and no segment is kept from now on.
    [[nodiscard]] VkQueue queue() const {
        progress_->outbox.keep_no_more();
        const sdk::Lock lock(shared_.front()->mutex);
        return shared_.front()->handle;
    }
    [[nodiscard]] bool has_transfers() const { return shared_[1] != nullptr; }
    [[nodiscard]] bool for_transfers() const { return for_transfers_; }
    // Whether a segment for the transfer lane could run without a wait for an earlier segment of
    // this queue. Submitting thread only.
    [[nodiscard]] bool is_free() {
        if (idle() || last_lane_ == Lane::Transfers) return true;
        const Result<bool> ended = has_ended(newest());
        return ended.ok() && *ended;
    }

    // Sends all kept segments, and then this segment to its lane with one vkQueueSubmit: the waits
    // (also for earlier segments of the other lane), the segment's commands, and the signal of the
    // next number. Leaves an empty segment, or null, in `segment`. Submitting thread only.
    [[nodiscard, gnu::hot]] Result<void> send(std::span<const SemaphoreWait> waits,
                                              std::unique_ptr<Segment>& segment);
    // Whether the next segment may be kept, that is, sent later (outbox.hpp). The caller checks
    // that it is for the compute lane, waits for nothing and has no copies. Submitting thread only.
    [[nodiscard]] bool may_keep() const {
        return last_lane_ == Lane::Compute &&
               (newest() - ended() >= Outbox::kFewest || !keeps_none());
    }
    // Whether no segment is kept.
    [[nodiscard]] bool keeps_none() const { return progress_->outbox.is_empty(); }
    // Keeps a segment with these command buffers, or sends it together with the kept segments.
    // `segment`: as in `send`; a null pointer: the segment has only the command buffer of one
    // Command. False: the segment was not taken. To be called only if may_keep().
    [[nodiscard, gnu::hot]] bool keep(std::span<const VkCommandBuffer> commands,
                                      std::unique_ptr<Segment>* segment);
    // Sends, to the compute lane, a segment with only the command buffer of one Command. No
    // segment may be kept at that time. False: nothing was sent, and the caller must use `send`.
    // Submitting thread only.
    [[nodiscard, gnu::always_inline]] bool send_alone(VkCommandBuffer commands) {
        if (!has_room_ || last_lane_ != Lane::Compute || send_info_.waitSemaphoreCount != 0)
            return false;
        const std::uint64_t number = newest() + 1;
        send_number_ = number;
        send_info_.commandBufferCount = 1;
        send_info_.pCommandBuffers = &commands;
        if (submit(*shared_[0]) != VK_SUCCESS) return false;
        const sdk::Lock lock(mutex_);
        progress_->newest.store(number, std::memory_order_release);
        pending_.push_new().number = number;
        has_room_ = pending_.has_room();
        return true;
    }
    // Empties a segment that is not pending.
    void empty(Segment& segment) noexcept;
    [[nodiscard]] std::uint64_t newest() const {
        return progress_->newest.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t ended() const {
        return progress_->ended.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool idle() const { return ended() == newest(); }
    [[nodiscard]] const std::shared_ptr<Progress>& progress() const { return progress_; }
    // Records that the newest segment's copies by the host read these buffers directly, so that
    // nothing writes the buffers before the copies are made.
    void expect_reads(std::span<const std::uint64_t> serials);
    [[nodiscard]] bool reads_pending() const { return ended() < reads_until_.load(); }
    // The newest segment whose copies by the host read buffers directly.
    [[nodiscard]] std::uint64_t reads_until() const { return reads_until_.load(); }
    // The newest pending segment whose copies by the host read this buffer directly; 0: none.
    [[nodiscard]] std::uint64_t newest_read(std::uint64_t serial);
    // Whether all segments up to `number` have ended. After an error, the copies of all pending
    // segments are dropped, since the caller may then free the memory that they would write.
    [[nodiscard]] Result<bool> has_ended(std::uint64_t number);
    // Like `has_ended`, after waiting for at most timeout_ns.
    [[nodiscard]] Result<bool> await(std::uint64_t number, std::uint64_t timeout_ns);
    // Sends all kept segments, and waits until all segments have ended.
    [[nodiscard]] Result<void> finish();
    // The driver's error if the driver refused a segment that was kept. Nothing: the segment was
    // not refused.
    [[nodiscard]] std::optional<Error> failure(std::uint64_t number) const {
        const std::optional<VkResult> result = progress_->outbox.failure(number);
        if (result) [[unlikely]]
            return device_.failed(*result, "vkQueueSubmit");
        return std::nullopt;
    }
    // Collects the segments of a submit that has ended. Returns the driver's error if the
    // driver refused them.
    [[nodiscard]] std::optional<Error> settle(std::uint64_t first, std::uint64_t last) {
        if (progress_->outbox.concerns(last)) [[unlikely]]
            return settle_kept(first, last);
        collect(last);
        return std::nullopt;
    }
    // The last segment of a submit, for another queue's wait. If that segment is kept, it is sent
    // first. For a submit without segments, the newest earlier segment that was not refused.
    [[nodiscard]] SegmentWait share(std::uint64_t first, std::uint64_t last) {
        const std::uint64_t signal = progress_->outbox.attend(last);
        return {this, first <= last ? last : signal};
    }
    // The value of the queue's semaphore that marks the end of a segment.
    [[nodiscard]] SemaphoreWait signal_of(std::uint64_t number) const {
        Outbox& outbox = progress_->outbox;
        return {progress_->semaphore.get(), outbox.signal_of(outbox.attend(number)), progress_};
    }
    // Makes the copies of all segments up to `number`, all of which have ended, and frees their
    // recordings and staging memory for reuse.
    void collect(std::uint64_t number) noexcept;
    // Drops the copies of segments from `first` on, because their submit failed.
    void drop_copies(std::uint64_t first) noexcept;
    // As `await` without a limit, then `collect`.
    [[nodiscard]] Result<void> wait(std::uint64_t number);
    // The times of a submit whose segments were collected. Drops the times of all segments up to
    // `last`.
    [[nodiscard]] sdk::WorkTimes times_of(std::uint64_t first, std::uint64_t last);

  private:
    struct Time {
        std::uint64_t number = 0;
        Stamps::Times times;
    };
    struct Read {
        std::uint64_t number = 0, serial = 0;
    };

    // A segment that was sent or kept, and is not collected yet.
    struct Sent {
        std::uint64_t number = 0;
        std::unique_ptr<Segment> segment;  // null: only the command buffer of one Command
    };

    // Makes sure that adding a segment to pending_ allocates nothing.
    void make_room();
    // Adds the newest segment to pending_. If `segment` is not null, takes `*segment`, and
    // leaves an empty segment, or null, in its place.
    void add_newest(std::uint64_t number, std::unique_ptr<Segment>* segment) WYE_REQUIRES(mutex_);
    static void drop_copies(const Sent& sent) noexcept;
    void keep_times(std::uint64_t number, const Segment& segment) noexcept WYE_REQUIRES(mutex_);
    // Calls vkQueueSubmit with send_info_.
    [[nodiscard]] VkResult submit(SharedQueue& shared) {
        const sdk::Lock lock(shared.mutex);
        return device_.vk().vkQueueSubmit(shared.handle, 1, &send_info_, VK_NULL_HANDLE);
    }
    void set_waits(std::span<const SemaphoreWait> waits, bool own, Segment& segment);
    [[gnu::cold, gnu::noinline]] std::optional<Error> settle_kept(std::uint64_t first,
                                                                  std::uint64_t last);
    Result<bool> wait_for(std::uint64_t number, std::uint64_t timeout_ns);
    Error failed(VkResult result, std::string_view call);
    // Relates the device's clock to the host's, if the driver can read the device's clock.
    void match_clock();

    const bool for_transfers_;
    Device& device_;
    std::array<Recordings, 2> recordings_{Recordings(device_, Lane::Compute),
                                          Recordings(device_, Lane::Transfers)};
    const std::array<SharedQueue*, 2> shared_;  // indexed by lane
    Lane last_lane_ = Lane::Compute;            // of the newest segment
    const std::shared_ptr<Progress> progress_;
    std::atomic<std::uint64_t> reads_until_{0};

    sdk::NanosecondMatch clock_;

    // The arguments of vkQueueSubmit, kept for reuse. Submitting thread only.
    VkSubmitInfo send_info_ = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    VkTimelineSemaphoreSubmitInfo send_values_ =
        make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    const VkSemaphore send_signal_ = progress_->semaphore.get();
    bool has_room_ = false;  // whether adding a segment to pending_ allocates nothing
    std::uint64_t send_number_ = 0;
    std::vector<VkSemaphore> wait_semaphores_;
    std::vector<std::uint64_t> wait_numbers_;
    std::vector<VkPipelineStageFlags> wait_stages_;

    sdk::Mutex mutex_;
    // The segments that are not collected yet, with ascending numbers.
    sdk::Fifo<Sent> pending_ WYE_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Segment>> spare_ WYE_GUARDED_BY(mutex_);
    sdk::Fifo<Time> times_ WYE_GUARDED_BY(mutex_);  // ascending numbers
    sdk::Fifo<Read> reads_ WYE_GUARDED_BY(mutex_);  // ascending numbers
};

}  // namespace wye::vulkan
