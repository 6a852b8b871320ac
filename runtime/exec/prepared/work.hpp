// SPDX-License-Identifier: Apache-2.0
//
// Recording: the steps of a graph as operations of its device, and as commands of the plugin. A
// command holds the launches, copies and fills between two transfers of host bytes; the transfers
// are submitted between commands. If the plugin has no commands, the operations are submitted.
//
// Executions write parameters and trap words, so a recording has instances, each with such memory
// and commands of its own. A submit holds one; it stays in use until the execution has ended if the
// plugin allows one pending execution of its commands, or if the execution has its trap words. More
// instances are made when none is idle, up to kMostInstances.
//
// Made by one thread until `finish`; afterwards guarded by the mutex of the session's queues,
// except an instance that a submit holds. It keeps its programs alive, but not its buffers. The
// session outlives it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/prepared/executable.hpp"
#include "exec/prepared/kept_request.hpp"
#include "exec/prepared/param_rules.hpp"
#include "exec/prepared/places.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/graph.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Recording {
  public:
    static constexpr std::size_t kMostInstances = 16;

    // With Use::Once no commands are made, and parameters cannot be changed.
    enum class Use : std::uint8_t { Often, Once };
    [[nodiscard]] static Result<std::unique_ptr<Recording>> begin(DeviceSession& session,
                                                                  const Routed& routed,
                                                                  std::string_view label, Use use);
    Recording(DeviceSession& session, const Routed& routed, std::string_view label, Use use)
        : session_(session),
          routed_(routed),
          label_(label),
          use_(use),
          bindings_(first_bytes(use)),
          kept_(first_bytes(use)) {}
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Makes room for the steps to come; more may follow.
    void reserve(std::uint64_t steps);
    // Adds a step. Errors are those of dispatches and transfers; UNSUPPORTED for host arguments and
    // time limits, INVALID_ARGUMENT for a queue and for flags that belong to an execution. A
    // refused step leaves the recording unchanged.
    [[nodiscard]] Result<void> add(Context& context, Target target);
    [[nodiscard]] Result<void> add(const Context& context, const wye_transfer_desc& desc);
    // Adds a dispatch like the one that was added last, with copies of its operations. It may have
    // other buffers of the same sizes and, with Use::Once, other parameters if these may have any
    // values. False: nothing was added, and the dispatch must take all
    // steps.
    [[nodiscard]] bool add_alike(const registry::HandleTable& handles,
                                 const wye_dispatch_desc& desc);
    // As add_alike, for a caller that has compared all but arguments and parameters, of which there
    // are as many as before.
    [[nodiscard]] bool repeat(const registry::HandleTable& handles, const wye_argument* arguments,
                              const std::uint64_t* params);
    // Adds the dispatch that was added last again, `count` times. Nothing else was added after it,
    // and the recording was not restarted since.
    void add_again(std::uint64_t count);
    // Ends the recording.
    [[nodiscard]] Result<void> finish();
    // With Use::Once, after the submit of the execution: begins an empty recording in the same
    // memory, in which `repeat` adds dispatches like the last one of before.
    void restart();

    // Sets the parameters of all dispatches, in order, for later executions. If one is refused,
    // none is changed.
    [[nodiscard]] Result<void> set_params(std::span<const std::uint64_t> params);
    // Called after the first successful execution with Use::Once: the kernels have run, so that no
    // later launch of them needs a ProcessStateGuard.
    void set_warm() {
        for (const CompiledRef& one : compiled_) one->warm.store(true, std::memory_order_relaxed);
    }
    // STALE_HANDLE for a buffer that was freed.
    [[nodiscard]] Result<void> check_live(const registry::HandleTable& handles, QueuePool& queues)
        WYE_REQUIRES(queues.mutex);

    [[nodiscard]] bool names(registry::Handle buffer) const {
        return places_.find(buffer, handles_) != Places::kNone;
    }
    // Called after `finish`.
    [[nodiscard]] bool is_empty() const noexcept { return operation_count_ == 0; }
    // Fills all members except the header.
    [[nodiscard]] Result<void> describe(wye_graph_info& out) const;

  private:
    friend class Graph;
    friend class Execution;

    // One dispatch.
    struct Part {
        const registry::Pin* program = nullptr;  // of the program or the pipeline, in `programs_`
        std::size_t first_word = 0, word_count = 0;  // range of its parameters in `words_`
        std::size_t block = 0;  // byte offset of its packed parameters in `block_`
        bool late = false;      // its parameters may change between executions
        ParamRules rules;
    };

    // The dispatch that was added last, for add_alike.
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
    // Adds the buffers that the recording does not have yet. False: one is not live, or differs in
    // size from the model's, and nothing was added.
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
    void add_operations(const Flow& flow, const Operations& operations, Part& part);
    // A copy of a parameter block that does not change.
    [[nodiscard]] const void* keep_params(std::span<const std::byte> block);
    // Whether it clears the trap words; until `finish`.
    [[nodiscard]] bool clears_traps(const wye_operation& operation) const;
    // An executable with memory of its own; with trap words `own` ends with their read-back.
    struct Instance : Executable {
        std::vector<std::uint64_t> block;        // parameters that may change, as `block_`
        WorkspaceLease workspace;                // for trap words
        std::vector<wye_binding> grid_bindings;  // of the checks of grids
        std::uint64_t version = 0;               // of the parameters in `block`
        bool words_taken = false;                // an execution in flight uses its trap words

        // Whether an execution may use it, as far as is known without asking the driver.
        [[nodiscard]] bool is_idle(const QueuePool& queues) const {
            return !sending && !words_taken && may_run(queues);
        }
    };
    // Makes an instance of these operations, without the current parameters. The mutex need not be
    // held.
    [[nodiscard]] Result<std::unique_ptr<Instance>> make_instance(
        std::vector<wye_operation> operations, WorkspaceLease workspace) const;
    // Gives an instance the current parameters.
    void give_params(Instance& one) const {
        if (one.version != version_) copy_params(one);
    }
    void copy_params(Instance& one) const;
    // Sets the parameters that an execution gives, if it gives any.
    [[nodiscard]] Result<void> take_params(const wye_graph_run_desc& run) {
        if (!has_params(run)) [[likely]]
            return {};
        if (run.param_count != 0 && run.param_count == free_words_.size() &&
            try_set_free(run.params))
            return {};
        return set_params({run.params, static_cast<std::size_t>(run.param_count)});
    }
    [[nodiscard]] static bool has_params(const wye_graph_run_desc& run) {
        return run.params != nullptr || run.param_count != 0;
    }
    // As take_params, and gives the parameters to an instance. False: take_params has the error.
    [[nodiscard]] bool try_params(const wye_graph_run_desc& run, Instance& one) noexcept;
    void find_free_words();
    // As set_params, for as many parameters as `free_words_` has. False: a value is refused, and
    // nothing was changed.
    [[nodiscard]] bool try_set_free(const std::uint64_t* params) noexcept;
    // Replaces the buffer of trap words in the recording's operations. `bindings` gets those of the
    // checks of grids, to which the operations then point.
    void replace_trap(std::span<wye_operation> operations, const wye_buffer_object* from,
                      wye_buffer_object* to, std::vector<wye_binding>& bindings) const;
    // How many bytes of the trap words are read back.
    [[nodiscard]] std::uint64_t trap_bytes() const {
        return grid_checks_.empty() ? kTrapBytes : kCheckedBytes;
    }
    // Whether all commands are native objects of the driver.
    [[nodiscard]] Result<bool> is_native() const;
    [[nodiscard]] Result<void> pack(const Part& part, std::span<const std::uint64_t> words);

    DeviceSession& session_;
    const Routed routed_;
    const std::string label_;
    const Use use_;
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

    // The first block of memory that a recording allocates for what its operations point to. A
    // batch has small ones: for an allocation of 1 KiB or more, glibc first tidies what a driver
    // has freed (malloc_consolidate), which can take 5 % of the time of a batch.
    [[nodiscard]] static std::size_t first_bytes(Use use) { return use == Use::Once ? 256 : 1024; }
    template <typename T>
    [[nodiscard]] static T* keep(std::span<const T> values,
                                 std::pmr::monotonic_buffer_resource& memory) {
        auto* const out = static_cast<T*>(memory.allocate(values.size_bytes(), alignof(T)));
        std::uninitialized_copy(values.begin(), values.end(), out);
        return out;
    }

    std::vector<wye_operation> operations_;  // until an instance took them, with Use::Once
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
    std::vector<std::unique_ptr<Instance>> instances_;  // at least one
    bool growing_ = false;                              // a thread makes an instance
    std::uint64_t referred_ = 0;  // executions in flight that will ask for `report_`
    bool full_ = false;           // no more instances can be made
    // Value of the newest execution on each queue; 0: none.
    std::array<std::uint64_t, kAllQueues> newest_{};
};

}  // namespace wye::exec
