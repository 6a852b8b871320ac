// SPDX-License-Identifier: Apache-2.0
//
// QueueLease: exclusive use of a session's queue, which has no other access. One call at a time
// holds it; it is not shared between threads. Borrows the session.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exec/device/session.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Times of the submits of one call; nanoseconds.
struct RunTimes {
    std::uint64_t enqueue_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t device_ns = 0;
    bool device_known = true;                // every submit so far had driver timestamps
    Clock::time_point queued;                // of the last submit
    std::optional<Clock::time_point> ended;  // of the last wait
};

class QueueLease {
  public:
    QueueLease(DeviceSession& session, sdk::TimedHold hold) noexcept
        : session_(&session), hold_(std::move(hold)) {}
    QueueLease(QueueLease&&) noexcept = default;
    QueueLease& operator=(QueueLease&&) = delete;
    ~QueueLease();  // releases scratch, unless work was abandoned

    [[nodiscard]] Result<wye_buffer_object*> scratch(std::uint64_t size, std::uint32_t alignment);
    // The device's trap words and the host's copy of them.
    [[nodiscard]] Result<wye_buffer_object*> trap_buffer();
    [[nodiscard]] std::uint32_t* trap_words() noexcept;
    // An empty list, whose memory is reused between launches.
    [[nodiscard]] std::vector<wye_operation>& operations() noexcept;
    [[nodiscard]] std::vector<wye_binding>& bindings() noexcept;
    [[nodiscard]] Repeats& repeats() noexcept;

    // Submits, and returns the value to wait for. The time since `start` counts as enqueueing.
    // Queues all operations or none; after an error the session makes a new queue.
    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               bool timed, Clock::time_point start,
                                               RunTimes& times);
    // Waits for a value. `timeout_ns` 0: no limit. After TIMEOUT `pending` is 0 if the work was
    // stopped, else its value: the caller then abandons the work and leaves its memory alone.
    [[nodiscard]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns, bool timed,
                                    RunTimes& times, std::uint64_t& pending);
    // Submits and waits without limit. Does nothing without operations.
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations, bool timed,
                                   Clock::time_point start, RunTimes& times);
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations);
    void abandon(Abandoned work);

  private:
    [[nodiscard]] Result<std::uint64_t> enter(std::span<const wye_operation> operations, bool timed,
                                              Clock::time_point start, RunTimes& times);
    [[nodiscard]] Result<void> ended(Result<void> waited, std::uint64_t value, bool timed,
                                     RunTimes& times);
    // A lease is the hold of its queue's mutex, which clang cannot see.
    void held() const WYE_ASSERT_CAPABILITY(session_->queue_mutex_) {}

    DeviceSession* session_;
    sdk::TimedHold hold_;
};

// Inline for the fast path of a dispatch.
inline std::optional<QueueLease> DeviceSession::try_lease() {
    sdk::TimedHold hold = sdk::TimedHold::if_free(queue_mutex_);
    if (!hold) return std::nullopt;
    queue_mutex_.assert_held();
    if (abandoned_ || lost()) return std::nullopt;
    return QueueLease(*this, std::move(hold));
}
inline Repeats& QueueLease::repeats() noexcept {
    held();
    return session_->repeats_;
}

}  // namespace wye::exec
