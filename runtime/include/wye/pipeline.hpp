// SPDX-License-Identifier: Apache-2.0
//
// wye::Pipeline: a program compiled once for a device, with fixed options, and dispatched many
// times.
//
//   WYE_ASSIGN(auto pipeline, wye::Pipeline::create(program, device));
//   WYE_TRY(wye::Dispatch(pipeline).input("x", x).output("r", r).run());
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wye/pipeline.h"
#include "wye/wye.hpp"

namespace wye {

// The options that decide the compiled form. Dispatches through the pipeline do not set them.
struct PipelineOptions {
    std::array<std::uint32_t, 3> workgroup = {0, 0, 0};  // override; zeros: none
    std::uint32_t ulp_budget = 0;                        // as Dispatch::ulp_budget
    bool variants = false;                               // as Dispatch::variants
    bool cooperative = false;                            // as Dispatch::cooperative
    std::string_view profile = {};                       // for dispatches that name none
    // The expected fingerprints, 32 hex digits; empty: any. See wye_pipeline_desc.
    std::string_view layout_fingerprint = {};
    std::string_view backend_layout_fingerprint = {};
    std::uint64_t timeout_ns = 0;  // the time limit of the compile; 0: none
};

// The result of a batch, which stops at the first item that fails.
struct BatchResult {
    std::uint64_t completed = 0;  // items before the first that failed
    std::optional<Error> error;   // of the failed item, names its index; empty: none failed
    wye_report report = {};       // of the whole batch, unless it failed; see wye_pipeline_batch
};

// A compiled pipeline. Move-only; any thread. Its Program may be destroyed before it.
class Pipeline {
  public:
    // Compiles. See wye_pipeline_create for errors.
    [[nodiscard]] static Result<Pipeline> create(const Program& program, const Device& device,
                                                 const PipelineOptions& options = {}) {
        return create(program, device.get(), options);
    }
    // As above, for a device that the library chooses: see wye/device.h.
    [[nodiscard]] static Result<Pipeline> create(const Program& program,
                                                 const PipelineOptions& options = {}) {
        return create(program, wye_device{0}, options);
    }

    // Like `create`, but does not wait for the compile: see wye_pipeline_create_submit. `take` gets
    // the pipeline from the returned Pending. Without a device the library chooses one.
    [[nodiscard]] static Result<Pending> create_submit(const Program& program, const Device& device,
                                                       const PipelineOptions& options = {}) {
        return create_submit(program, device.get(), options);
    }
    // As above, for a device that the library chooses.
    [[nodiscard]] static Result<Pending> create_submit(const Program& program,
                                                       const PipelineOptions& options = {}) {
        return create_submit(program, wye_device{0}, options);
    }
    // Takes the pipeline that create_submit made, after its compile has ended. Works only once.
    [[nodiscard]] static Result<Pipeline> take(const Pending& pending) {
        wye_pipeline out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_pending_pipeline(pending.context(), pending.get(), &out, e);
        }));
        return Pipeline(pending.shared_context(), out);
    }

    // The handle of the C API.
    [[nodiscard]] wye_pipeline get() const noexcept { return handle_.get(); }
    // The context that it belongs to.
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }
    // The same context, by a pointer that keeps it alive.
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return handle_.shared_context();
    }
    // Id, program and counts; pointers are valid while the pipeline lives; not callable on a
    // temporary.
    [[nodiscard]] Result<wye_pipeline_description> describe() const& {
        wye_pipeline_description out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_pipeline_describe(context(), get(), &out, e); }));
        return out;
    }
    Result<wye_pipeline_description> describe() const&& = delete;
    // Describes the program, even after the Program was destroyed. Pointers are valid while the
    // pipeline lives; not callable on a temporary.
    [[nodiscard]] Result<wye_program_description> describe_program() const& {
        WYE_ASSIGN(const wye_pipeline_description described, describe());
        return *described.program;
    }
    Result<wye_program_description> describe_program() const&& = delete;

    // Runs dispatches through this pipeline without waiting between them; see wye_pipeline_batch.
    // Here and below, `timeout_ns` is the time limit of the whole batch; 0: none.
    [[nodiscard]] BatchResult batch(std::span<Dispatch* const> items,
                                    std::uint64_t timeout_ns = 0) const {
        Listed listed(*this, items);
        listed.desc.timeout_ns = timeout_ns;
        BatchResult out = listed.result();
        if (listed.desc.item_count == 0 && out.error) return out;
        set(out, [&](wye_error** e) {
            return wye_pipeline_batch(context(), &listed.desc, &out.completed, &out.report, e);
        });
        return out;
    }
    // Like `batch`, but outputs without an argument go to slots: one OutputSlots for each item.
    [[nodiscard]] BatchResult batch_into(std::span<Dispatch* const> items,
                                         std::span<OutputSlots> slots,
                                         std::uint64_t timeout_ns = 0) const {
        std::vector<std::vector<Pending::Output>> owned;
        std::optional<Error> error;
        for (std::size_t i = 0; i < items.size() && !error; ++i) {
            auto pointed = i < slots.size()
                               ? items[i]->point_at(slots[i])
                               : Error(Code::INVALID_ARGUMENT, "it has no slots for its outputs",
                                       "Fix: pass one OutputSlots for each item");
            if (pointed.ok())
                owned.push_back(*std::move(pointed));
            else
                error = about(std::move(pointed).error(), i);
        }
        BatchResult out;
        if (!owned.empty() || !error) out = batch(items.first(owned.size()), timeout_ns);
        if (!out.error) out.error = std::move(error);
        for (std::size_t i = 0; i < owned.size(); ++i) items[i]->point_nowhere(owned[i]);
        return out;
    }
    // Like `batch`, but `outputs` receives and owns the outputs of each completed item.
    [[nodiscard]] BatchResult batch_owned(std::span<Dispatch* const> items,
                                          std::vector<Outputs>& outputs,
                                          std::uint64_t timeout_ns = 0) const {
        std::vector<std::vector<Pending::Output>> owned;
        for (Dispatch* item : items) owned.push_back(item->own_outputs());
        Listed listed(*this, items);
        listed.desc.timeout_ns = timeout_ns;
        BatchResult out = listed.result();
        if (listed.desc.item_count == 0 && out.error) return out;
        std::vector<wye_pending> owners(items.size());
        set(out, [&](wye_error** e) {
            return wye_pipeline_batch_owned(context(), &listed.desc, owners.data(), &out.completed,
                                            &out.report, e);
        });
        for (std::size_t i = 0; i < out.completed; ++i) {
            Pending pending(shared_context(), owners[i], std::move(owned[i]));
            const auto report = pending.wait();
            outputs.emplace_back(std::move(pending), report.ok() ? *report : wye_report{});
        }
        return out;
    }
    // Runs a batch whose items are rows of buffers: see wye_pipeline_rows. `dispatch` has the
    // parameters and options of all rows. `outputs` gets the output buffers of each completed row.
    [[nodiscard]] BatchResult rows(Dispatch& dispatch, std::span<const Buffer* const> buffers,
                                   std::vector<const Buffer*>* outputs = nullptr,
                                   std::uint64_t timeout_ns = 0) const {
        BatchResult out;
        WYE_INIT(out.report);
        const auto described = describe();
        const auto ready = described.ok() ? dispatch.ready() : Result<void>(described.error());
        if (!ready.ok()) {
            out.error = ready.error();
            return out;
        }
        wye_rows_desc desc;
        WYE_INIT(desc);
        desc.pipeline = get();
        desc.dispatch = &dispatch.desc_;
        desc.timeout_ns = timeout_ns;
        desc.row_size = described->bindings;
        desc.row_count = buffers.size() / std::max(described->bindings, 1U);
        if (desc.row_count * desc.row_size != buffers.size()) {
            out.error = Error(Code::INVALID_ARGUMENT,
                              std::to_string(buffers.size()) + " buffers are not whole rows of " +
                                  std::to_string(desc.row_size),
                              "Fix: give all buffers except `shared` ones, for each row");
            return out;
        }
        std::vector<wye_buffer> handles;
        for (const Buffer* buffer : buffers) handles.push_back(buffer->get());
        std::vector<wye_buffer> in_outputs(desc.row_count * described->outputs);
        desc.buffers = handles.data();
        desc.outputs = in_outputs.data();
        set(out, [&](wye_error** e) {
            return wye_pipeline_rows(context(), &desc, &out.completed, &out.report, e);
        });
        in_outputs.resize(out.completed * described->outputs);
        for (std::size_t i = 0; outputs != nullptr && i < in_outputs.size(); ++i)
            outputs->push_back(*std::ranges::find(buffers, in_outputs[i], &Buffer::get));
        return out;
    }

  private:
    [[nodiscard]] static Result<Pipeline> create(const Program& program, wye_device device,
                                                 const PipelineOptions& options) {
        const wye_pipeline_desc desc = description(program, device, options);
        wye_pipeline out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_pipeline_create(program.context(), &desc, &out, e); }));
        return Pipeline(program.shared_context(), out);
    }
    [[nodiscard]] static Result<Pending> create_submit(const Program& program, wye_device device,
                                                       const PipelineOptions& options) {
        const wye_pipeline_desc desc = description(program, device, options);
        wye_pending out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_pipeline_create_submit(program.context(), &desc, &out, e);
        }));
        return Pending(program.shared_context(), out, {});
    }
    // Borrows the options.
    [[nodiscard]] static wye_pipeline_desc description(const Program& program, wye_device device,
                                                       const PipelineOptions& options) {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = program.get();
        desc.device = device;
        desc.flags = (options.variants ? WYE_DISPATCH_VARIANTS : 0) |
                     (options.cooperative ? WYE_DISPATCH_COOPERATIVE : 0);
        std::ranges::copy(options.workgroup, desc.workgroup);
        desc.ulp_budget = options.ulp_budget;
        desc.profile = detail::borrow(options.profile);
        desc.layout_fingerprint = detail::borrow(options.layout_fingerprint);
        desc.backend_layout_fingerprint = detail::borrow(options.backend_layout_fingerprint);
        desc.timeout_ns = options.timeout_ns;
        return desc;
    }
    [[nodiscard]] static Error about(Error error, std::size_t item) {
        error.message = "item " + std::to_string(item) + " of the batch: " + error.message;
        return error;
    }
    // Pointers to the descriptions of dispatches up to the first that is not ready.
    struct Listed {
        Listed(const Pipeline& pipeline, std::span<Dispatch* const> items) {
            WYE_INIT(desc);
            const wye_dispatch_desc** all = few_.data();
            if (items.size() > few_.size()) {
                many_.resize(items.size());
                all = many_.data();
            }
            const Dispatch* before = nullptr;  // the item before, which is ready
            for (std::size_t i = 0; i < items.size() && !error; ++i) {
                if (items[i] != before) {
                    if (auto ready = items[i]->ready(); !ready.ok()) {
                        error = about(std::move(ready).error(), i);
                        break;
                    }
                    before = items[i];
                }
                all[desc.item_count++] = &before->desc_;
            }
            desc.pipeline = pipeline.get();
            desc.flags = WYE_BATCH_POINTERS;
            desc.pointers = all;
        }
        Listed(const Listed&) = delete;
        Listed& operator=(const Listed&) = delete;
        [[nodiscard]] BatchResult result() const {
            BatchResult out;
            out.error = error;
            WYE_INIT(out.report);
            return out;
        }
        std::optional<Error> error;
        wye_batch_desc desc;

      private:
        // The pointers of up to 1024 items are on the stack (8 KiB); more items allocate memory.
        static constexpr std::size_t kFew = 1024;
        std::array<const wye_dispatch_desc*, kFew> few_;
        std::vector<const wye_dispatch_desc*> many_;
    };
    // An error of the call replaces that of Listed: the call has only the items before the first
    // that is not ready.
    template <typename Function>
    static void set(BatchResult& out, Function&& function) {
        auto called = detail::call(function);
        if (!called.ok()) out.error = std::move(called).error();
    }
    Pipeline(std::shared_ptr<wye_context> context, wye_pipeline handle)
        : handle_(std::move(context), handle) {}

    detail::Handle<&wye_pipeline_free> handle_;
};

inline Dispatch::Dispatch(const Pipeline& pipeline)
    : Dispatch(pipeline.shared_context(), pipeline.describe_program()) {
    desc_.pipeline = pipeline.get();
}

}  // namespace wye
