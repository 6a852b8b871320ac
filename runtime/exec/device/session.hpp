// SPDX-License-Identifier: Apache-2.0
//
// DeviceSession: one opened device of a context, with its queue, its compiled programs and its
// scratch buffers. A QueueLease is exclusive use of the queue; one call at a time holds it.
//
// Owns the native queue, scratch and trap record; programs are shared with those who run them.
// Free-threaded. Errors: what the driver says; TIMEOUT; DEVICE_BUSY while work that timed out and
// could not be cancelled still runs (its buffers stay pinned until it has ended), and for programs
// that are not compiled yet while a compile that timed out goes on; DEVICE_LOST for ever after a
// call that met it: the device is then opened again, as another session.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "exec/device/scratch.hpp"
#include "exec/dispatch/repeat.hpp"
#include "exec/program/compiled.hpp"
#include "plan/launch.hpp"
#include "registry/catalogue.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct ArtifactCache;
struct CompileJob;
class ProgramObject;
class DeviceSession;
using SessionRef = std::shared_ptr<DeviceSession>;
using Clock = std::chrono::steady_clock;

// As Clock::now(), without the way through the C++ library: a dispatch reads the clock three times.
[[nodiscard]] inline Clock::time_point now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return Clock::time_point(std::chrono::seconds(time.tv_sec) +
                             std::chrono::nanoseconds(time.tv_nsec));
}

[[nodiscard]] inline std::uint64_t nanoseconds(Clock::duration duration) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

// What a submit took; nanoseconds.
struct RunTimes {
    std::uint64_t enqueue_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t device_ns = 0;
    bool device_known = true;                // every submit so far had driver timestamps
    std::optional<Clock::time_point> ended;  // of the last wait
    // What the first submit writes to the disk cache while the device is busy.
    PrepareStats* unwritten = nullptr;
};

// What must outlive work that is still running after its caller gave up.
struct Abandoned {
    std::uint64_t value = 0;  // of its event
    std::string what;         // "a dispatch of `name`"
    registry::InFlight uses;
    PreparedRef program;
};

class QueueLease {
  public:
    QueueLease(DeviceSession& session, std::unique_lock<std::timed_mutex> lock) noexcept
        : session_(&session), lock_(std::move(lock)) {}
    QueueLease(QueueLease&&) noexcept = default;
    QueueLease& operator=(QueueLease&&) = delete;
    ~QueueLease();  // gives scratch back, unless work was abandoned

    [[nodiscard]] Result<wye_buffer_object*> scratch(std::uint64_t size, std::uint32_t alignment);
    // The device's trap record and the host's copy of it.
    [[nodiscard]] Result<wye_buffer_object*> trap_buffer();
    [[nodiscard]] std::uint32_t* trap_record() noexcept;
    // Reused between launches; cleared.
    [[nodiscard]] std::vector<wye_operation>& operations() noexcept;
    [[nodiscard]] std::vector<wye_binding>& bindings() noexcept;
    [[nodiscard]] Repeats& repeats() noexcept;

    // Submits and waits; what passes from `start` on counts as enqueueing. After TIMEOUT `pending`
    // is 0 when the work was stopped, else its value: the caller then abandons it and touches
    // nothing it uses.
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations,
                                   std::uint64_t timeout_ns, bool timed, Clock::time_point start,
                                   RunTimes& times, std::uint64_t& pending);
    // Waits without limit.
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations);
    void abandon(Abandoned work);

  private:
    DeviceSession* session_;
    std::unique_lock<std::timed_mutex> lock_;
};

class DeviceSession {
  public:
    [[nodiscard]] static Result<SessionRef> open(registry::Registry& registry,
                                                 const registry::Selection& selection,
                                                 std::uint64_t generation,
                                                 std::shared_ptr<ArtifactCache> cache);
    DeviceSession(registry::DeviceRef device, std::string reason, std::uint64_t generation,
                  std::shared_ptr<ArtifactCache> cache);
    ~DeviceSession();

    [[nodiscard]] const registry::DeviceInfo& info() const noexcept { return device_->info(); }
    [[nodiscard]] const registry::DeviceRef& device() const noexcept { return device_; }
    [[nodiscard]] const registry::OwnerRef& owner() const noexcept { return owner_; }
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    [[nodiscard]] const std::string& format() const noexcept { return format_; }
    [[nodiscard]] const plan::Count3& max_groups() const noexcept { return max_groups_; }
    // UINT64_MAX: not reported.
    [[nodiscard]] std::uint64_t max_buffer_bytes() const noexcept { return max_buffer_bytes_; }

    // DEVICE_LOST, with what the driver said first, once a call has met it.
    [[nodiscard]] Result<void> alive() const;
    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    // Of a lost device: takes it back where its plugin can, so that it may be opened again.
    [[nodiscard]] Result<void> recover();

    // When memory is short, scratch that nobody uses now makes room.
    [[nodiscard]] Result<registry::NativeBuffer> buffer(std::uint64_t size, std::uint32_t alignment,
                                                        std::string_view label);

    // Waits for the queue until `deadline` (none: without limit): TIMEOUT, DEVICE_BUSY.
    [[nodiscard]] Result<QueueLease> lease(std::optional<Clock::time_point> deadline = {});
    // Nothing when the queue is taken, the device lost, or abandoned work may still run.
    [[nodiscard]] std::optional<QueueLease> try_lease();
    // Waits until nothing runs, abandoned work and overdue compiles included.
    [[nodiscard]] Result<void> flush();
    // Does a compile go on that nobody waits for?
    [[nodiscard]] bool overdue();
    // Lets go of abandoned work that has ended. False: it still runs, or the queue is taken.
    bool try_drain();

    // The compiled form of a program; `stats` grow when this call made it, and what they have
    // unwritten then is the caller's to write, when it is in nobody's way. `warms`: the driver
    // makes its code now where it would at the first launch. TIMEOUT at the deadline: what is being
    // compiled goes on and is kept; at most one such compile at a time, else DEVICE_BUSY.
    [[nodiscard]] Result<PreparedRef> prepared(ProgramObject& program, const PreparedKey& key,
                                               PrepareStats& stats,
                                               std::optional<Clock::time_point> deadline = {},
                                               bool warms = false);
    void write(PrepareStats& stats) noexcept;

    // Scratch buffers made since the device was opened; a steady stream of dispatches makes none.
    [[nodiscard]] std::uint64_t scratch_created();

  private:
    friend class QueueLease;
    [[nodiscard]] Result<void> make_queue(bool timing);
    [[nodiscard]] Result<void> ensure_queue(bool timing) {
        if (queue_ && (queue_timing_ || !timing)) return {};
        return make_queue(timing);
    }
    [[nodiscard]] PreparedRef known(ProgramObject& program, const PreparedKey& key);
    // Until the job is done; false at the deadline.
    [[nodiscard]] bool await(std::unique_lock<std::mutex>& lock,
                             const std::optional<Clock::time_point>& deadline,
                             const CompileJob& job);
    void await_overdue();
    void compile(CompileJob& job) noexcept;
    [[nodiscard]] Result<PreparedRef> compile_now(CompileJob& job);
    void make_code(const ProgramObject& program, Prepared& prepared, PrepareStats& stats);
    [[nodiscard]] Result<void> settle();  // abandoned work: ended, or DEVICE_BUSY
    void let_go() noexcept;               // of abandoned work
    // Remembers a loss; the error again.
    Error noted(Error error);

    registry::DeviceRef device_;
    registry::OwnerRef owner_;
    std::string reason_;
    std::string format_;
    plan::Count3 max_groups_;
    std::uint64_t max_buffer_bytes_;
    std::shared_ptr<ArtifactCache> disk_;
    std::string lines_;  // the device in keys of the disk cache; empty while that is off

    std::atomic<bool> lost_ = false;
    mutable std::mutex loss_mutex_;
    std::optional<Error> loss_;
    bool recovered_ = false;
    std::shared_mutex entering_;  // alone: a lost device is taken back

    std::mutex compile_mutex_;  // guards what follows, up to the next mutex
    std::condition_variable compiled_;
    std::shared_ptr<CompileJob> job_;   // that runs
    std::shared_ptr<CompileJob> late_;  // the last one that was overdue: its thread is to be joined
    std::multimap<std::array<std::uint8_t, 16>, std::weak_ptr<Prepared>> cache_;
    std::vector<PreparedRef> unkept_;

    std::timed_mutex queue_mutex_;  // guards everything below
    std::optional<registry::NativeBuffer> trap_buffer_;
    ScratchPool scratch_;
    std::vector<wye_operation> operations_;
    std::vector<wye_binding> bindings_;
    Repeats repeats_;
    alignas(8) std::uint32_t trap_record_[2] = {0, 0};
    std::optional<Abandoned> abandoned_;
    std::optional<registry::NativeQueue> queue_;  // destroyed first: it waits for what still runs
    bool queue_timing_ = false;
};

// Here for the short way of a dispatch.
inline std::optional<QueueLease> DeviceSession::try_lease() {
    std::unique_lock<std::timed_mutex> lock(queue_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || abandoned_ || lost()) return std::nullopt;
    return QueueLease(*this, std::move(lock));
}
inline Repeats& QueueLease::repeats() noexcept { return session_->repeats_; }

}  // namespace wye::exec
