// SPDX-License-Identifier: Apache-2.0
//
// DeviceSession: one opened device of a context, with its queues, compiled programs and idle
// workspaces.
//
// Work shares ownership of its native queue, and users share ownership of a compiled program.
// Free-threaded. Errors: those of the driver, TIMEOUT, and the two below. DEVICE_BUSY: work that
// timed out and could not be cancelled still runs (its buffers stay in use until its end); or a
// compile that timed out continues, and the call needs another compile. DEVICE_LOST: this call or
// an earlier call has met the loss of the device; the application then opens the device again, as a
// new session.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device/clock.hpp"
#include "exec/device/copiers.hpp"
#include "exec/device/counters.hpp"
#include "exec/device/grid_check.hpp"
#include "exec/device/host_memory.hpp"
#include "exec/device/line.hpp"
#include "exec/device/memory.hpp"
#include "exec/device/pending_list.hpp"
#include "exec/device/queue_pool.hpp"
#include "exec/device/recycler.hpp"
#include "exec/device/registered.hpp"
#include "exec/device/staging.hpp"
#include "exec/device/watcher.hpp"
#include "exec/device/workspace.hpp"
#include "exec/program/compiled_program.hpp"
#include "exec/trace/span.hpp"
#include "lower/target.hpp"
#include "plan/launch.hpp"
#include "registry/choose/catalogue.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "registry/open/process_state.hpp"
#include "route/route.hpp"
#include "wye/device.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct DiskCache;
struct CompileJob;
class LoadedProgram;
class DeviceSession;
using SessionRef = std::shared_ptr<DeviceSession>;

// The objects that must outlive work that still runs after its caller stopped waiting.
struct Abandoned {
    Ticket ticket;
    std::string what;  // "a dispatch of `name`"
    registry::InFlight uses;
    std::vector<CompiledRef> programs;
    WorkspaceLease workspace;
};

// Options for moving host bytes to a device and back.
struct TransferOptions {
    enum class Staging : std::uint8_t {
        Auto,  // on, unless host and device share their memory
        On,    // on, if the device supports staging memory
        Off
    };
    std::uint64_t threads;    // threads that copy at once
    std::uint64_t bytes = 0;  // maximum of a device's staging memory; 0: the default
    Staging staging = Staging::Auto;

    // The defaults on this machine.
    TransferOptions();
};

// How much the reports of a context say about devices.
enum class ReportDetails : std::uint8_t {
    All,
    Facts,  // facts, but not the operations that a device supports
    Brief,  // as Facts, but without the sources of facts and the reasons for missing ones
};

// The options of a session, which are the same for all sessions of a context.
struct SessionOptions {
    lower::QuirkChoice quirks;
    PendingLimits pending;
    // The maximum number of native queues of a device for work without a public queue.
    std::uint64_t queues = kMostQueues;
    TransferOptions transfer;
    std::uint64_t device_memory_limit = 0, context_memory_limit = 0;  // bytes; 0: none
    std::shared_ptr<ContextMemory> memory;
    std::shared_ptr<DiskCache> cache;
    std::shared_ptr<Trace> trace;  // null: off
    std::shared_ptr<Copiers> copiers;
    ReportDetails report_details = ReportDetails::All;
};

// Memory that may be freed, besides idle memory, for a caller that finds memory short.
struct MemoryAsker {
    Workspace* workspace = nullptr;  // free its scratch memory that is not taken; null: none
    bool settles = false;            // free memory of ended work; the caller holds no work's lock
};

class DeviceSession {
  public:
    [[nodiscard]] static Result<SessionRef> open(registry::Registry& registry,
                                                 const registry::Selection& selection,
                                                 std::uint64_t generation,
                                                 const SessionOptions& options);
    DeviceSession(registry::DeviceRef device, const registry::Selection& selection,
                  std::uint64_t generation, const SessionOptions& options);
    ~DeviceSession();

    [[nodiscard]] const registry::DeviceInfo& info() const noexcept { return device_->info(); }
    [[nodiscard]] const registry::DeviceRef& device() const noexcept { return device_; }
    [[nodiscard]] const registry::OwnerRef& owner() const noexcept { return owner_; }
    // Guards the process state during a submit: at the first launch of a kernel, some drivers
    // generate code and change signal handlers. `warm`: all kernels of the submit have run before,
    // so there is nothing to guard.
    [[nodiscard]] registry::ProcessStateGuard guard_launch(bool warm) const noexcept {
        return registry::ProcessStateGuard(!warm && !device_->built_in());
    }
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    // The devices, plugins and selector entries that were passed over when this device was chosen.
    [[nodiscard]] const std::vector<registry::PassedOver>& passed_over() const noexcept {
        return passed_over_;
    }
    // The artifact format of programs without a native variant.
    [[nodiscard]] const std::string& format() const noexcept { return format_; }
    [[nodiscard]] const route::Limits& limits() const noexcept { return limits_; }

    // Returns DEVICE_LOST, with the driver's first message, once a call has met the loss.
    [[nodiscard]] Result<void> alive() const;
    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    // Like `lost`, but also asks the driver.
    [[nodiscard]] bool ask_lost();
    // Does the set-up that the first dispatch would do.
    [[nodiscard]] Result<void> prepare();
    // DEVICE_BUSY while work of the device is in flight, waits in the line, or is being compiled.
    [[nodiscard]] Result<void> check_idle();
    // Recovers a lost device if its plugin can, so that it may be opened again. Afterwards this
    // session submits nothing, and makes no objects.
    [[nodiscard]] Result<void> recover();

    // Makes a buffer. DEVICE_MEMORY: the buffer would exceed a limit, or the driver has no memory
    // for it.
    [[nodiscard]] Result<HeldBuffer> buffer(std::uint64_t size, std::uint32_t alignment,
                                            std::string_view label, std::uint32_t usage);
    // Makes a buffer of the application's memory. UNSUPPORTED: the plugin does not adopt memory.
    [[nodiscard]] Result<HeldBuffer> adopt(const wye_native_handle& memory, std::uint64_t size,
                                           std::uint32_t alignment, std::string_view label);
    // Waits until submitted work that uses the buffer has ended, whether it succeeded or failed.
    void await_use(BufferHistory& history);

    // Succeeds unless the device is lost (DEVICE_LOST) or abandoned work may still run
    // (DEVICE_BUSY).
    [[nodiscard]] Result<void> ready() {
        if (is_ready()) return {};
        return settle();
    }
    // The fast check of `ready`. False: `ready` may fail; or work is in the line, and a repeated
    // request may have to come after that work.
    [[nodiscard]] bool is_ready() const noexcept {
        return !lost() && special_.load(std::memory_order_acquire) == 0;
    }
    // Waits until the public queue with number `queue` is idle or, for 0, until one of the queues
    // for work without a public queue is idle. TIMEOUT at the deadline.
    [[nodiscard]] Result<void> await_idle(Clock::time_point deadline, std::uint32_t queue);
    // Waits until no work in the line must come before a submit with these uses. TIMEOUT at the
    // deadline.
    [[nodiscard]] Result<void> await_place(std::span<const BufferUse> uses, std::uint32_t queue,
                                           Clock::time_point deadline);
    [[nodiscard]] WorkspaceLease workspace() { return workspaces_.take(); }
    // Returns device memory for a host argument, valid until the workspace is given back. Errors as
    // for `buffer`.
    [[nodiscard]] Result<wye_buffer_object*> scratch(Workspace& workspace, std::uint64_t size,
                                                     std::uint32_t alignment);
    [[nodiscard]] Result<wye_buffer_object*> trap_buffer(Workspace& workspace);

    // Submits all operations or none. `uses`: the resident buffers of the operations, which are
    // marked in flight. The time since `start` counts as enqueueing.
    [[nodiscard]] Result<Ticket> submit(std::span<const wye_operation> operations,
                                        std::span<const BufferUse> uses, SubmitOptions options,
                                        Clock::time_point start, RunTimes& times);
    // Waits in the driver for the work of a ticket.
    [[nodiscard]] Result<void> wait(const Ticket& ticket, std::uint64_t timeout_ns = UINT64_MAX) {
        counters_.waited();
        if (trace_ != nullptr) [[unlikely]]
            return wait_traced(ticket, timeout_ns);
        return ticket.queue->wait(ticket.value, timeout_ns);
    }
    // Waits and stores the times. `timeout_ns` 0: no limit. After TIMEOUT `runs` tells whether the
    // work is still running. If so, the caller must abandon the work, and not touch its memory.
    [[nodiscard]] Result<void> wait(const Ticket& ticket, std::uint64_t timeout_ns, bool timed,
                                    RunTimes& times, bool& runs);
    // Waits without a time limit and stores the times.
    [[nodiscard]] Result<void> wait_end(const Ticket& ticket, bool timed, RunTimes& times);
    // Stores the times of work that has ended; `waited` is the result of waiting or polling, which
    // this function returns.
    [[nodiscard]] Result<void> ended(Result<void> waited, const Ticket& ticket, bool timed,
                                     RunTimes& times) {
        times.waited();
        queues_.ended(ticket);
        if (waited.ok() && !timed && trace_ == nullptr) [[likely]]
            return {};
        return ended_slowly(std::move(waited), ticket, timed, times);
    }
    // Whether the last wait of a fast path was short, so that the next execution probably ends
    // within its submit. Most work of the CPU plugin does; work of a GPU never ends that soon.
    [[nodiscard]] bool ends_at_once() const noexcept {
        return ends_at_once_.load(std::memory_order_relaxed);
    }
    void ended_after(std::uint64_t wait_ns) noexcept {
        constexpr std::uint64_t kAtOnceNs = 300;
        ends_at_once_.store(wait_ns < kAtOnceNs, std::memory_order_relaxed);
    }
    // Submits and waits without limit. Does nothing without operations.
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations,
                                   std::span<const BufferUse> uses, SubmitOptions options,
                                   Clock::time_point start, RunTimes& times);
    [[nodiscard]] Result<void> run(std::span<const wye_operation> operations,
                                   std::span<const BufferUse> uses);
    // Keeps the objects of work that still runs, until the work has ended.
    void abandon(Abandoned work);
    // Like `abandon` above, for a list with one element. Allocates nothing.
    void abandon(std::list<Abandoned>& work) noexcept;
    // If the error is a device loss, records it. Returns the error.
    Error noted(Error error);
    // Like `noted`, for the failure of a fast path. Returns success for DEVICE_BUSY: the caller
    // then takes the general path, which waits for room on the device.
    [[nodiscard, gnu::cold]] Result<void> noted_plain(Result<void> failed) {
        if (failed.error().code == Code::DEVICE_BUSY) return {};
        return noted(std::move(failed).error());
    }
    [[nodiscard]] QueuePool& queues() noexcept { return queues_; }
    // Takes a public queue, for PublicQueue. Errors as in QueuePool::take_public.
    [[nodiscard]] Result<QueueGrant> take_queue(const QueueRequest& request);
    // The native queue of a public queue.
    [[nodiscard]] std::shared_ptr<const registry::NativeQueue> native_queue(std::uint32_t queue) {
        return queues_.native_of(queue);
    }
    // Makes later work of a public queue wait for an event of the driver's API.
    [[nodiscard]] Result<void> wait_native(std::uint32_t queue, const wye_native_handle& event);
    // Waits until the work of a ticket has ended, in success or failure. Does nothing for an empty
    // ticket.
    void await_end(const Ticket& ticket);
    // Waits until all work that was submitted to a public queue so far has ended.
    [[nodiscard]] Result<void> flush(std::uint32_t queue);

    // Waits until nothing runs, including abandoned work and overdue compiles.
    [[nodiscard]] Result<void> flush();
    // Like `flush`, but reports no loss: waits whether or not the device was lost.
    void settle_all();
    // Like `flush`, but also waits until all completion callbacks have run. If memory runs out,
    // tries again.
    void finish() noexcept;
    // The work in flight, which the session outlives.
    [[nodiscard]] PendingList& pending() noexcept { return pending_; }
    // Memory for the objects of dispatches and transfers in flight.
    [[nodiscard]] Recycler& recycler() noexcept { return recycler_; }
    [[nodiscard]] Watcher& watcher() noexcept { return watcher_; }    // of time limits
    [[nodiscard]] Watcher& notifier() noexcept { return notifier_; }  // runs callbacks
    // The line: work that is submitted after its call has returned.
    [[nodiscard]] Line& line() noexcept { return line_; }
    // Puts work in the line, with its place in the order of submits.
    void put_in_line(Hold& hold, std::list<WorkRef>& work) noexcept;
    // Takes work out of the line. `in_line`: the work's flag, which is cleared.
    void leave_line(Hold& hold, std::atomic<bool>& in_line) noexcept;
    [[nodiscard]] bool has_line() const noexcept {
        return (special_.load(std::memory_order_acquire) & kHasLine) != 0;
    }
    // Waits for the end of the overdue compile (see `overdue`), if there is one.
    void await_overdue();
    [[nodiscard]] HostMemory& host_memory() noexcept { return host_memory_; }
    [[nodiscard]] Copiers& copiers() noexcept { return *copiers_; }
    // Takes a block of staging memory. Empty: no staging memory is left.
    [[nodiscard]] StagingBlock stage(std::uint64_t size);
    // Whether a transfer of this size should go through staging memory.
    [[nodiscard]] bool stages(std::uint64_t bytes) const {
        return bytes >= kLeastStaged && staging_.on();
    }
    // The registered memory of the application.
    [[nodiscard]] RegisteredRanges& registered() noexcept { return registered_; }
    [[nodiscard]] const RegisteredRanges& registered() const noexcept { return registered_; }
    // Registers the memory with the driver.
    [[nodiscard]] Result<void> give(RegisteredMemory& memory);
    // Whether a compile is overdue: its call has stopped waiting for it, but the compile continues.
    [[nodiscard]] bool overdue();
    // Releases the resources of work that has ended.
    void collect();

    // Finds or makes the compiled form of a program, in the format of its route. If this call makes
    // the form, adds to `stats`. The caller writes the unwritten entries to the disk cache (`save`)
    // when that does not delay the dispatch. `warms`: makes drivers that generate code at
    // the first launch do that now. TIMEOUT at the deadline: the compile continues, and its result
    // is kept. Until that compile has ended, calls that need another compile return DEVICE_BUSY.
    [[nodiscard]] Result<CompiledRef> compiled(LoadedProgram& program, const Form& form,
                                               std::string_view format, CompileStats& stats,
                                               std::optional<Clock::time_point> deadline = {},
                                               bool warms = false);
    // Returns the check of grids in buffers, and compiles its program if needed. If `compiles` is
    // false, returns an empty check instead of compiling. Errors as in `compiled`.
    [[nodiscard]] Result<GridCheck> grid_check(bool compiles,
                                               std::optional<Clock::time_point> deadline);
    // Writes the unwritten entries of `stats` to the disk cache.
    void save(CompileStats& stats) noexcept;

    // ---- Memory ----

    // The device memory that the session holds.
    [[nodiscard]] const MemoryAccount& memory() const noexcept { return account_; }
    [[nodiscard]] wye_memory_use memory_use();
    void limit_memory(std::uint64_t bytes) noexcept { memory_->limit(account_, bytes); }
    // Frees all memory that is kept for reuse and not in use. Returns its bytes.
    std::uint64_t trim();
    // Frees the idle scratch memory of the device, for another device of the context.
    void free_idle_scratch() noexcept;

    [[nodiscard]] Counters& counters() noexcept { return counters_; }
    [[nodiscard]] Trace* trace() const noexcept { return trace_.get(); }  // null: off
    // Adds all counters of the session.
    void count(wye_counters& out) const;

  private:
    // Looks a compiled form up; used by `compiled`.
    [[nodiscard]] CompiledRef find(LoadedProgram& program, const Form& form)
        WYE_REQUIRES(compile_mutex_);
    // Waits until the job is done; false at the deadline.
    [[nodiscard]] bool await(sdk::WaitingLock& lock,
                             const std::optional<Clock::time_point>& deadline,
                             const CompileJob& job) WYE_REQUIRES(compile_mutex_);
    [[nodiscard]] bool compiles_here() const;  // whether compiles run on the caller's thread
    void compile(CompileJob& job) noexcept;
    [[nodiscard]] Result<CompiledRef> compile_now(CompileJob& job);
    void make_code(const LoadedProgram& program, CompiledProgram& compiled, CompileStats& stats);
    // The slow part of `ready`. Releases abandoned work that has ended.
    [[nodiscard]] Result<void> settle();
    // Releases the abandoned work of a ticket.
    void let_go(const Ticket& ticket);
    // Called with the error of work that has ended, by the thread that waited for the work. Records
    // a device loss. Drops the native queue of the work, which may be broken, unless other work
    // uses that queue. Returns the error.
    Error failed(const Ticket& ticket, Error error);

    // Calls `make`. If memory is short, frees idle memory, and calls `make` once more.
    template <typename Make>
    [[nodiscard]] auto try_twice(Make&& make, const MemoryAsker& asker = {}) -> decltype(make()) {
        {
            auto made = make();
            if (made.ok() || !is_short_of_memory(made.error().code)) return made;
        }
        (void)free_idle(asker);
        return make();
    }
    [[nodiscard]] static bool is_short_of_memory(Code code) noexcept {
        return code == Code::DEVICE_MEMORY || code == Code::OUT_OF_MEMORY;
    }
    // These functions free memory that is not in use: all of it, or scratch memory only. They
    // return the bytes freed.
    std::uint64_t free_idle(const MemoryAsker& asker) noexcept;
    std::uint64_t free_idle_scratch(const MemoryAsker& asker) noexcept;
    // Reserves memory. If that would exceed a limit, first frees idle scratch memory.
    [[nodiscard]] Result<MemoryHold> reserve(MemoryUse use, std::uint64_t bytes,
                                             std::string_view label, const MemoryAsker& asker);
    [[nodiscard]] Result<HeldBuffer> make_buffer(MemoryUse use, std::uint64_t size,
                                                 std::uint32_t alignment, std::string_view label,
                                                 std::uint32_t usage, const MemoryAsker& asker);

    [[nodiscard]] Result<void> wait_traced(const Ticket& ticket, std::uint64_t timeout_ns);
    // The rest of `ended`: traces, handles a failure, and reads the device's times.
    [[nodiscard]] Result<void> ended_slowly(Result<void> waited, const Ticket& ticket, bool timed,
                                            RunTimes& times);
    // Traces that the host saw the end of a submit.
    void trace_end(const Ticket& ticket, bool ok);

    registry::DeviceRef device_;
    registry::OwnerRef owner_;
    std::string reason_;
    std::vector<registry::PassedOver> passed_over_;
    std::string format_;
    route::Limits limits_;
    std::shared_ptr<DiskCache> disk_;
    const lower::TargetFacts facts_;
    std::string lines_;  // the device's lines in disk cache keys; empty if the disk cache is off

    std::atomic<bool> lost_ = false;
    mutable sdk::Mutex loss_mutex_;
    std::optional<Error> loss_ WYE_GUARDED_BY(loss_mutex_);
    sdk::Mutex recovering_;  // locked before all other locks
    bool recovered_ WYE_GUARDED_BY(recovering_) = false;

    // Also guards `done` and `overdue` of the jobs.
    sdk::WaitMutex compile_mutex_;
    std::condition_variable compile_ended_;
    // The running compile, and the last overdue compile, whose thread must be joined.
    std::shared_ptr<CompileJob> job_ WYE_GUARDED_BY(compile_mutex_);
    std::shared_ptr<CompileJob> late_ WYE_GUARDED_BY(compile_mutex_);
    std::multimap<std::array<std::uint8_t, 16>, std::weak_ptr<CompiledProgram>> by_fingerprint_
        WYE_GUARDED_BY(compile_mutex_);
    std::vector<CompiledRef> unsaved_ WYE_GUARDED_BY(compile_mutex_);

    sdk::Mutex grid_check_mutex_;
    std::shared_ptr<LoadedProgram> grid_check_ WYE_GUARDED_BY(grid_check_mutex_);  // null: not used

    Counters counters_;
    const std::shared_ptr<Trace> trace_;
    const std::uint32_t trace_device_;  // the device's number in the trace
    // Smaller transfers do not go through staging memory: the plugin's own copy is as fast.
    static constexpr std::uint64_t kLeastStaged = std::uint64_t{128} << 10U;

    const std::shared_ptr<ContextMemory> memory_;
    MemoryAccount account_;
    std::atomic<std::uint64_t> trims_ = 0;
    WorkspacePool workspaces_;
    HostMemory host_memory_;
    StagingMemory staging_;
    RegisteredRanges registered_;
    std::shared_ptr<Copiers> copiers_;
    Recycler recycler_;
    PendingList pending_;
    Watcher watcher_{"wye-watch"}, notifier_{"wye-notify"};

    sdk::Mutex abandoned_mutex_;
    std::list<Abandoned> abandoned_ WYE_GUARDED_BY(abandoned_mutex_);
    static constexpr std::uint32_t kHasAbandoned = 1, kHasLine = 2;
    void set_special(std::uint32_t bit, bool on) noexcept {
        if (on)
            special_.fetch_or(bit, std::memory_order_release);
        else
            special_.fetch_and(~bit, std::memory_order_release);
    }
    std::atomic<std::uint32_t> special_ = 0;
    std::atomic<bool> ends_at_once_ = false;
    // Destroying the pool waits for work that still runs, so the pool is destroyed after the line
    // and before all other members.
    QueuePool queues_;
    Line line_;
};

}  // namespace wye::exec
