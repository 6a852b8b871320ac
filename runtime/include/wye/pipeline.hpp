// SPDX-License-Identifier: Apache-2.0
//
// wye::Pipeline: a program compiled once for a device, with fixed options, and dispatched many
// times.
//
//   WYE_ASSIGN(auto pipeline, wye::Pipeline::create(program, device));
//   WYE_TRY(wye::Dispatch(pipeline).input("x", x).output("r", r).run());
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "wye/pipeline.h"
#include "wye/wye.hpp"

namespace wye {

// What decides the compiled form. Dispatches through the pipeline leave these options out.
struct PipelineOptions {
    std::array<std::uint32_t, 3> workgroup = {0, 0, 0};  // override; zeros: none
    std::uint32_t ulp_budget = 0;                        // as Dispatch::ulp_budget
    bool variants = false;                               // as Dispatch::variants
    bool cooperative = false;
    std::string_view profile = {};  // of dispatches that have none
};

// Owns the handle; move-only. The program may be freed. Any thread.
class Pipeline {
  public:
    // Compiles. See wye_pipeline_create for errors.
    [[nodiscard]] static Result<Pipeline> create(const Program& program, const Device& device,
                                                 const PipelineOptions& options = {}) {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = program.get();
        desc.device = device.get();
        desc.flags = (options.variants ? WYE_DISPATCH_VARIANTS : 0) |
                     (options.cooperative ? WYE_DISPATCH_COOPERATIVE : 0);
        std::ranges::copy(options.workgroup, desc.workgroup);
        desc.ulp_budget = options.ulp_budget;
        desc.profile = detail::borrow(options.profile);
        wye_pipeline out = 0;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_pipeline_create(program.context(), &desc, &out, e); }));
        return Pipeline(program.shared_context(), out);
    }

    [[nodiscard]] wye_pipeline get() const noexcept { return handle_.get(); }
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return handle_.shared_context();
    }
    // Id, program and counts; pointers are valid while the pipeline lives.
    [[nodiscard]] Result<wye_pipeline_description> describe() const {
        wye_pipeline_description out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_pipeline_describe(context(), get(), &out, e); }));
        return out;
    }
    // Of the program, also after that was freed.
    [[nodiscard]] Result<wye_program_description> describe_program() const {
        WYE_ASSIGN(const wye_pipeline_description described, describe());
        return *described.program;
    }

  private:
    Pipeline(std::shared_ptr<wye_context> context, wye_pipeline handle)
        : handle_(std::move(context), handle) {}

    detail::Handle<&wye_pipeline_free> handle_;
};

inline Dispatch::Dispatch(const Pipeline& pipeline)
    : Dispatch(pipeline.shared_context(), pipeline.describe_program()) {
    desc_.pipeline = pipeline.get();
}

}  // namespace wye
