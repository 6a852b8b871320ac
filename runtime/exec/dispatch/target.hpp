// SPDX-License-Identifier: Apache-2.0
//
// Target: the program and the device of a request. The request names both by their handles, or by
// one pipeline; or it names only the program, and the device is the one that owns its resident
// buffers or its queue. The target is found before all other steps, so the other steps need not
// distinguish these cases. A request without a device, buffers and queue has no device until its
// sizes are known and a device is chosen (choose.hpp). Used by one thread.
#pragma once

#include <optional>

#include "exec/device/session.hpp"
#include "exec/dispatch/pipeline.hpp"
#include "exec/program/loaded_program.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

class Target {
  public:
    // Finds the target of a request. The target borrows the request. Errors: STALE_HANDLE,
    // WRONG_KIND, WRONG_OWNER for its handles; INVALID_ARGUMENT if it names a pipeline and also
    // sets options that the pipeline decides. If `runs` is false and the request names no device,
    // the device stays unknown.
    [[nodiscard]] static Result<Target> find(const registry::HandleTable& handles,
                                             const wye_dispatch_desc& request, bool runs = true);
    // Like `find`, with a pin taken earlier: the program's handle may have been freed since.
    [[nodiscard]] static Result<Target> find_again(const registry::HandleTable& handles,
                                                   const wye_dispatch_desc& request,
                                                   registry::Pin program);
    // The pin that keeps the program of a request alive.
    [[nodiscard]] static Result<registry::Pin> pin(const registry::HandleTable& handles,
                                                   const wye_dispatch_desc& request);

    [[nodiscard]] const wye_dispatch_desc& request() const noexcept { return *request_; }
    // The request, completed with the options and the device of its pipeline if it names a
    // pipeline. The reference is valid until this object moves.
    [[nodiscard]] const wye_dispatch_desc& desc() const noexcept {
        return completed_ ? *completed_ : *request_;
    }
    [[nodiscard]] LoadedProgram& program() const {
        return pipeline() != nullptr ? pipeline()->program() : program_.as<LoadedProgram>();
    }
    [[nodiscard]] bool has_device() const noexcept { return completed_ || device_; }
    [[nodiscard]] DeviceSession& session() const {
        return pipeline() != nullptr ? pipeline()->session() : device_.as<DeviceSession>();
    }
    // Call this only if `has_device`.
    [[nodiscard]] Routed routed() const {
        if (pipeline() != nullptr) return pipeline()->routed();
        return {device_.handle(), request_->device != 0 ? WYE_ROUTED_NAMED : WYE_ROUTED_OWNER, 0};
    }
    // Null: the request names no pipeline.
    [[nodiscard]] Pipeline* pipeline() const {
        return completed_ ? &program_.as<Pipeline>() : nullptr;
    }
    // Takes the device that was chosen for a request that names none, and keeps it.
    void take_device(registry::Pin device) noexcept { device_ = std::move(device); }
    // Moves the pin out, to keep the program alive longer than this object.
    [[nodiscard]] registry::Pin take_pin() noexcept { return std::move(program_); }
    // Takes another pin of the program or the pipeline, for work in flight. `take_pin` does not
    // suit: this object must keep the device alive until the work has a handle, and needs the pin
    // of a pipeline for that. Empty: there are too many pins already.
    [[nodiscard]] registry::Pin pin_again(const registry::HandleTable& handles) const;

  private:
    // The target of a request without a device or a pipeline.
    [[nodiscard, gnu::cold]] static Result<Target> find_owner(const registry::HandleTable& handles,
                                                              const wye_dispatch_desc& request,
                                                              registry::Pin program);
    explicit Target(const wye_dispatch_desc& request) noexcept : request_(&request) {}

    const wye_dispatch_desc* request_;
    std::optional<wye_dispatch_desc> completed_;  // set if the request names a pipeline
    registry::Pin program_;                       // of the program, or of the pipeline
    registry::Pin device_;                        // empty with a pipeline
};

}  // namespace wye::exec
