// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch: work in flight that was prepared before: an execution of a graph, or a repeated
// request. It has resident buffers only, so it owns no memory, and it is submitted once. Every
// submit of prepared work takes one, so the session's PendingList keeps the objects of ended work,
// and a submit writes only the members that it needs.
//
// An idle object has no references, and holds nothing: members have the values given here, except
// those that every submit writes.
#pragma once

#include <memory>
#include <string>

#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/target.hpp"
#include "exec/prepared/graph.hpp"
#include "exec/prepared/repeat.hpp"
#include "wye/graph.h"

namespace wye::exec {

class PendingLaunch final : public Pending {
  public:
    // Submits an execution of a graph, which the pin or the reference keeps alive. Errors as in
    // Graph::submit; DEVICE_BUSY if it had to wait for room or for work in the line, and `run` has
    // WYE_DISPATCH_AT_ONCE; TIMEOUT if the time limit ends before the submit. `watched`: the caller
    // does not wait for it.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context,
                                                         registry::Pin graph,
                                                         const wye_graph_run_desc& run,
                                                         Clock::time_point start, bool watched) {
        Graph& steps = graph.as<Graph>();
        return submit(context, steps, std::move(graph), nullptr, run, start, watched);
    }
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context,
                                                         std::shared_ptr<Graph> graph,
                                                         const wye_graph_run_desc& run,
                                                         Clock::time_point start) {
        Graph& steps = *graph;
        return submit(context, steps, {}, std::move(graph), run, start, false);
    }
    // The fast path of `submit`, inline, under the conditions of Graph::begin_plain; `run` wants no
    // device times. Takes the pin and returns the work, with a reference for the handle. Null:
    // `failed` has the error of the driver, or `submit` must be called.
    [[nodiscard]] static PendingLaunch* submit_plain(registry::Pin& graph,
                                                     const wye_graph_run_desc& run,
                                                     std::uint32_t number, const Instant& start,
                                                     Result<void>& failed);
    // Submits a repeated request on the fast path, and takes the target's pin; null: the request
    // must take all steps. `queue`: the number of its public queue, or 0.
    [[nodiscard]] static Result<WorkPtr<Pending>> repeat(const Context& context, Target& target,
                                                         std::uint32_t queue,
                                                         Clock::time_point start);
    PendingLaunch(const Context& context, DeviceSession& session)
        : Pending(context, session, false, false) {}

    bool wait(std::optional<Clock::time_point> deadline) override;
    [[nodiscard]] const std::string& name() const noexcept override {
        return graph_ != nullptr ? graph_->label() : *name_;
    }

  private:
    // Takes an idle object, or makes one.
    [[nodiscard]] static WorkPtr<PendingLaunch> take(const Context& context,
                                                     DeviceSession& session);
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context, Graph& graph,
                                                         registry::Pin&& pin,
                                                         std::shared_ptr<Graph>&& shared,
                                                         const wye_graph_run_desc& run,
                                                         Clock::time_point start, bool watched);
    [[nodiscard]] Result<void> start(const registry::HandleTable& handles, Graph& graph,
                                     const wye_graph_run_desc& run, Clock::time_point start);
    [[nodiscard]] Result<bool> start_again(const registry::HandleTable& handles,
                                           const wye_dispatch_desc& request, Target& target,
                                           std::uint32_t queue, Clock::time_point start);
    // Ends the submit of submit_plain after a failure, and gives the pin back.
    [[gnu::cold, gnu::noinline]] registry::Pin fail_plain(Graph::Plain work) noexcept;
    void unreferenced() noexcept override;
    [[nodiscard]] Ticket ticket() override { return ticket_; }
    // Called when the work has ended.
    void end(Result<void> waited) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> outcome_of(Result<void> waited, RunTimes& times)
        WYE_REQUIRES(mutex_);
    void leave() noexcept WYE_REQUIRES(mutex_);
    void end_without_memory() noexcept override;

    // Every submit writes these.
    Graph* graph_ = nullptr;             // null: a repeated request
    const std::string* name_ = nullptr;  // of a repeated request's program, which `pin_` keeps
    Recording* steps_ = nullptr;         // that the execution refers to; null: none
    Instant begun_, queued_;

    registry::Pin pin_;
    std::shared_ptr<Graph> shared_;
    std::unique_ptr<const Texts> texts_;  // null: nothing is logged
    // Not changed after the submit. An idle object may keep the pool's first queue, as its next
    // work goes there mostly.
    Ticket ticket_;
    Execution execution_ WYE_GUARDED_BY(mutex_);  // of a graph
};

// Submits a dispatch: again if it is a repeated request, else with all steps, as Pending::submit.
[[nodiscard]] Result<WorkPtr<Pending>> submit_dispatch(Context& context, Target& target,
                                                       const RequestRules& rules,
                                                       Clock::time_point start);

}  // namespace wye::exec
