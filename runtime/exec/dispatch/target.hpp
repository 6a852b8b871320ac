// SPDX-License-Identifier: Apache-2.0
//
// Target: what a request runs, and where: the program and the device that it names by their
// handles, or by one pipeline. Found before all other steps, which therefore are the same for both.
// Used by one thread.
#pragma once

#include <optional>

#include "exec/device/session.hpp"
#include "exec/pipeline/pipeline.hpp"
#include "exec/program/loaded_program.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Target {
  public:
    // Borrows the request. STALE_HANDLE, WRONG_KIND, WRONG_OWNER for its handles; INVALID_ARGUMENT
    // for a request that names a pipeline and also sets what that decides.
    // Without `runs` the device may be 0, and there is no session then.
    [[nodiscard]] static Result<Target> find(const registry::HandleTable& handles,
                                             const wye_dispatch_desc& request, bool runs = true);
    // The same for a request that was found before, by its pin: its handle may be freed meanwhile.
    [[nodiscard]] static Result<Target> find_again(const registry::HandleTable& handles,
                                                   const wye_dispatch_desc& request,
                                                   registry::Pin program);
    // The pin that keeps the program of a request alive.
    [[nodiscard]] static Result<registry::Pin> pin(const registry::HandleTable& handles,
                                                   const wye_dispatch_desc& request);

    [[nodiscard]] const wye_dispatch_desc& request() const noexcept { return *request_; }
    // The request with the device and the options of its pipeline, or as it is. Valid while this
    // stays where it is.
    [[nodiscard]] const wye_dispatch_desc& desc() const noexcept {
        return completed_ ? *completed_ : *request_;
    }
    [[nodiscard]] LoadedProgram& program() const {
        return pipeline() != nullptr ? pipeline()->program() : program_.as<LoadedProgram>();
    }
    [[nodiscard]] DeviceSession& session() const {
        return pipeline() != nullptr ? pipeline()->session() : device_.as<DeviceSession>();
    }
    // Null: the request names none.
    [[nodiscard]] Pipeline* pipeline() const {
        return completed_ ? &program_.as<Pipeline>() : nullptr;
    }
    // Keeps the program alive beyond this.
    [[nodiscard]] registry::Pin take_pin() noexcept { return std::move(program_); }

  private:
    explicit Target(const wye_dispatch_desc& request) noexcept : request_(&request) {}

    const wye_dispatch_desc* request_;
    std::optional<wye_dispatch_desc> completed_;  // of a pipeline
    registry::Pin program_;                       // or the pipeline
    registry::Pin device_;                        // empty with a pipeline
};

}  // namespace wye::exec
