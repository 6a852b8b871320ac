// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a launch: one, or with grid barriers one for each phase. Owns the phases'
// parameter blocks and shares their compiled forms. Belongs to one dispatch.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/device/session.hpp"
#include "exec/dispatch/bind.hpp"
#include "exec/program/program_object.hpp"
#include "plan/launch.hpp"

namespace wye::exec {

class Steps {
  public:
    // Lowers and compiles what is not yet. Errors: those of plan::phases, and of
    // DeviceSession::prepared.
    [[nodiscard]] Result<void> split(ProgramObject& program, DeviceSession& session,
                                     const PreparedKey& key, const plan::Launch& launch,
                                     std::optional<Clock::time_point> deadline,
                                     PrepareStats& stats);
    // Allocates nothing.
    void whole(Prepared& prepared, const plan::Launch& launch) {
        one_ = {&prepared, launch.params};
    }

    [[nodiscard]] std::span<const Step> steps() const {
        return one_.prepared != nullptr ? std::span<const Step>(&one_, 1) : steps_;
    }
    [[nodiscard]] bool is_whole() const { return one_.prepared != nullptr; }
    // Has every form run before?
    [[nodiscard]] bool warm() const;
    void set_warm();
    // All compiled forms of a split, as one reference to keep; null for a launch without phases.
    [[nodiscard]] PreparedRef kept() const;

  private:
    Step one_ = {nullptr, nullptr};
    std::vector<Step> steps_;
    std::vector<std::uint64_t> params_;
    std::shared_ptr<std::vector<PreparedRef>> prepared_;
};

}  // namespace wye::exec
