// SPDX-License-Identifier: Apache-2.0
//
// wye::Graph: dispatches that are recorded once and executed many times, as one submit.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/capture.h"
#include "wye/wye.hpp"

namespace wye {

// How much a graph of dispatches of these programs takes to record: see wye_capture_plan_make.
[[nodiscard]] inline Result<wye_capture_plan> capture_plan(
    std::initializer_list<const Program*> programs) {
    std::vector<wye_program> handles;
    for (const Program* program : programs) handles.push_back(program->get());
    wye_capture_plan out;
    WYE_INIT(out);
    wye_context* const context =
        programs.size() == 0 ? nullptr : (*programs.begin())->shared_context().get();
    WYE_TRY(detail::call([&](wye_error** e) {
        return wye_capture_plan_make(context, handles.data(), handles.size(), &out, e);
    }));
    return out;
}

struct GraphRun {
    const Queue* queue = nullptr;
    bool timed = false;  // asks the driver for the time on the device, for the report
};

// Dispatches of one device that run as one, recorded once and executed many times. Add them in the
// order in which they run; all their arguments are buffers (Dispatch::bind).
class Graph {
  public:
    // Records the dispatches, which it does not use afterwards. See wye_graph_create for errors.
    [[nodiscard]] static Result<Graph> record(const Device& device,
                                              std::span<Dispatch* const> dispatches,
                                              std::string_view label = "graph") {
        std::vector<wye_dispatch_desc> descriptions;
        for (Dispatch* dispatch : dispatches) {
            WYE_TRY(dispatch->ready());
            descriptions.push_back(dispatch->desc_);
        }
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device.get();
        desc.dispatches = descriptions.data();
        desc.dispatch_count = descriptions.size();
        desc.label = {label.data(), label.size()};
        wye_graph out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_create(device.context(), &desc, &out, e); }));
        return Graph(device.shared_context(), out);
    }
    [[nodiscard]] static Result<Graph> record(const Device& device,
                                              std::initializer_list<Dispatch*> dispatches,
                                              std::string_view label = "graph") {
        return record(device, std::span(dispatches.begin(), dispatches.size()), label);
    }

    [[nodiscard]] wye_graph get() const noexcept { return handle_.get(); }
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }

    // Runs all dispatches and waits. `params`: those of all dispatches, in order, each value's bits
    // in its own word; empty: as before.
    [[nodiscard]] Result<wye_report> run(std::span<const std::uint64_t> params = {},
                                         const GraphRun& how = {}) const {
        const wye_graph_run_desc desc = description(params, how);
        wye_report report;
        WYE_INIT(report);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_run(context(), get(), &desc, &report, e); }));
        return report;
    }
    // Starts an execution and does not wait for it.
    [[nodiscard]] Result<Pending> submit(std::span<const std::uint64_t> params = {},
                                         const GraphRun& how = {}) const {
        const wye_graph_run_desc desc = description(params, how);
        wye_pending out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_submit(context(), get(), &desc, &out, e); }));
        return Pending(handle_.shared_context(), out, {});
    }
    [[nodiscard]] Result<wye_graph_info> describe() const {
        wye_graph_info out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_describe(context(), get(), &out, e); }));
        return out;
    }

  private:
    Graph(std::shared_ptr<wye_context> context, wye_graph handle)
        : handle_(std::move(context), handle) {}
    [[nodiscard]] static wye_graph_run_desc description(std::span<const std::uint64_t> params,
                                                        const GraphRun& how) {
        wye_graph_run_desc out;
        WYE_INIT(out);
        out.params = params.data();
        out.param_count = params.size();
        out.flags = how.timed ? WYE_DISPATCH_TIMED : 0;
        out.queue = detail::handle_of(how.queue);
        return out;
    }

    detail::Handle<&wye_graph_free> handle_;
};

}  // namespace wye
