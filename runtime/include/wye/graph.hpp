// SPDX-License-Identifier: Apache-2.0
//
// wye::Graph: dispatches and transfers that are recorded once and executed many times, as one
// submit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
    bool timed = false;            // measures the device time for the report
    std::uint64_t timeout_ns = 0;  // the time limit of the whole execution; 0: none
};

// One step of a graph: a dispatch or a transfer. Borrows its arguments until the graph is recorded,
// and the values of uploads and downloads until the last execution has ended.
class Step {
  public:
    // All arguments of the dispatch are buffers (Dispatch::bind).
    Step(Dispatch* dispatch)
        : dispatch_(dispatch) {}  // NOLINT: a list of dispatches is one of steps

    // Copies `values` to a buffer, from an offset in bytes on.
    template <Values R>
    [[nodiscard]] static Step upload(const R& values, const Buffer& to, std::uint64_t offset = 0) {
        const auto bytes = std::as_bytes(std::span(values));
        Step out(WYE_TRANSFER_UPLOAD, to, offset, bytes.size());
        out.transfer_.source = bytes.data();
        return out;
    }
    // Copies a buffer, from an offset in bytes on, to `values`.
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
    // Copies between two buffers of the device; offsets and size are in bytes.
    [[nodiscard]] static Step copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to,
                                   std::uint64_t to_offset, std::uint64_t size) {
        Step out(WYE_TRANSFER_COPY, to, to_offset, size);
        out.transfer_.source_buffer = from.get();
        out.transfer_.source_offset = from_offset;
        return out;
    }
    // Fills a range with a repeated word. Offset and size are multiples of 4.
    [[nodiscard]] static Step fill(const Buffer& buffer, std::uint32_t word, std::uint64_t offset,
                                   std::uint64_t size) {
        Step out(WYE_TRANSFER_FILL, buffer, offset, size);
        out.transfer_.pattern = word;
        out.transfer_.pattern_size = 4;
        return out;
    }

  private:
    friend class Graph;
    Step(std::uint32_t kind, const Buffer& buffer, std::uint64_t offset, std::uint64_t size)
        : context_(buffer.shared_context()) {
        WYE_INIT(transfer_);
        transfer_.kind = kind;
        transfer_.buffer = buffer.get();
        transfer_.offset = offset;
        transfer_.size = size;
    }

    Dispatch* dispatch_ = nullptr;  // null: a transfer
    wye_transfer_desc transfer_{};
    std::shared_ptr<wye_context> context_;  // of a transfer
};

// Values of a graph's parameters, with the types that the programs declare. Starts with the
// recorded values; Graph::params makes it. Any number may exist; one thread at a time.
class GraphParams {
  public:
    // Sets a parameter of a dispatch, which is counted from 0 among the graph's dispatches. The C++
    // type must be the declared one: std::uint32_t for u32, float for f32, .... Graph::run and
    // submit return the first wrong index, name or type.
    template <detail::ParamValue T>
    GraphParams& set(std::uint64_t dispatch, std::string_view name, T value) {
        for (std::size_t i = 0; i < declared_->size(); ++i) {
            const Declared& one = (*declared_)[i];
            if (one.dispatch != dispatch || one.name != name) continue;
            if (one.type != detail::scalar_name<T>())
                return wrong(
                    dispatch, name,
                    "has type " + one.type + ", got " + std::string(detail::scalar_name<T>()),
                    detail::param_fix(one.type));
            values_[i] = detail::param_bits(value);
            return *this;
        }
        std::vector<Declared> own;
        for (const Declared& one : *declared_)
            if (one.dispatch == dispatch) own.push_back(one);
        return wrong(
            dispatch, name, "is not a parameter of the graph",
            own.empty() ? "Fix: count the graph's dispatches from 0" : detail::name_fix(name, own));
    }
    // Each value's bits in its own word, as the C API takes them.
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return values_; }

  private:
    friend class Graph;
    struct Declared {
        std::uint64_t dispatch;
        std::string name, type;
    };
    GraphParams(std::shared_ptr<const std::vector<Declared>> declared,
                std::vector<std::uint64_t> values)
        : declared_(std::move(declared)), values_(std::move(values)) {}
    GraphParams& wrong(std::uint64_t dispatch, std::string_view name, const std::string& what,
                       const std::string& fix) {
        if (!error_)
            error_ = Error(
                Code::INVALID_ARGUMENT,
                "`" + std::string(name) + "` of dispatch " + std::to_string(dispatch) + " " + what,
                fix, std::string(name));
        return *this;
    }

    std::shared_ptr<const std::vector<Declared>> declared_;
    std::vector<std::uint64_t> values_;
    std::optional<Error> error_;
};

// Steps of one device that run in order as one submit; recorded once and executed many times.
class Graph {
  public:
    // Records a graph; the dispatches are not used afterwards. See wye_graph_create for errors.
    [[nodiscard]] static Result<Graph> record(const Device& device, std::span<const Step> steps,
                                              std::string_view label = "graph") {
        return record(device.shared_context(), device.get(), steps, label);
    }
    // As above, for the device of the first step that has one, or else a device that the library
    // chooses: see wye/device.h.
    [[nodiscard]] static Result<Graph> record(std::span<const Step> steps,
                                              std::string_view label = "graph") {
        if (steps.empty())
            return Error(Code::INVALID_ARGUMENT, "the graph has no steps, and names no device",
                         "Fix: name a device, or record a step");
        const Step& first = steps.front();
        return record(first.dispatch_ != nullptr ? first.dispatch_->context_ : first.context_, 0,
                      steps, label);
    }
    // As above, for a list of steps.
    [[nodiscard]] static Result<Graph> record(std::initializer_list<Step> steps,
                                              std::string_view label = "graph") {
        return record(std::span(steps.begin(), steps.size()), label);
    }
    // Records a list of steps for a device.
    [[nodiscard]] static Result<Graph> record(const Device& device,
                                              std::initializer_list<Step> steps,
                                              std::string_view label = "graph") {
        return record(device, std::span(steps.begin(), steps.size()), label);
    }
    // Records a graph of dispatches only.
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

    // The parameters of all dispatches, with the recorded values.
    [[nodiscard]] GraphParams params() const { return params_; }

    // Runs all steps and waits, with these parameters.
    [[nodiscard]] Result<wye_report> run(const GraphParams& params,
                                         const GraphRun& how = {}) const {
        if (params.error_) return *params.error_;
        return run(params.words(), how);
    }
    // Starts an execution with these parameters, and does not wait for it.
    [[nodiscard]] Result<Pending> submit(const GraphParams& params,
                                         const GraphRun& how = {}) const {
        if (params.error_) return *params.error_;
        return submit(params.words(), how);
    }
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
    // As above, without a report: then no clock is read.
    [[nodiscard]] Result<void> execute(std::span<const std::uint64_t> params = {},
                                       const GraphRun& how = {}) const {
        const wye_graph_run_desc desc = description(params, how);
        return detail::call(
            [&](wye_error** e) { return wye_graph_run(context(), get(), &desc, nullptr, e); });
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
    // The numbers of its steps, its device, and whether it is a native object of the driver.
    [[nodiscard]] Result<wye_graph_info> describe() const {
        wye_graph_info out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_describe(context(), get(), &out, e); }));
        return out;
    }

  private:
    [[nodiscard]] static Result<Graph> record(std::shared_ptr<wye_context> context,
                                              wye_device device, std::span<const Step> steps,
                                              std::string_view label) {
        std::vector<wye_graph_step> list;
        std::vector<std::uint64_t> values;
        auto declared = std::make_shared<std::vector<GraphParams::Declared>>();
        std::uint64_t dispatches = 0;
        for (const Step& step : steps) {
            if (step.dispatch_ == nullptr) {
                list.push_back({nullptr, &step.transfer_});
                continue;
            }
            WYE_TRY(step.dispatch_->ready());
            list.push_back({&step.dispatch_->desc_, nullptr});
            const wye_program_description& program = step.dispatch_->info_;
            for (std::uint64_t i = 0; i < program.param_count; ++i) {
                declared->push_back({dispatches, std::string(detail::view(program.params[i].name)),
                                     std::string(detail::view(program.params[i].type))});
                values.push_back(step.dispatch_->params_[i]);
            }
            ++dispatches;
        }
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device;
        desc.steps = list.data();
        desc.step_count = list.size();
        desc.label = {label.data(), label.size()};
        wye_graph out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_graph_create(context.get(), &desc, &out, e); }));
        return Graph(std::move(context), out, GraphParams(std::move(declared), std::move(values)));
    }
    Graph(std::shared_ptr<wye_context> context, wye_graph handle, GraphParams params)
        : handle_(std::move(context), handle), params_(std::move(params)) {}
    [[nodiscard]] static wye_graph_run_desc description(std::span<const std::uint64_t> params,
                                                        const GraphRun& how) {
        wye_graph_run_desc out;
        WYE_INIT(out);
        out.params = params.data();
        out.param_count = params.size();
        out.flags = how.timed ? WYE_DISPATCH_TIMED : 0;
        out.queue = detail::handle_of(how.queue);
        out.timeout_ns = how.timeout_ns;
        return out;
    }

    detail::Handle<&wye_graph_free> handle_;
    GraphParams params_;
};

}  // namespace wye
