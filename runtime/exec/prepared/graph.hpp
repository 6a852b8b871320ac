// SPDX-License-Identifier: Apache-2.0
//
// Graph: the steps that a caller recorded, as prepared work. The buffers of a graph may be replaced
// while no execution is in flight: the steps are then recorded again, as new prepared work.
// Free-threaded. The session outlives the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/context.hpp"
#include "exec/dispatch/pending.hpp"
#include "exec/prepared/work.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/graph.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class Graph {
  public:
    // Records a graph. Errors are those of the steps, and name the index of the step.
    // `device` gets a pin, which keeps the device until the graph has a handle.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> record(Context& context,
                                                               const wye_graph_desc& desc,
                                                               registry::Pin& device);
    explicit Graph(PreparedRef work) : session_(work->session()), work_(std::move(work)) {}

    // Replaces buffers that the steps name; the steps are checked and bound as if recorded again,
    // and parameters keep their values. DEVICE_BUSY while an execution is in flight; NOT_FOUND for
    // a buffer that no step names. On an error the graph is unchanged.
    [[nodiscard]] Result<void> rebind(Context& context,
                                      std::span<const wye_graph_rebinding> changes);

    // `run` is like PreparedWork::run. `submit` is like PendingLaunch::submit, and takes over the
    // pin `graph`.
    [[nodiscard]] Result<void> run(const Context& context, const wye_graph_run_desc& run,
                                   Clock::time_point start, wye_report* report);
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(const Context& context,
                                                         registry::Pin graph,
                                                         const wye_graph_run_desc& run,
                                                         Clock::time_point start, bool watched);

    // Begins an execution on the fast path. `number`: the number of the public queue that `run`
    // names; 0: none.
    struct Quick {
        Graph& graph;
        const wye_graph_run_desc& run;
        std::uint32_t number;

        [[nodiscard, gnu::always_inline]] PreparedWork::Quick begin(QueuePool& queues) const
            WYE_REQUIRES(queues.mutex) {
            return graph.work_->begin_quick(queues, run.params, run.param_count, number);
        }
    };
    [[nodiscard]] PreparedRef work() const;
    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    // Fills all members except the header.
    [[nodiscard]] Result<void> describe(wye_graph_info& out) const;

  private:
    // A copy of a step's description, so that the step can be recorded again.
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
    [[nodiscard]] Result<void> check_changes(std::span<const wye_graph_rebinding> changes) const;
    [[nodiscard]] Result<void> check_idle(QueuePool& queues) const WYE_REQUIRES(queues.mutex);
    // Records the steps again, with the programs and parameters of the current work.
    [[nodiscard]] Result<PreparedRef> record_again(Context& context, std::span<const Step> steps)
        WYE_REQUIRES(rebinding_);

    DeviceSession& session_;
    sdk::Mutex rebinding_;  // allows one rebind at a time; locked before the queues' lock
    std::vector<Step> steps_ WYE_GUARDED_BY(rebinding_);
    PreparedRef work_;  // guarded by the mutex of the session's queues
};

}  // namespace wye::exec
