// SPDX-License-Identifier: Apache-2.0
//
// PendingCompile: makes a pipeline, or prepares a program, in the session's line. It submits no
// work, and only its own caller waits for it. If it is cancelled, or its time limit passes, it ends
// at once; a compile that has begun continues, and the compiled programs are kept for later calls.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "exec/dispatch/pending.hpp"
#include "exec/dispatch/pipeline.hpp"
#include "exec/dispatch/prepare.hpp"

namespace wye::exec {

class PendingCompile final : public Pending {
  public:
    // Makes a pipeline. Errors: those that are known before the compile; TIMEOUT if the time limit,
    // which begins at `start`, ends before there is room in the line. `kept` gets a pin, which
    // keeps the device until the pending object has a handle.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(Context& context,
                                                         const wye_pipeline_desc& desc,
                                                         Clock::time_point start,
                                                         registry::Pin& kept);
    // Prepares a program.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(Context& context, wye_program program,
                                                         wye_device device,
                                                         std::uint64_t timeout_ns,
                                                         Clock::time_point start,
                                                         registry::Pin& kept);
    PendingCompile(const Context& context, DeviceSession& session, Clock::time_point start)
        : Pending(context, session, false, false), begun_(start) {
        report_ = {};
    }

    // Returns the pipeline once it is made; later calls do not get it. NOT_FOUND: the pipeline was
    // taken already, or this object prepares a program.
    [[nodiscard]] Result<std::shared_ptr<Pipeline>> take();
    // Gives the pipeline back if the caller could not keep it.
    void give_back(std::shared_ptr<Pipeline> pipeline) noexcept;

    bool wait(std::optional<Clock::time_point> deadline) override;
    void take_turn() noexcept override;
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    [[nodiscard]] std::string what() const override;

  private:
    void unreferenced() noexcept override { delete this; }
    [[nodiscard]] Ticket ticket() override { return {}; }
    [[nodiscard]] bool withdraw(bool late) override;
    void end_without_memory() noexcept override {}
    void end(Result<void> outcome) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> compile();
    [[nodiscard]] static Result<WorkPtr<Pending>> put(WorkPtr<PendingCompile> self,
                                                      std::uint64_t timeout_ns,
                                                      Clock::time_point start);

    const Clock::time_point begun_;
    std::string name_;
    Pipeline::Begun begun_pipeline_;          // null: a program is prepared, not a pipeline
    std::shared_ptr<LoadedProgram> program_;  // the program to prepare
    std::atomic<bool> in_line_ = true;
    std::shared_ptr<Pipeline> made_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
