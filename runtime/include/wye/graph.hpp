// SPDX-License-Identifier: Apache-2.0
//
// wye::Graph: dispatches and transfers that are recorded once and executed many times, as one
// submit.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/capture.h"
#include "wye/graph.h"
#include "wye/wye.hpp"

namespace wye {

// How many objects a graph of dispatches of these programs needs: see wye_capture_plan_make.
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

// How a graph is executed.
struct GraphRun {
    const Queue* queue = nullptr;
    bool timed = false;  // measures the device time for the report
};

// One step of a graph: a dispatch or a transfer. Borrows its arguments until the graph is recorded,
// and the values of uploads and downloads until the last execution has ended.
class Step {
  public:
    // All arguments of the dispatch are buffers (Dispatch::bind).
    Step(Dispatch* dispatch)
        : dispatch_(dispatch) {}  // NOLINT: a list of dispatches is one of steps

    // Offsets and sizes in bytes.
    template <Values R>
    [[nodiscard]] static Step upload(const R& values, const Buffer& to, std::uint64_t offset = 0) {
        const auto bytes = std::as_bytes(std::span(values));
        Step out(WYE_TRANSFER_UPLOAD, to, offset, bytes.size());
        out.transfer_.source = bytes.data();
        return out;
    }
    // As upload, the other way.
    template <Values R>
    [[nodiscard]] static Step download(const Buffer& from, R& values, std::uint64_t offset = 0) {
        const auto bytes = std::as_writable_bytes(std::span(values));
        Step out(WYE_TRANSFER_DOWNLOAD, from, offset, bytes.size());
        out.transfer_.target = bytes.data();
        return out;
    }
    // Refuses temporary values, which would not outlive the call.
    template <Values R>
    static Step upload(const R&& values, const Buffer& to, std::uint64_t offset = 0) = delete;
    // Between two buffers of the device.
    [[nodiscard]] static Step copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to,
                                   std::uint64_t to_offset, std::uint64_t size) {
        Step out(WYE_TRANSFER_COPY, to, to_offset, size);
        out.transfer_.source_buffer = from.get();
        out.transfer_.source_offset = from_offset;
        return out;
    }
    // Repeats a word. Offset and size are multiples of 4.
    [[nodiscard]] static Step fill(const Buffer& buffer, std::uint32_t word, std::uint64_t offset,
                                   std::uint64_t size) {
        Step out(WYE_TRANSFER_FILL, buffer, offset, size);
        out.transfer_.pattern = word;
        out.transfer_.pattern_size = 4;
        return out;
    }

  private:
    friend class Graph;
    Step(std::uint32_t kind, const Buffer& buffer, std::uint64_t offset, std::uint64_t size) {
        WYE_INIT(transfer_);
        transfer_.kind = kind;
        transfer_.buffer = buffer.get();
        transfer_.offset = offset;
        transfer_.size = size;
    }

    Dispatch* dispatch_ = nullptr;  // null: a transfer
    wye_transfer_desc transfer_{};
};

// Steps of one device that run in order as one submit; recorded once and executed many times.
class Graph {
  public:
    // Records a graph; the dispatches are not used afterwards. See wye_graph_create for errors.
    [[nodiscard]] static Result<Graph> record(const Device& device, std::span<const Step> steps,
                                              std::string_view label = "graph") {
        std::vector<wye_graph_step> list;
        for (const Step& step : steps) {
            if (step.dispatch_ == nullptr) {
                list.push_back({nullptr, &step.transfer_});
                continue;
            }
            WYE_TRY(step.dispatch_->ready());
            list.push_back({&step.dispatch_->desc_, nullptr});
        }
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device.get();
        desc.steps = list.data();
        desc.step_count = list.size();
        desc.label = {label.data(), label.size()};
        wye_graph out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_create(device.context(), &desc, &out, e); }));
        return Graph(device.shared_context(), out);
    }
    // As above.
    [[nodiscard]] static Result<Graph> record(const Device& device,
                                              std::initializer_list<Step> steps,
                                              std::string_view label = "graph") {
        return record(device, std::span(steps.begin(), steps.size()), label);
    }
    // As above, of dispatches only.
    [[nodiscard]] static Result<Graph> record(const Device& device,
                                              std::span<Dispatch* const> dispatches,
                                              std::string_view label = "graph") {
        return record(device, std::vector<Step>(dispatches.begin(), dispatches.end()), label);
    }

    // Replaces a buffer that the steps name, for later executions. See wye_graph_rebind.
    [[nodiscard]] Result<void> rebind(const Buffer& recorded, const Buffer& buffer) {
        const wye_graph_rebinding change{recorded.get(), buffer.get()};
        return rebind({&change, 1});
    }
    // As above, several at once.
    [[nodiscard]] Result<void> rebind(std::span<const wye_graph_rebinding> changes) {
        return detail::call([&](wye_error** e) {
            return wye_graph_rebind(context(), get(), changes.data(), changes.size(), e);
        });
    }

    // The handle of the C API.
    [[nodiscard]] wye_graph get() const noexcept { return handle_.get(); }
    // The context that it belongs to.
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }

    // Runs all steps and waits. `params`: the parameters of all dispatches, in order, each value's
    // bits in its own word; empty: unchanged.
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
    // What it has, and what the driver made of it.
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
