// SPDX-License-Identifier: Apache-2.0
//
// Graph: dispatches on resident buffers of one device, checked, compiled and bound once, and
// executed many times as one submit. The plugin keeps the operations in the driver's own form (a
// command of the ABI). Where it has no commands, or allows no more executions of one at once, the
// list of operations is submitted.
//
// It keeps its programs alive, but not its buffers: an execution checks that they still live if any
// buffer was freed since the last check. While an execution uses them, their histories keep them
// from being freed. One execution follows another as their buffers demand; those of a program that
// can trap each have trap words of their own. Free-threaded. The session outlives it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Graph;

// One execution in flight. Move-only.
class Execution {
  public:
    Execution() = default;
    Execution(Execution&& other) noexcept { *this = std::move(other); }
    Execution& operator=(Execution&& other) noexcept {
        std::swap(ticket, other.ticket);
        std::swap(workspace, other.workspace);
        std::swap(words, other.words);
        std::swap(borrowed_, other.borrowed_);
        return *this;
    }
    ~Execution() { release(); }
    // Called when it has ended.
    void release() noexcept;

    Ticket ticket;
    WorkspaceLease workspace;              // for its trap words, unless they are the graph's
    const std::uint32_t* words = nullptr;  // trap words, read back; null: it cannot trap

  private:
    friend class Graph;
    Graph* borrowed_ = nullptr;  // its trap words are those of this graph
};

class Graph : public std::enable_shared_from_this<Graph> {
  public:
    // Errors are those of dispatches, which name the dispatch by its number. UNSUPPORTED for host
    // arguments and time-outs.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> record(const Context& context,
                                                               registry::Pin device,
                                                               const wye_graph_desc& desc);
    enum class Use : std::uint8_t { Often, Once };
    // The steps of `record`: dispatches are added to an empty graph, which is finished before it
    // is executed. Used once, it has no command of the plugin. Errors do not name the dispatch;
    // one that was refused leaves the graph as it was.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> begin(DeviceSession& session,
                                                              wye_device device,
                                                              std::string_view label);
    [[nodiscard]] Result<void> add(const Context& context, const wye_dispatch_desc& desc);
    [[nodiscard]] Result<void> finish(Use use);
    // Whether an execution has nothing to do, and need not be submitted. After `finish`.
    [[nodiscard]] bool is_idle() const noexcept { return operations_.empty(); }
    explicit Graph(DeviceSession& session) : session_(session) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Submits one execution. `params`: those of all dispatches, in order; null: as last time.
    // STALE_HANDLE for a buffer that was freed; INVALID_ARGUMENT for a wrong number of parameters;
    // UNSUPPORTED for parameters that decide sizes or the form of a kernel, and differ.
    [[nodiscard]] Result<void> submit(const registry::HandleTable& handles,
                                      const wye_graph_run_desc& run, Clock::time_point start,
                                      RunTimes& times, Execution& out);
    // As above, and waits. `report` may be null; its members except the header are written on
    // success and for TRAPPED.
    [[nodiscard]] Result<void> run(const Context& context, const wye_graph_run_desc& run,
                                   Clock::time_point start, wye_report* report);
    // A report (except the header) without what only the end of an execution tells.
    [[nodiscard]] wye_report new_report() const;
    // Called when an execution has ended: TRAPPED, with the code and number in the report.
    [[nodiscard]] Result<void> check_traps(const Execution& execution, wye_report& report) const;

    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] const std::string& label() const noexcept { return label_; }
    // Fills all members except the header.
    [[nodiscard]] Result<void> describe(wye_graph_info& out) const;

  private:
    friend class Execution;

    // One dispatch.
    struct Part {
        registry::Pin program;
        std::vector<CompiledRef> compiled;
        std::size_t first_word = 0, word_count = 0;  // its parameters in `words_`
        std::size_t block = 0;                       // and packed, in `block_`, in bytes
        bool late = false;                           // they may change
        // Of a launch whose check-free form parameters decide: as in Repeat. Else null.
        const lower::Preconditions* preconditions = nullptr;
        plan::Lengths lengths;
        std::array<std::uint32_t, 3> groups, workgroup;
        bool check_free = false;
    };

    // The parts of submit: on a public queue that `run` names, and on that with a number (0: none).
    [[nodiscard]] Result<void> submit_named(const registry::HandleTable& handles,
                                            const wye_graph_run_desc& run, Clock::time_point start,
                                            RunTimes& times, Execution& out);
    [[nodiscard]] Result<void> submit_on(std::uint32_t queue, const registry::HandleTable& handles,
                                         const wye_graph_run_desc& run, Clock::time_point start,
                                         RunTimes& times, Execution& out);
    [[nodiscard]] Result<void> check(const Flow& flow) const;
    void add_uses(const Flow& flow);
    void add_operations(const Flow& flow, const Operations& operations, Part& part);
    [[nodiscard]] Result<void> make_command() WYE_REQUIRES(session_.queues().mutex);
    // All of them, or none if any is refused.
    [[nodiscard]] Result<void> set_params(std::span<const std::uint64_t> params);
    [[nodiscard]] Result<void> pack(const Part& part, std::span<const std::uint64_t> words);
    [[nodiscard]] Result<void> submit_with(const registry::HandleTable& handles, QueuePool& queues,
                                           const wye_graph_run_desc& run, SubmitOptions options,
                                           Execution& out) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> submit_first(const registry::HandleTable& handles, QueuePool& queues,
                                            const wye_graph_run_desc& run, SubmitOptions options,
                                            Execution& out) WYE_REQUIRES(queues.mutex);
    // The operations of an execution with trap words of its own.
    [[nodiscard]] Result<void> submit_apart(QueuePool& queues, SubmitOptions options,
                                            Execution& out) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> check_live(const registry::HandleTable& handles, QueuePool& queues)
        WYE_REQUIRES(queues.mutex);

    DeviceSession& session_;
    std::string label_;
    wye_device device_ = 0;
    std::vector<std::unique_ptr<Part>> parts_;
    std::array<std::uint32_t, 3> groups_{};  // of a lone dispatch
    std::uint64_t bytes_filled_ = 0;
    std::vector<registry::Handle> handles_;                     // each buffer once
    std::vector<BufferUse> uses_;                               // of these, in the same order
    std::unordered_map<registry::Handle, std::size_t> places_;  // of handles in `handles_`
    bool traps_ = false;
    WorkspaceLease workspace_;  // for the trap words of one execution

    // Guarded by the lock of the session's queues.
    std::vector<wye_operation> operations_;
    std::deque<std::vector<wye_binding>> bindings_;  // that operations point to, as the next two
    std::deque<std::vector<std::uint64_t>> fixed_params_;
    std::vector<std::uint64_t> block_;  // the late parameters as kernels read them
    std::vector<std::uint64_t> words_;  // the parameters of the last execution
    bool warm_ = false;                 // it has run before, as in Kernels
    std::uint64_t frees_ = UINT64_MAX;  // QueuePool::frees() when `handles_` were last live
    std::optional<registry::NativeCommand> command_;
    bool limited_ = false;                // the plugin allows one pending execution of it at a time
    std::vector<wye_operation> execute_;  // of the command, then the read-back of trap words
    std::uint32_t last_queue_ = 0;        // of the newest execution of the command
    std::uint64_t last_value_ = 0;
    bool words_taken_ = false;  // the workspace's trap words
};

}  // namespace wye::exec
