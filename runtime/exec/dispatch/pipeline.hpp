// SPDX-License-Identifier: Apache-2.0
//
// Pipeline: a program compiled for one device with fixed options. A dispatch that names a pipeline
// takes the same steps as any other dispatch; the pipeline supplies the program, the device and the
// options.
//
// A request names its pipeline in a member; there are no separate pipeline functions. So every way
// to dispatch (into the caller's storage, owned, submitted, recorded in a graph, asked for its
// sizes) supports pipelines and behaves as a plain dispatch. As in other APIs, the options that
// decide what is compiled are given when the pipeline is created; a dispatch does not repeat them.
//
// A pipeline keeps its program alive, but not the program's handle. Free-threaded. The session
// outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/prepare.hpp"
#include "exec/program/loaded_program.hpp"
#include "wye/pipeline.h"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class Pipeline {
  public:
    // Makes and compiles a pipeline. Errors: those of `compile_ahead`, those of a dispatch about
    // options, and TIMEOUT. `device` gets a pin, which keeps the device until the pipeline has a
    // handle.
    [[nodiscard]] static Result<std::shared_ptr<Pipeline>> create(Context& context,
                                                                  const wye_pipeline_desc& desc,
                                                                  registry::Pin& device);
    // The two parts of `create`: `begin` makes a pipeline that nobody may use yet, and `compile`
    // compiles it.
    struct Begun {
        std::shared_ptr<Pipeline> pipeline;
        CompileOptions options;
        std::string layout;  // the expected backend_layout_fingerprint; empty: any
    };
    [[nodiscard]] static Result<Begun> begin(Context& context, const wye_pipeline_desc& desc,
                                             registry::Pin& device);
    // Compiles the pipeline that `begin` made. Adds to `stats`.
    [[nodiscard]] Result<void> compile(const Context& context, const Begun& begun,
                                       CompileStats& stats,
                                       std::optional<Clock::time_point> deadline = {});
    Pipeline(std::shared_ptr<LoadedProgram> program, DeviceSession& session, const Routed& routed,
             const wye_pipeline_desc& desc);
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] LoadedProgram& program() const noexcept { return *program_; }
    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] const Routed& routed() const noexcept { return routed_; }
    // Returns a request for this pipeline with the pipeline's device and options filled in.
    [[nodiscard]] wye_dispatch_desc complete(const wye_dispatch_desc& request) const;

    // Called when a launch was submitted.
    void launched(std::uint64_t count = 1) noexcept {
        launches_.fetch_add(count, std::memory_order_relaxed);
    }
    // Whether a compiled form can trap; true if no form is known.
    [[nodiscard]] bool may_trap() const noexcept { return may_trap_; }
    // Called when `forms` compiled forms were found or made.
    void looked_up(std::uint64_t forms, const CompileStats& stats) noexcept;
    // Fills all members except the header.
    void describe(wye_pipeline_description& out) const;

  private:
    [[nodiscard]] Result<void> set_form(const CompiledProgram& form);

    // A shared pointer and not a pin, because the number of pins of a handle is limited: there is
    // room for the pins of concurrent calls, but not for those of any number of pipelines.
    const std::shared_ptr<LoadedProgram> program_;
    DeviceSession& session_;
    const Routed routed_;
    const wye_pipeline_desc options_;  // without strings
    const std::string id_, profile_;
    bool may_trap_ = true;
    // The backend layout; immutable after `create`.
    std::vector<wye_layout_slot> slots_;
    wye_program_info driver_says_{};  // the driver's figures for the form of `slots_`
    std::string layout_;              // the layout's fingerprint
    std::atomic<std::uint64_t> launches_ = 0;
    std::atomic<std::uint64_t> memory_hits_ = 0, memory_misses_ = 0, disk_hits_ = 0,
                               disk_misses_ = 0;
};

}  // namespace wye::exec
