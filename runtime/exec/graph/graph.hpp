// SPDX-License-Identifier: Apache-2.0
//
// Graph: steps on resident buffers of one device (dispatches and transfers), checked, compiled and
// bound once, and executed many times as one submit. The steps are a Recording, which the plugin
// keeps in the driver's own form where it can. Where it allows no more executions of one at once,
// the list of operations is submitted.
//
// It keeps its programs alive, but not its buffers: an execution checks that they still live if any
// buffer was freed since the last check. While an execution uses them, their histories keep them
// from being freed. One execution follows another as their buffers demand; those of a program that
// can trap each have trap words of their own. Other buffers may take the place of recorded ones
// while no execution is in flight. Free-threaded. The session outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/graph/recording.hpp"
#include "registry/ownership.hpp"
#include "wye/graph.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

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
    // Errors are those of its steps, which they name by number.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> record(const Context& context,
                                                               registry::Pin device,
                                                               const wye_graph_desc& desc);
    using Use = Recording::Use;
    // The steps of `record`: dispatches are added to an empty graph, which is finished before it
    // is executed. Errors do not name the dispatch; one that was refused leaves the graph as it
    // was.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> begin(DeviceSession& session,
                                                              wye_device device,
                                                              std::string_view label);
    [[nodiscard]] Result<void> add(const Context& context, const wye_dispatch_desc& desc);
    [[nodiscard]] Result<void> finish(Use use);
    // Whether an execution has nothing to do, and need not be submitted. After `finish`.
    [[nodiscard]] bool is_idle() const;
    Graph(DeviceSession& session, std::string_view label) : session_(session), label_(label) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Puts other buffers in the place of those that the steps name, which are checked and bound as
    // if recorded anew; parameters keep their values. DEVICE_BUSY while an execution is in flight;
    // NOT_FOUND for a buffer that no step names. On an error the graph stays as it was. Only of a
    // graph made by `record`.
    [[nodiscard]] Result<void> rebind(const Context& context,
                                      std::span<const wye_graph_rebinding> changes);

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

    // A step as it was asked for, with memory of its own, to be recorded again.
    struct Step {
        explicit Step(const wye_dispatch_desc& desc);
        explicit Step(const wye_transfer_desc& desc) : transfer(desc) {}
        void replace(std::span<const wye_graph_rebinding> changes);

        bool dispatches = false;
        wye_dispatch_desc dispatch{};  // without pointers
        std::vector<wye_argument> arguments;
        std::string profile;
        wye_transfer_desc transfer{};
    };

    // The parts of submit: on a public queue that `run` names, and on that with a number (0: none).
    [[nodiscard]] Result<void> submit_named(const registry::HandleTable& handles,
                                            const wye_graph_run_desc& run, Clock::time_point start,
                                            RunTimes& times, Execution& out);
    [[nodiscard]] Result<void> submit_on(std::uint32_t queue, const registry::HandleTable& handles,
                                         const wye_graph_run_desc& run, Clock::time_point start,
                                         RunTimes& times, Execution& out);
    [[nodiscard]] Result<void> submit_with(const registry::HandleTable& handles, QueuePool& queues,
                                           const wye_graph_run_desc& run, SubmitOptions options,
                                           Execution& out) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> submit_first(const registry::HandleTable& handles, QueuePool& queues,
                                            const wye_graph_run_desc& run, SubmitOptions options,
                                            Execution& out) WYE_REQUIRES(queues.mutex);
    // The operations of an execution with trap words of its own.
    [[nodiscard]] Result<void> submit_apart(QueuePool& queues, SubmitOptions options,
                                            Execution& out) WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> check_changes(std::span<const wye_graph_rebinding> changes) const;
    [[nodiscard]] Result<void> check_idle(QueuePool& queues) const WYE_REQUIRES(queues.mutex);
    // The steps as a new recording. Their programs and parameters are those of the present one.
    [[nodiscard]] Result<std::unique_ptr<Recording>> record_again(const Context& context,
                                                                  std::span<const Step> steps)
        WYE_REQUIRES(rebinding_);

    DeviceSession& session_;
    const std::string label_;
    wye_device device_ = 0;
    sdk::Mutex rebinding_;  // one at a time; before the lock of the queues
    std::vector<Step> steps_ WYE_GUARDED_BY(rebinding_);
    std::unique_ptr<Recording> recording_;  // guarded by the lock of the session's queues
};

}  // namespace wye::exec
