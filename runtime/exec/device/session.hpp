// SPDX-License-Identifier: Apache-2.0
//
// DeviceSession: one opened device of a context, with its queue, its compiled programs and its
// scratch buffers. The queue is used through a QueueLease (exec/device/queue_lease.hpp).
//
// Owns the native queue, scratch and trap words; compiled programs are shared with their users.
// Free-threaded. Errors: what the driver says; TIMEOUT; DEVICE_BUSY while work that timed out and
// could not be cancelled still runs (its buffers stay pinned until it has ended), and for programs
// that are not compiled yet while a compile that timed out goes on; DEVICE_LOST for ever after a
// call that met it: the application then opens the device again, as another session.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device/clock.hpp"
#include "exec/device/scratch.hpp"
#include "exec/dispatch/repeat.hpp"
#include "exec/program/compiled_program.hpp"
#include "lower/target.hpp"
#include "plan/launch.hpp"
#include "registry/catalogue.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "route/route.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct DiskCache;
struct CompileJob;
class LoadedProgram;
class DeviceSession;
class QueueLease;
using SessionRef = std::shared_ptr<DeviceSession>;

// What must outlive work that still runs after its caller gave up.
struct Abandoned {
    std::uint64_t value = 0;  // of its event
    std::string what;         // "a dispatch of `name`"
    registry::InFlight uses;
    std::vector<CompiledRef> programs;
};

class DeviceSession {
  public:
    [[nodiscard]] static Result<SessionRef> open(registry::Registry& registry,
                                                 const registry::Selection& selection,
                                                 std::uint64_t generation,
                                                 const lower::QuirkChoice& quirks,
                                                 std::shared_ptr<DiskCache> cache);
    DeviceSession(registry::DeviceRef device, std::string reason, std::uint64_t generation,
                  const lower::QuirkChoice& quirks, std::shared_ptr<DiskCache> cache);
    ~DeviceSession();

    [[nodiscard]] const registry::DeviceInfo& info() const noexcept { return device_->info(); }
    [[nodiscard]] const registry::DeviceRef& device() const noexcept { return device_; }
    [[nodiscard]] const registry::OwnerRef& owner() const noexcept { return owner_; }
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    // The artifact format of programs without a native variant.
    [[nodiscard]] const std::string& format() const noexcept { return format_; }
    [[nodiscard]] const route::Limits& limits() const noexcept { return limits_; }

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
    // None when the queue is taken, the device lost, or abandoned work may still run.
    [[nodiscard]] std::optional<QueueLease> try_lease();
    // Waits until nothing runs, abandoned work and overdue compiles included.
    [[nodiscard]] Result<void> flush();
    // A compile goes on that nobody waits for.
    [[nodiscard]] bool overdue();
    // Lets go of abandoned work that has ended. False: it still runs, or the queue is taken.
    bool try_drain();

    // The compiled form of a program, in the format of its route. `stats` grow when this call made
    // it; the caller then saves its unwritten entries, when that delays nobody. `warms`: drivers
    // that generate code at the first launch do it now. TIMEOUT at the deadline: the compile goes
    // on, and its result is remembered; at most one such compile at a time, else DEVICE_BUSY.
    [[nodiscard]] Result<CompiledRef> compiled(LoadedProgram& program, const Form& form,
                                               std::string_view format, CompileStats& stats,
                                               std::optional<Clock::time_point> deadline = {},
                                               bool warms = false);
    // Writes the unwritten entries of `stats` to the disk cache.
    void save(CompileStats& stats) noexcept;

    // Scratch buffers made since the device was opened; a steady stream of dispatches makes none.
    [[nodiscard]] std::uint64_t scratch_created();

  private:
    friend class QueueLease;
    [[nodiscard]] Result<void> make_queue() WYE_REQUIRES(queue_mutex_);
    [[nodiscard]] Result<void> ensure_queue() WYE_REQUIRES(queue_mutex_) {
        if (queue_) return {};
        return make_queue();
    }
    // The lookup of `compiled`.
    [[nodiscard]] CompiledRef find(LoadedProgram& program, const Form& form)
        WYE_REQUIRES(compile_mutex_);
    // Until the job is done; false at the deadline.
    [[nodiscard]] bool await(sdk::WaitingLock& lock,
                             const std::optional<Clock::time_point>& deadline,
                             const CompileJob& job) WYE_REQUIRES(compile_mutex_);
    void await_overdue();
    void compile(CompileJob& job) noexcept;
    [[nodiscard]] Result<CompiledRef> compile_now(CompileJob& job);
    void make_code(const LoadedProgram& program, CompiledProgram& compiled, CompileStats& stats);
    // Abandoned work has ended, or DEVICE_BUSY.
    [[nodiscard]] Result<void> settle() WYE_REQUIRES(queue_mutex_);
    // Of abandoned work.
    void let_go() noexcept WYE_REQUIRES(queue_mutex_);
    // Of what nobody uses now. False: nothing was freed, or the queue is taken.
    bool drop_free_scratch();
    // Remembers a loss; the error again.
    Error noted(Error error);

    registry::DeviceRef device_;
    registry::OwnerRef owner_;
    std::string reason_;
    std::string format_;
    route::Limits limits_;
    std::shared_ptr<DiskCache> disk_;
    const lower::TargetFacts facts_;
    std::string lines_;  // the device in keys of the disk cache; empty while that is off

    std::atomic<bool> lost_ = false;
    mutable sdk::Mutex loss_mutex_;
    std::optional<Error> loss_ WYE_GUARDED_BY(loss_mutex_);
    sdk::SharedMutex entering_;  // alone: a lost device is taken back
    bool recovered_ WYE_GUARDED_BY(entering_) = false;

    // Also guards `done` and `overdue` of the jobs.
    sdk::Mutex compile_mutex_;
    std::condition_variable compile_ended_;
    // The one that runs, and the last overdue one: its thread is to be joined.
    std::shared_ptr<CompileJob> job_ WYE_GUARDED_BY(compile_mutex_);
    std::shared_ptr<CompileJob> late_ WYE_GUARDED_BY(compile_mutex_);
    std::multimap<std::array<std::uint8_t, 16>, std::weak_ptr<CompiledProgram>> by_fingerprint_
        WYE_GUARDED_BY(compile_mutex_);
    std::vector<CompiledRef> unsaved_ WYE_GUARDED_BY(compile_mutex_);

    sdk::TimedMutex queue_mutex_;
    std::optional<registry::NativeBuffer> trap_buffer_ WYE_GUARDED_BY(queue_mutex_);
    ScratchPool scratch_ WYE_GUARDED_BY(queue_mutex_);
    std::vector<wye_operation> operations_ WYE_GUARDED_BY(queue_mutex_);
    std::vector<wye_binding> bindings_ WYE_GUARDED_BY(queue_mutex_);
    Repeats repeats_ WYE_GUARDED_BY(queue_mutex_);
    alignas(8) std::uint32_t trap_words_[2] WYE_GUARDED_BY(queue_mutex_) = {0, 0};
    std::optional<Abandoned> abandoned_ WYE_GUARDED_BY(queue_mutex_);
    // Destroyed first: it waits for work that still runs.
    std::optional<registry::NativeQueue> queue_ WYE_GUARDED_BY(queue_mutex_);
};

}  // namespace wye::exec
