// SPDX-License-Identifier: Apache-2.0
//
// PreparedWork: dispatches and transfers on buffers of one device, checked, compiled and bound
// once, and executed many times, each time as one submit. There are three kinds: a graph, with the
// steps that its caller recorded; a list of a batch, which collects dispatches; and a repeated
// request, which is a single dispatch.
//
// The plugin keeps the work as commands. A command holds the launches, copies and fills between two
// transfers of host bytes, as a native object of the driver; the transfers are submitted between
// commands. If the plugin has no commands, or while it allows no further execution of the commands,
// the operations themselves are submitted.
//
// Executions write parameters and trap words, so work has instances, each with its own parameters,
// trap words and commands. A submit holds an instance. If the plugin allows only one pending
// execution of a command, or if the execution uses the instance's trap words, the instance stays in
// use until the execution has ended. If no instance is idle, another one is made, up to
// kMostInstances.
//
// Work does not keep its buffers alive: if any buffer was freed since the last check, an execution
// first checks that its buffers are live. While an execution uses buffers, the histories of the
// buffers keep them from being freed, and order the executions. Work keeps its programs alive,
// unless it is a kept request.
//
// One thread makes the work, until `finish`. Afterwards the mutex of the session's queues guards
// the work, except an instance that a submit holds. The session outlives the work.
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
// A reference that keeps the work alive. Copied and destroyed without the mutex of the queues.
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
    // Makes empty work. The caller then calls either `keep`, or first `add` (with Use::Once also
    // `repeat`) for each step and then `finish`.
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
    // For callers that hold the mutex. If `dereference_held` returns true, no reference is left:
    // the caller must then delete the object after unlocking the mutex.
    void refer_held() noexcept { ++references_; }
    [[nodiscard]] bool dereference_held() noexcept { return --references_ == 0; }
    [[nodiscard]] bool is_shared() const noexcept { return references_ != 1; }

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    // The label of the graph; for other kinds the name of a program.
    [[nodiscard]] const std::string& label() const noexcept { return label_; }
    [[nodiscard]] Use use() const noexcept { return use_; }

    // ---- Making ----

    // Reserves memory for this number of steps. More steps may be added.
    void reserve(std::uint64_t steps);
    // Adds a step. Errors are those of dispatches and transfers; UNSUPPORTED for host arguments and
    // time limits, INVALID_ARGUMENT for a queue and for flags that belong to an execution. A
    // refused step leaves the work unchanged.
    [[nodiscard]] Result<void> add(Context& context, const wye_dispatch_desc& desc);
    [[nodiscard]] Result<void> add(Context& context, Target target);
    [[nodiscard]] Result<void> add(const Context& context, const wye_transfer_desc& desc);
    // Adds a dispatch like the last added one, with copies of its operations. The new dispatch may
    // have other buffers of the same sizes and, with Use::Once, other parameters if these may have
    // any values. False: nothing was added, and the dispatch must take all steps. The caller has
    // checked that all other members are equal, the numbers of arguments and of parameters
    // included.
    [[nodiscard]] bool repeat(const registry::HandleTable& handles, const wye_argument* arguments,
                              const std::uint64_t* params);
    // Adds the last added dispatch again, `count` times. The caller has added no other step and has
    // not called `restart` since.
    void add_again(std::uint64_t count);
    [[nodiscard]] Result<void> finish();
    // With Use::Once, after the execution was submitted: empties the work but keeps its memory.
    // `repeat` can then add dispatches like the last added one.
    void restart();
    // With Use::Kept: makes this the work of a launch that was submitted. Nothing else may refer to
    // this work.
    void keep(const Flow& flow, const Operations& operations);
    // Called after an execution with Use::Once was submitted: no later launch of its kernels needs
    // a ProcessStateGuard.
    void set_warm() {
        for (const CompiledRef& one : compiled_) one->warm.store(true, std::memory_order_relaxed);
    }

    // ---- Executing, after `finish` or `keep` ----

    // Whether executions have nothing to do and need not be submitted.
    [[nodiscard]] bool is_empty() const noexcept { return operation_count_ == 0; }

    // The trap words of one execution, until the execution has ended. Used by one thread at a time.
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
        const std::uint32_t* words_ = nullptr;  // read-back trap words; null: there are none
        Instance* instance_ = nullptr;          // owns the words; null: `workspace_` does
        DeviceSession* session_ = nullptr;      // the session of the instance
        WorkspaceLease workspace_;
    };
    // Outputs of `submit`. The report gets the members that are known before the end, and an empty
    // header.
    struct Submitted {
        Execution& execution;
        Ticket& ticket;
        RunTimes& times;
        wye_report& report;
    };
    // Submits one execution. STALE_HANDLE for a buffer that was freed; INVALID_ARGUMENT for a wrong
    // number of parameters; UNSUPPORTED for changed parameters that decide sizes, the form of a
    // kernel or whether a launch is deterministic. False: nothing was submitted. Either the graph
    // of this work was rebound to other work, or this is a kept request that would get one of these
    // errors, so the request must take all steps.
    [[nodiscard]] Result<bool> submit(const registry::HandleTable& handles,
                                      const wye_graph_run_desc& run, Clock::time_point start,
                                      const Submitted& out);
    // Like `submit`, but also waits for the end. `report` may be null; then `start` is read only if
    // the context reads times. The members of the report, except its header, are written on success
    // and for TRAPPED. `request`: the kept request; null: none.
    [[nodiscard]] Result<bool> run(const Context& context, const wye_graph_run_desc& run,
                                   const wye_dispatch_desc* request, Clock::time_point start,
                                   wye_report* report);

    // The fast path of a submit, in three steps (begin, send, end) like those of QueuePool. The
    // submit waits for no other queue, has no device times and is not traced. `params` may be null
    // only if `param_count` is 0.
    struct Quick {
        PreparedWork* work = nullptr;  // null: the ordinary path must be taken
        Instance* instance = nullptr;
        registry::NativeQueue* native = nullptr;
        std::uint32_t index = 0;   // index of the queue in the pool
        std::uint32_t number = 0;  // number of the public queue; 0: none
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
    // The fast path of `run`, for work with this use. `source.begin` is called with the mutex held,
    // and returns the result of `begin_quick`. `report` has a valid header, or is null; if it is
    // null, `start` is not read. False: if `failed` has no error, the ordinary path must be taken.
    template <Use use, typename Source>
    [[nodiscard, gnu::always_inline]] static bool try_run(DeviceSession& session,
                                                          const Source& source,
                                                          const Instant& start, wye_report* report,
                                                          Result<void>& failed);

    // The members of the report that are known before the end of an execution. They do not change
    // while there are references, except with Use::Once.
    [[nodiscard]] const wye_report& report() const noexcept { return report_; }
    // Called when an execution has ended. Returns TRAPPED if the execution trapped, and writes the
    // trap's code and count to the report.
    [[nodiscard]] Result<void> check_traps(const Execution& execution, wye_report& report) const {
        if (execution.words_ == nullptr) [[likely]]
            return {};
        return read_traps(execution, report);
    }
    // Waits until no work in the session's line must come before an execution. TIMEOUT at the
    // deadline. With WYE_DISPATCH_AT_ONCE: returns DEVICE_BUSY instead of waiting.
    [[nodiscard]] Result<void> await_place(const registry::HandleTable& handles,
                                           const wye_graph_run_desc& run,
                                           Clock::time_point deadline);
    // With Use::Kept: whether the operations are the same with these parameters. The values may
    // still be refused.
    [[nodiscard]] bool allows(const std::uint64_t* params) const {
        const ParamRules& rules = parts_.front().rules;
        const std::span words(params, words_.size());
        return rules.allow_all() || std::ranges::equal(words, words_) || rules.allow(words);
    }
    // With Use::Kept: whether the work must not be changed, since a submit holds it, or the plugin
    // may be executing its command.
    [[nodiscard]] bool is_busy(const QueuePool& queues) const WYE_REQUIRES(queues.mutex);

  private:
    friend class Graph;  // for Graph::rebind

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
        std::vector<std::uint32_t> argument_of;  // the argument of each binding
        std::vector<Step> steps;                 // its operations except clears of the trap words
        std::vector<std::uint64_t> params;
        ParamRules rules;
        std::uint64_t bytes_filled;

        // Empties the model, but keeps the memory of the lists.
        void clear() {
            request = {};
            arguments.clear();
            argument_of.clear();
            steps.clear();
        }
    };
    void set_model(const wye_dispatch_desc& request, const Flow& flow, const ParamRules& rules,
                   std::size_t first);
    // Replaces the model's buffers by those of `arguments`. False: a buffer cannot be used, and the
    // model is unchanged.
    [[nodiscard]] bool replace_buffers(const registry::HandleTable& handles,
                                       std::span<const wye_argument> arguments);
    // Adds the buffers that the work does not have yet. False: nothing was added, since a buffer is
    // not live, not of this device, or not as large as the model's buffer.
    [[nodiscard]] bool add_buffers(const registry::HandleTable& handles,
                                   std::span<const wye_argument> arguments);
    // Packs parameters for the kernel of the model's program. Null: a value is refused.
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
    // Adds the operations of a launch except the read-backs.
    Part& add_launch(const Flow& flow, const Operations& operations);
    // Returns a copy of a parameter block that executions do not change.
    [[nodiscard]] const void* keep_params(std::span<const std::byte> block);
    // Whether the operation clears the trap words. Valid until `finish`.
    [[nodiscard]] bool clears_traps(const wye_operation& operation) const;
    // Whether all commands of the first instance are native objects of the driver.
    [[nodiscard]] Result<bool> is_native() const;

    struct Instance {
        std::vector<wye_operation> operations;  // of an execution without commands
        std::vector<registry::NativeCommand> commands;
        // The operations to submit if there are commands or trap words: executions of the commands
        // (without commands, a copy of `operations`), transfers, and the read-back of the trap
        // words.
        std::vector<wye_operation> own;
        std::span<const wye_operation> execute;  // `own`, or `operations` if `own` is empty
        bool asked = false;                      // the plugin was asked for commands
        bool limited = false;          // the plugin allows one pending execution of each command
        bool sending = false;          // a submit holds the instance, without holding the mutex
        bool words_taken = false;      // an execution in flight uses its trap words
        std::uint32_t last_queue = 0;  // queue and value of the newest execution of `execute`
        std::uint64_t last_value = 0;
        std::vector<std::uint64_t> block;        // parameters that may change, as in `block_`
        std::uint64_t version = 0;               // the version of the parameters in `block`
        WorkspaceLease workspace;                // has the trap words
        std::vector<wye_binding> grid_bindings;  // bindings of the grid checks

        // Whether the plugin allows another execution of the commands, as far as is known without
        // asking the driver.
        [[nodiscard]] bool may_run(const QueuePool& queues) const {
            return !limited || !queues.is_pending(last_queue, last_value);
        }
        [[nodiscard]] bool is_idle(const QueuePool& queues) const {
            return !sending && !words_taken && may_run(queues);
        }
    };
    // Makes an instance of these operations. The instance does not get the current parameters. The
    // mutex need not be held.
    [[nodiscard]] Result<std::unique_ptr<Instance>> make_instance(
        std::vector<wye_operation> operations, WorkspaceLease workspace) const;
    // Makes the commands of an instance, if the plugin has commands. After an error it has none.
    [[nodiscard]] Result<void> make_commands(Instance& one) const;
    [[nodiscard]] Result<void> make_command(Instance& one,
                                            std::span<const wye_operation> part) const;
    // Sets the operations that a submit of an instance sends: `own` and `execute`.
    void set_execute(Instance& one) const;
    // Replaces the buffer of trap words, `from`, by `to` in operations of this work. The bindings
    // of the grid checks are first copied to `bindings`, to which the checks' operations then
    // point.
    void replace_trap(std::span<wye_operation> operations, const wye_buffer_object* from,
                      wye_buffer_object* to, std::vector<wye_binding>& bindings) const;
    // Appends the read-back of the trap words.
    void read_trap(std::vector<wye_operation>& operations, Workspace& workspace) const;

    // Gives an instance the current parameters.
    void give_params(Instance& one) const {
        if (one.version == version_) return;
        std::ranges::copy(block_, one.block.begin());
        one.version = version_;
    }
    // Sets the parameters of all dispatches, in order, for later executions. If `params` is null
    // and `count` is 0, or if a value is refused, no parameter changes.
    [[nodiscard]] Result<void> take_params(const std::uint64_t* params, std::uint64_t count) {
        if (params == nullptr && count == 0) [[likely]]
            return {};
        if (count != 0 && count == free_words_.size() && try_set_free(params)) return {};
        return set_params({params, static_cast<std::size_t>(count)});
    }
    [[nodiscard]] Result<void> set_params(std::span<const std::uint64_t> params);
    // Like `take_params`, but also gives the parameters to an instance. False: call `take_params`
    // for the error.
    [[nodiscard]] bool try_params(const std::uint64_t* params, std::uint64_t count,
                                  Instance& one) noexcept;
    void find_free_words();
    // Like `set_params`, for exactly the parameters in `free_words_`. False: a value is refused,
    // and no parameter was changed.
    [[nodiscard]] bool try_set_free(const std::uint64_t* params) noexcept;

    // A submit on the ordinary path, and the instance that it holds.
    struct Sending {
        QueuePool::Sending queue;
        Instance* instance = nullptr;
        bool apart = false;  // sends the operations, not the commands, with other trap words
        bool warm = false;
    };
    // Chooses an instance and begins the submit. False: as for `submit`.
    [[nodiscard]] Result<bool> begin_submit(const registry::HandleTable& handles, QueuePool& queues,
                                            const wye_graph_run_desc& run, SubmitOptions options,
                                            Sending& out) WYE_REQUIRES(queues.mutex);
    // STALE_HANDLE for a buffer that was freed.
    [[nodiscard]] Result<void> check_live(const registry::HandleTable& handles, QueuePool& queues)
        WYE_REQUIRES(queues.mutex);
    // Finds an instance if the first one is not idle. `apart` is set if no instance is idle and
    // none can be made now. Null: the mutex was unlocked meanwhile, so the caller tries again.
    [[nodiscard]] Instance* other_instance(QueuePool& queues, bool& apart)
        WYE_REQUIRES(queues.mutex);
    // Makes one more instance, with the mutex unlocked meanwhile.
    void grow(QueuePool& queues) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> send(QueuePool& queues, Sending& sending, Execution& out);
    // Sends the operations instead of the commands, with trap words for this execution alone.
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
    bool replaced_ = false;    // the graph of this work was rebound to other work
    std::vector<Part> parts_;  // dispatches; with Use::Once only those that took all steps
    // The programs and compiled forms that parts use. Consecutive parts share an entry.
    std::deque<registry::Pin> programs_;
    std::vector<CompiledRef> compiled_;
    std::unique_ptr<Model> model_;  // null: there is no dispatch that `repeat` could copy
    std::uint64_t transfers_ = 0;
    wye_report report_{};  // bytes that each execution moves; the groups of a single dispatch
    std::vector<registry::Handle> handles_;    // each buffer once
    std::vector<BufferUse> uses_;              // of `handles_`, in the same order
    std::vector<Native> natives_;              // of `handles_`, in the same order
    Places places_;                            // finds indices in `handles_`
    bool traps_ = false;                       // a dispatch writes trap words
    std::vector<std::size_t> grid_checks_;     // indices of operations that check grids
    WorkspaceLease workspace_;                 // used until `finish`
    const wye_buffer_object* trap_ = nullptr;  // the trap words in `operations_`

    // The size of the first memory block for the data that operations point to. A batch uses a
    // small block: for an allocation of 1 KiB or more, glibc first tidies what a driver has freed
    // (malloc_consolidate), which can take 5 % of the time of a batch.
    [[nodiscard]] static std::size_t first_bytes(Use use) { return use == Use::Often ? 1024 : 256; }
    template <typename T>
    [[nodiscard]] static T* keep(std::span<const T> values,
                                 std::pmr::monotonic_buffer_resource& memory) {
        auto* const out = static_cast<T*>(memory.allocate(values.size_bytes(), alignof(T)));
        std::uninitialized_copy(values.begin(), values.end(), out);
        return out;
    }

    std::vector<wye_operation> operations_;  // moved to the instance if there is only one
    std::uint64_t operation_count_ = 0;      // the number of operations at `finish`
    // `bindings_`: bindings that operations point to. `kept_`: fixed parameters.
    std::pmr::monotonic_buffer_resource bindings_, kept_;
    // The current parameters that may change, packed as kernels read them.
    std::vector<std::uint64_t> block_;
    std::vector<std::uint64_t> words_;  // the current parameters
    // The bytes of a parameter in `block_`. `free_words_` has an element for each parameter if all
    // parameters may have any value of their types; else `free_words_` is empty.
    struct FreeWord {
        std::size_t offset;
        std::size_t size;  // bytes
    };
    std::vector<FreeWord> free_words_;
    std::uint64_t version_ = 1;         // counts changes of the parameters
    bool warm_ = false;                 // an execution has run (see Kernels::warm)
    std::uint64_t frees_ = UINT64_MAX;  // QueuePool::frees() when `handles_` were last found live
    // Like `frees_`, for the fast path. UINT64_MAX equals no count, so it keeps work off the fast
    // path: work with trap words, and work before its first submit. (The first submit of a kept
    // request makes its command.)
    std::uint64_t quick_frees_ = UINT64_MAX;
    std::vector<std::unique_ptr<Instance>> instances_;  // at least one
    bool growing_ = false;                              // a thread is making an instance
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
    std::shared_ptr<const registry::NativeQueue> queue;  // kept, since the pool may drop the queue
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
    // If graph executions mostly end within their submit, asks whether this one has ended, and then
    // reads the clock once, for both the end of the submit and the end of the execution.
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
        has_ended = reached.ok() && *reached;  // if asking failed, the wait below gives the error
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
