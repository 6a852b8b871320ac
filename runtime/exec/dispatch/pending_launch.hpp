// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch: work in flight that was prepared before: an execution of a graph, or a repeated
// request. It has resident buffers only, so it owns no memory, and it is submitted once. Every
// submit of prepared work makes one, so it is small.
#pragma once

#include <memory>
#include <string>

#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/target.hpp"
#include "exec/graph/graph.hpp"
#include "wye/graph.h"

namespace wye::exec {

class PendingLaunch final : public Pending {
  public:
    // Submits an execution of a graph, which the pin or the reference keeps alive. Errors as in
    // Graph::submit; DEVICE_BUSY if the limits on pending work are reached and `run` has
    // WYE_DISPATCH_AT_ONCE.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 registry::Pin graph,
                                                                 const wye_graph_run_desc& run,
                                                                 Clock::time_point start) {
        Graph& steps = graph.as<Graph>();
        return submit(context, steps, std::move(graph), nullptr, run, start);
    }
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 std::shared_ptr<Graph> graph,
                                                                 const wye_graph_run_desc& run,
                                                                 Clock::time_point start) {
        Graph& steps = *graph;
        return submit(context, steps, {}, std::move(graph), run, start);
    }
    // Submits a repeated request on the fast path, and takes the target's pin; null: the request
    // must take all steps. `queue`: the number of its public queue, or 0.
    [[nodiscard]] static Result<std::shared_ptr<Pending>> repeat(const Context& context,
                                                                 Target& target,
                                                                 std::uint32_t queue,
                                                                 Clock::time_point start);
    PendingLaunch(const Context& context, DeviceSession& session, Graph* graph,
                  const std::string& name, Clock::time_point start, bool timed)
        : Pending(context, session, start, false, timed), graph_(graph), name_(name) {}

    bool wait(std::optional<Clock::time_point> deadline) override;
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }

  private:
    [[nodiscard]] static Result<std::shared_ptr<Pending>> submit(const Context& context,
                                                                 Graph& graph, registry::Pin&& pin,
                                                                 std::shared_ptr<Graph>&& shared,
                                                                 const wye_graph_run_desc& run,
                                                                 Clock::time_point start);
    [[nodiscard]] Result<bool> start_again(const registry::HandleTable& handles,
                                           const wye_dispatch_desc& request, Target& target,
                                           std::uint32_t queue, Clock::time_point start);
    [[nodiscard]] Ticket ticket() override {
        return submitted_.load(std::memory_order_acquire) ? ticket_ : Ticket();
    }
    // Called when the work has ended.
    void end(Result<void> waited) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> outcome_of(Result<void> waited) WYE_REQUIRES(mutex_);

    Graph* const graph_;       // null: a repeated request
    const std::string& name_;  // of the graph or the program, which the next two keep alive
    registry::Pin pin_;
    std::shared_ptr<Graph> shared_;
    std::unique_ptr<const Texts> texts_;  // null: nothing is logged
    Ticket ticket_;  // written before submitted_ is set, and not changed afterwards
    Execution execution_ WYE_GUARDED_BY(mutex_);  // of a graph
};

}  // namespace wye::exec
