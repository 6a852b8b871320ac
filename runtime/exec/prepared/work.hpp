// SPDX-License-Identifier: Apache-2.0
//
// PreparedWork: dispatches and transfers on buffers of one device, checked, compiled and bound
// once, and executed many times, each time as one submit. A graph has the steps that its caller
// recorded, a batch collects dispatches in one, and a repeated request is one of a single dispatch.
//
// The plugin keeps the work as commands. A command holds the launches, copies and fills between two
// transfers of host bytes, as a native object of the driver; the transfers are submitted between
// commands. The operations are submitted instead if the plugin has no commands, or while it allows
// no further execution of them.
//
// Executions write parameters and trap words, so work has instances, each with such memory and
// commands of its own. A submit holds one; it stays in use until the execution has ended if the
// plugin allows one pending execution of its commands, or if the execution has its trap words. More
// instances are made when none is idle, up to kMostInstances.
//
// Work does not keep its buffers alive: an execution checks that they are still live if any buffer
// was freed since the last check. While an execution uses buffers, their histories keep them from
// being freed, and order executions. It keeps its programs alive, unless it is a kept request.
//
// Made by one thread until `finish`; afterwards guarded by the mutex of the session's queues,
// except an instance that a submit holds. The session outlives it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/prepared/kept_request.hpp"
#include "exec/prepared/param_rules.hpp"
#include "exec/prepared/places.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/graph.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class PreparedWork;
// Keeps the work. Copies and destroys it without the mutex of the queues.
using PreparedRef = WorkPtr<PreparedWork>;

class PreparedWork {
    struct Instance;

  public:
    static constexpr std::size_t kMostInstances = 16;

    enum class Use : std::uint8_t {
        Often,  // a graph
        Once,   // a batch's list: it has no commands, and parameters cannot be changed
        Kept,   // a repeated request: one instance, whose command is made at the first repetition
    };
    // Makes empty work. `add` and `finish` follow, or `keep`, or with Use::Once also `repeat`.
    [[nodiscard]] static Result<PreparedRef> begin(DeviceSession& session, const Routed& routed,
                                                   std::string_view label, Use use);
    PreparedWork(DeviceSession& session, const Routed& routed, std::string_view label, Use use)
        : session_(session),
          routed_(routed),
          label_(label),
          use_(use),
          bindings_(first_bytes(use)),
          kept_(first_bytes(use)) {}
    ~PreparedWork();
    PreparedWork(const PreparedWork&) = delete;
    PreparedWork& operator=(const PreparedWork&) = delete;

    // For PreparedRef. A new object has one reference, to be adopted.
    void refer() noexcept;
    void dereference() noexcept;
    // The same for callers that hold the mutex. True: it was the last one, so `delete` follows,
    // without the mutex.
    void refer_held() noexcept { ++references_; }
    [[nodiscard]] bool dereference_held() noexcept { return --references_ == 0; }
    [[nodiscard]] bool is_shared() const noexcept { return references_ != 1; }

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    // Of the graph; the name of a program otherwise.
    [[nodiscard]] const std::string& label() const noexcept { return label_; }
    [[nodiscard]] Use use() const noexcept { return use_; }

    // ---- Making ----

    // Makes room for the steps to come; more may follow.
    void reserve(std::uint64_t steps);
    // Adds a step. Errors are those of dispatches and transfers; UNSUPPORTED for host arguments and
    // time limits, INVALID_ARGUMENT for a queue and for flags that belong to an execution. A
    // refused step leaves the work unchanged.
    [[nodiscard]] Result<void> add(Context& context, const wye_dispatch_desc& desc);
    [[nodiscard]] Result<void> add(Context& context, Target target);
    [[nodiscard]] Result<void> add(const Context& context, const wye_transfer_desc& desc);
    // Adds a dispatch like the one that was added last, with copies of its operations. It may have
    // other buffers of the same sizes and, with Use::Once, other parameters if these may have any
    // values. False: nothing was added, and the dispatch must take all steps. The caller has
    // compared all but arguments and parameters, of which there are as many as before.
    [[nodiscard]] bool repeat(const registry::HandleTable& handles, const wye_argument* arguments,
                              const std::uint64_t* params);
    // Adds the dispatch that was added last again, `count` times. Nothing else was added after it,
    // and the work was not restarted since.
    void add_again(std::uint64_t count);
    [[nodiscard]] Result<void> finish();
    // With Use::Once, after the submit of the execution: begins empty work in the same memory, in
    // which `repeat` adds dispatches like the last one of before.
    void restart();
    // With Use::Kept: becomes a launch that was submitted. Nothing else refers to this work.
    void keep(const Flow& flow, const Operations& operations);
    // Called after the first successful execution with Use::Once: the kernels have run, so that no
    // later launch of them needs a ProcessStateGuard.
    void set_warm() {
        for (const CompiledRef& one : compiled_) one->warm.store(true, std::memory_order_relaxed);
    }

    // ---- Executing, after `finish` or `keep` ----

    // Whether executions have nothing to do and need not be submitted.
    [[nodiscard]] bool is_empty() const noexcept { return operation_count_ == 0; }

    // An execution's own memory of trap words, until it has ended. Used by one thread at a time.
    class Execution {
      public:
        Execution() = default;
        Execution(const Execution&) = delete;
        Execution& operator=(const Execution&) = delete;
        ~Execution() { release(); }
        void release() noexcept {
            if (words_ != nullptr) [[unlikely]]
                give_back();
        }

      private:
        friend class PreparedWork;
        void give_back() noexcept;
        const std::uint32_t* words_ = nullptr;  // that were read back; null: it cannot trap
        Instance* instance_ = nullptr;          // that has them; null: the workspace has
        DeviceSession* session_ = nullptr;      // of the instance
        WorkspaceLease workspace_;
    };
    // Outputs of `submit`; those members of the report that are known before the end, with an empty
    // header.
    struct Submitted {
        Execution& execution;
        Ticket& ticket;
        RunTimes& times;
        wye_report& report;
    };
    // Submits one execution. STALE_HANDLE for a buffer that was freed; INVALID_ARGUMENT for a wrong
    // number of parameters; UNSUPPORTED for changed parameters that decide sizes, the form of a
    // kernel or whether a launch is deterministic. False, and nothing was submitted: a graph has
    // been rebound to other work; or a kept request would give one of these errors, and must take
    // all steps.
    [[nodiscard]] Result<bool> submit(const registry::HandleTable& handles,
                                      const wye_graph_run_desc& run, Clock::time_point start,
                                      const Submitted& out);
    // Like `submit`, but also waits for the end. `report` may be null; then `start` is read only if
    // the context reads times. The members of the report, except its header, are written on success
    // and for TRAPPED. `request`: the kept request; null: none.
    [[nodiscard]] Result<bool> run(const Context& context, const wye_graph_run_desc& run,
                                   const wye_dispatch_desc* request, Clock::time_point start,
                                   wye_report* report);

    // The fast path of a submit, in three steps like those of QueuePool. It waits for no other
    // queue, and has no device times and no trace. `params` may be null only if there are none.
    struct Quick {
        PreparedWork* work = nullptr;  // null: the ordinary path must be taken
        Instance* instance = nullptr;
        registry::NativeQueue* native = nullptr;
        std::uint32_t index = 0;   // of the queue in the pool
        std::uint32_t number = 0;  // of the public queue; 0: none
        std::uint64_t value = 0;

        [[nodiscard, gnu::always_inline]] bool send(Result<void>& failed) const {
            return native->send_plain(instance->execute, failed);
        }
        void end(QueuePool& queues) const WYE_REQUIRES(queues.mutex) {
            instance->sending = false;
            queues.end_in_line(index, number, value);
        }
        // Called instead of `end` if the submit failed.
        [[gnu::cold]] void fail(QueuePool& queues) const WYE_REQUIRES(queues.mutex);
    };
    [[nodiscard, gnu::always_inline]] Quick begin_quick(QueuePool& queues,
                                                        const std::uint64_t* params,
                                                        std::uint64_t param_count,
                                                        std::uint32_t number)
        WYE_REQUIRES(queues.mutex) {
        if (quick_frees_ != queues.frees()) [[unlikely]]
            return {};
        Instance& one = *instances_.front();
        if (one.sending || !one.may_run(queues)) return {};
        const std::uint32_t index = queues.next_in_line(uses_, number);
        if (index == QueuePool::kNoQueue) return {};
        if (one.version != version_ || params != nullptr) [[unlikely]]
            if (!try_params(params, param_count, one)) return {};
        const std::uint64_t value = queues.begin_in_line(index, uses_);
        one.sending = true;
        note_newest(one, index, value);
        return {this, &one, queues.native(index).get(), index, number, value};
    }
    // The fast path of `run`, of work with this use. `source.begin`, called with the mutex, returns
    // what begin_quick returned. `report` has a valid header, or is null, and `start` is then not
    // read. False: `failed` has the error, or the ordinary path must be taken.
    template <Use use, typename Source>
    [[nodiscard, gnu::always_inline]] static bool try_run(DeviceSession& session,
                                                          const Source& source,
                                                          const Instant& start, wye_report* report,
                                                          Result<void>& failed);

    // The members of the report that are known before the end; constant while there are references,
    // but not with Use::Once.
    [[nodiscard]] const wye_report& report() const noexcept { return report_; }
    // Called when an execution has ended. Returns TRAPPED if it trapped, with code and count in the
    // report.
    [[nodiscard]] Result<void> check_traps(const Execution& execution, wye_report& report) const {
        if (execution.words_ == nullptr) [[likely]]
            return {};
        return read_traps(execution, report);
    }
    // Waits until no work in the session's line must come before an execution. At the deadline
    // TIMEOUT; DEVICE_BUSY with WYE_DISPATCH_AT_ONCE.
    [[nodiscard]] Result<void> await_place(const registry::HandleTable& handles,
                                           const wye_graph_run_desc& run,
                                           Clock::time_point deadline);
    // With Use::Kept: whether the operations are the same with these parameters, whose values may
    // still be refused.
    [[nodiscard]] bool allows(const std::uint64_t* params) const {
        const ParamRules& rules = parts_.front().rules;
        const std::span words(params, words_.size());
        return rules.allow_all() || std::ranges::equal(words, words_) || rules.allow(words);
    }
    // With Use::Kept: whether it must stay as it is, since a submit holds it, or the plugin may be
    // executing its command.
    [[nodiscard]] bool is_busy(const QueuePool& queues) const WYE_REQUIRES(queues.mutex);

  private:
    friend class Graph;  // which records it again

    // One dispatch.
    struct Part {
        const registry::Pin* program = nullptr;  // of the program or the pipeline, in `programs_`
        std::size_t first_word = 0, word_count = 0;  // range of its parameters in `words_`
        std::size_t block = 0;  // byte offset of its packed parameters in `block_`
        bool late = false;      // its parameters may change between executions
        ParamRules rules;
    };

    // The dispatch that was added last, for `repeat`.
    struct Model {
        static constexpr std::uint32_t kNone = UINT32_MAX;
        struct Argument {
            wye_argument as;
            std::uint64_t size;  // of the whole buffer
            bool writes;
        };
        struct Step {
            wye_operation operation;
            std::uint32_t argument;  // the argument whose buffer a fill writes; kNone: no fill
        };
        KeptRequest request;
        std::vector<Argument> arguments;
        bool distinct;  // each argument has a buffer of its own
        std::vector<wye_binding> bindings;
        std::vector<std::uint32_t> argument_of;  // each binding's argument
        std::vector<Step> steps;                 // its operations, but not that which clears traps
        std::vector<std::uint64_t> params;
        ParamRules rules;
        std::uint64_t bytes_filled;

        // Empties it; the memory of the lists stays.
        void clear() {
            request = {};
            arguments.clear();
            argument_of.clear();
            steps.clear();
        }
    };
    void set_model(const wye_dispatch_desc& request, const Flow& flow, const ParamRules& rules,
                   std::size_t first);
    // Replaces the model's buffers. False: it cannot, and nothing changed.
    [[nodiscard]] bool replace_buffers(const registry::HandleTable& handles,
                                       std::span<const wye_argument> arguments);
    // Adds the buffers that the work does not have yet. False: one is not live, or differs in size
    // from the model's, and nothing was added.
    [[nodiscard]] bool add_buffers(const registry::HandleTable& handles,
                                   std::span<const wye_argument> arguments);
    // Returns parameters of the model's program packed for its kernel; null: a value is refused.
    [[nodiscard]] const void* pack(std::span<const std::uint64_t> words);
    void replace_params(std::span<const std::uint64_t> words, const void* packed);
    // Adds the dispatch that the model describes.
    void add_model();

    [[nodiscard]] Result<void> check(const Flow& flow) const;
    struct Native {
        static constexpr std::uint64_t kUnknown = UINT64_MAX;
        wye_buffer_object* object;
        std::uint64_t size;  // of the whole buffer; kUnknown: the object is unknown, too
    };
    void add_use(registry::Handle buffer, BufferUse use, Native native);
    void add_use(const registry::Pin& pin, bool writes) {
        auto& buffer = pin.as<BufferObject>();
        add_use(pin.handle(), {&buffer.history, writes}, {buffer.native.object(), buffer.size});
    }
    // Adds the operations of a launch that were written, but not its read-backs.
    Part& add_launch(const Flow& flow, const Operations& operations);
    // A copy of a parameter block that does not change.
    [[nodiscard]] const void* keep_params(std::span<const std::byte> block);
    // Whether it clears the trap words; until `finish`.
    [[nodiscard]] bool clears_traps(const wye_operation& operation) const;
    // Whether all commands of the first instance are native objects of the driver.
    [[nodiscard]] Result<bool> is_native() const;

    struct Instance {
        std::vector<wye_operation> operations;  // of an execution without commands
        std::vector<registry::NativeCommand> commands;
        // What executes the commands, and transfers; with trap words it ends with their read-back.
        std::vector<wye_operation> own;
        std::span<const wye_operation> execute;  // `own` or `operations`
        bool asked = false;                      // the plugin was asked for commands
        bool limited = false;          // it allows one pending execution of a command at a time
        bool sending = false;          // a submit holds it: the mutex is not held meanwhile
        bool words_taken = false;      // an execution in flight uses its trap words
        std::uint32_t last_queue = 0;  // queue and value of the newest execution of `execute`
        std::uint64_t last_value = 0;
        std::vector<std::uint64_t> block;        // parameters that may change, as `block_`
        std::uint64_t version = 0;               // of these
        WorkspaceLease workspace;                // for trap words
        std::vector<wye_binding> grid_bindings;  // of the checks of grids

        // Whether the plugin allows another execution of the commands, as far as is known without
        // asking the driver.
        [[nodiscard]] bool may_run(const QueuePool& queues) const {
            return !limited || !queues.is_pending(last_queue, last_value);
        }
        [[nodiscard]] bool is_idle(const QueuePool& queues) const {
            return !sending && !words_taken && may_run(queues);
        }
    };
    // Makes an instance of these operations, without the current parameters. The mutex need not be
    // held.
    [[nodiscard]] Result<std::unique_ptr<Instance>> make_instance(
        std::vector<wye_operation> operations, WorkspaceLease workspace) const;
    // Makes the commands of an instance, if the plugin has commands. After an error there are none.
    [[nodiscard]] Result<void> make_commands(Instance& one) const;
    [[nodiscard]] Result<void> make_command(Instance& one,
                                            std::span<const wye_operation> part) const;
    // Chooses what executes an instance.
    void set_execute(Instance& one) const;
    // Replaces the buffer of trap words in operations of this work. `bindings` gets those of the
    // checks of grids, to which the operations then point.
    void replace_trap(std::span<wye_operation> operations, const wye_buffer_object* from,
                      wye_buffer_object* to, std::vector<wye_binding>& bindings) const;
    // Adds the read-back of trap words.
    void read_trap(std::vector<wye_operation>& operations, Workspace& workspace) const;

    // Gives an instance the current parameters.
    void give_params(Instance& one) const {
        if (one.version == version_) return;
        std::ranges::copy(block_, one.block.begin());
        one.version = version_;
    }
    // Sets the parameters of all dispatches, in order, for later executions, if there are any. If
    // one is refused, none is changed.
    [[nodiscard]] Result<void> take_params(const std::uint64_t* params, std::uint64_t count) {
        if (params == nullptr && count == 0) [[likely]]
            return {};
        if (count != 0 && count == free_words_.size() && try_set_free(params)) return {};
        return set_params({params, static_cast<std::size_t>(count)});
    }
    [[nodiscard]] Result<void> set_params(std::span<const std::uint64_t> params);
    // Like `take_params`, and gives the parameters to an instance. False: call `take_params` for
    // the error.
    [[nodiscard]] bool try_params(const std::uint64_t* params, std::uint64_t count,
                                  Instance& one) noexcept;
    void find_free_words();
    // Like `set_params`, for as many parameters as `free_words_` has. False: a value is refused,
    // and nothing was changed.
    [[nodiscard]] bool try_set_free(const std::uint64_t* params) noexcept;

    // A submit of the ordinary path, and the instance that it holds.
    struct Sending {
        QueuePool::Sending queue;
        Instance* instance = nullptr;
        bool apart = false;  // no instance: operations with trap words of their own
        bool warm = false;
    };
    // Chooses an instance and begins the submit. False: as `submit`.
    [[nodiscard]] Result<bool> begin_submit(const registry::HandleTable& handles, QueuePool& queues,
                                            const wye_graph_run_desc& run, SubmitOptions options,
                                            Sending& out) WYE_REQUIRES(queues.mutex);
    // STALE_HANDLE for a buffer that was freed.
    [[nodiscard]] Result<void> check_live(const registry::HandleTable& handles, QueuePool& queues)
        WYE_REQUIRES(queues.mutex);
    // Called if no instance is idle. Null: the mutex was unlocked meanwhile, so try again.
    [[nodiscard]] Instance* other_instance(QueuePool& queues, bool& apart)
        WYE_REQUIRES(queues.mutex);
    // Makes one more instance, with the mutex unlocked meanwhile.
    void grow(QueuePool& queues) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> send(QueuePool& queues, Sending& sending, Execution& out);
    // Sends an execution as operations, with its own trap words.
    [[nodiscard]] Result<void> send_apart(QueuePool& queues, Sending& sending, Execution& out);
    void end_submit(QueuePool& queues, Sending& sending, bool sent, const Submitted& out)
        WYE_REQUIRES(queues.mutex);
    // Notes the newest execution of an instance.
    void note_newest(Instance& one, std::uint32_t queue, std::uint64_t value) {
        newest_[queue] = value;
        one.last_queue = queue;
        one.last_value = value;
    }
    [[nodiscard]] Result<void> read_traps(const Execution& execution, wye_report& report) const;

    DeviceSession& session_;
    Routed routed_;
    std::string label_;
    const Use use_;
    std::uint64_t references_ = 1;
    bool replaced_ = false;    // a graph was rebound to other work
    std::vector<Part> parts_;  // with Use::Once only of dispatches that took all steps
    // The programs and compiled forms that parts use. Consecutive parts share an entry.
    std::deque<registry::Pin> programs_;
    std::vector<CompiledRef> compiled_;
    std::unique_ptr<Model> model_;  // null: there was no dispatch
    std::uint64_t transfers_ = 0;
    wye_report report_{};  // bytes that each execution moves; the groups of a single dispatch
    std::vector<registry::Handle> handles_;    // each buffer once
    std::vector<BufferUse> uses_;              // of `handles_`, in the same order
    std::vector<Native> natives_;              // likewise
    Places places_;                            // of `handles_`
    bool traps_ = false;                       // it writes trap words
    std::vector<std::size_t> grid_checks_;     // which operations check the grids of others
    WorkspaceLease workspace_;                 // until `finish`
    const wye_buffer_object* trap_ = nullptr;  // in `operations_`

    // The first block of memory that work allocates for what its operations point to. A batch has
    // small ones: for an allocation of 1 KiB or more, glibc first tidies what a driver has freed
    // (malloc_consolidate), which can take 5 % of the time of a batch.
    [[nodiscard]] static std::size_t first_bytes(Use use) { return use == Use::Often ? 1024 : 256; }
    template <typename T>
    [[nodiscard]] static T* keep(std::span<const T> values,
                                 std::pmr::monotonic_buffer_resource& memory) {
        auto* const out = static_cast<T*>(memory.allocate(values.size_bytes(), alignof(T)));
        std::uninitialized_copy(values.begin(), values.end(), out);
        return out;
    }

    std::vector<wye_operation> operations_;  // until the only instance took them
    std::uint64_t operation_count_ = 0;      // as `finish` found them
    // `bindings_`: bindings that operations point to. `kept_`: fixed parameters.
    std::pmr::monotonic_buffer_resource bindings_, kept_;
    // The current parameters that may change, packed as kernels read them.
    std::vector<std::uint64_t> block_;
    std::vector<std::uint64_t> words_;  // the current parameters
    // Where `block_` has each parameter, if all may have any value of their types; else empty.
    struct FreeWord {
        std::size_t offset;
        std::size_t size;  // bytes
    };
    std::vector<FreeWord> free_words_;
    std::uint64_t version_ = 1;         // counts changes of the parameters
    bool warm_ = false;                 // has run before, as in Kernels
    std::uint64_t frees_ = UINT64_MAX;  // QueuePool::frees() when `handles_` were last live
    // The same for the fast path: kept requests without a command, and work that was not submitted
    // yet or has trap words, do not take it.
    std::uint64_t quick_frees_ = UINT64_MAX;
    std::vector<std::unique_ptr<Instance>> instances_;  // at least one
    bool growing_ = false;                              // a thread makes an instance
    bool full_ = false;                                 // no more instances can be made
    // Value of the newest execution on each queue; 0: none.
    std::array<std::uint64_t, kAllQueues> newest_{};
};

template <PreparedWork::Use use, typename Source>
inline bool PreparedWork::try_run(DeviceSession& session, const Source& source,
                                  const Instant& start, wye_report* report, Result<void>& failed) {
    QueuePool& queues = session.queues();
    if (!session.is_ready() || queues.is_traced()) [[unlikely]]
        return false;
    Quick quick;
    std::shared_ptr<const registry::NativeQueue> queue;  // a loss may replace it in the pool
    {
        const sdk::Lock lock(queues.mutex);
        quick = source.begin(queues);
        if (quick.work == nullptr) [[unlikely]]
            return false;
        queue = queues.native(quick.index);
    }
    Counters& counters = session.counters();
    const auto fail = [&] {
        const sdk::Lock lock(queues.mutex);
        if (use == Use::Kept && !failed.ok()) counters.failed();
        quick.fail(queues);
    };
    try {
        if (!quick.send(failed)) [[unlikely]] {
            failed = session.noted_plain(std::move(failed));
            fail();
            return false;
        }
    } catch (...) {
        fail();
        throw;
    }
    const bool timed = report != nullptr;
    // If the work of graphs has mostly ended by now, asks before it reads the clock: then one
    // reading gives both times.
    const bool asks = use == Use::Often && timed && session.ends_at_once();
    Instant queued, ended;
    if (timed && !asks) queued.read();
    wye_report about;
    {
        const sdk::Lock lock(queues.mutex);
        about = quick.work->report_;
        quick.end(queues);
        counters.ran();
        if (use == Use::Kept) counters.repeated();
    }
    bool has_ended = false;
    if (asks) {
        const Result<bool> reached = queue->reached(quick.value);
        has_ended = reached.ok() && *reached;  // waiting for it gives the error
        queued.read();
    }
    Result<void> waited;
    if (has_ended) {
        ended = queued;
    } else {
        waited = queue->wait(quick.value);
        if (timed) {
            ended.read();
            session.ended_after(queued.until(ended));
        }
    }
    queues.ended({nullptr, quick.index, quick.value});
    if (!waited.ok()) [[unlikely]] {
        counters.run_failed();
        RunTimes unread;
        unread.wanted = false;
        failed = session.ended(std::move(waited), {std::move(queue), quick.index, quick.value},
                               false, unread);
        return false;
    }
    counters.moved(about);
    if (!timed) return true;
    about.header = report->header;
    about.enqueue_ns = start.until(queued);
    about.wait_ns = queued.until(ended);
    about.wall_ns = about.enqueue_ns + about.wait_ns;
    about.device_ns = WYE_TIME_UNKNOWN;
    *report = about;
    return true;
}

}  // namespace wye::exec
