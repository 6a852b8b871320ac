// SPDX-License-Identifier: Apache-2.0
//
// Flow: the state of one dispatch, in the order of the steps that write it. A comment such as
// "route" names the step that writes a member. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>

#include "exec/device/public_queue.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/bind.hpp"
#include "exec/dispatch/choose.hpp"
#include "exec/dispatch/lower.hpp"
#include "exec/dispatch/request.hpp"
#include "exec/dispatch/resolve.hpp"
#include "exec/dispatch/target.hpp"
#include "exec/dispatch/traps.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "route/route.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct Flow;
struct Operations;
// A function that keeps the operations of a submitted launch, for equal later requests.
using Keep = void (*)(const Flow& flow, const Operations& operations);

struct Flow {
    // A constructor instead of aggregate initialisation, so that the large arrays of a request and
    // a launch stay uninitialised.
    explicit Flow(Target& found, RequestRules r = {})
        : target(found),
          request(target.request()),
          desc(target.desc()),
          program(target.program()),
          pipeline(target.pipeline()),
          rules(r) {
        if (!target.has_device()) return;
        routed = target.routed();
        session_ = &target.session();
    }
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;
    // Counts the dispatch as failed if it was not counted before. Saves cache entries that were not
    // saved before.
    ~Flow() {
        if (session_ == nullptr) return;
        if (!counted) session_->counters().failed();
        if (!stats.unwritten.empty()) session_->save(stats);
    }

    // Without a device, only the steps up to the choice of a device may run.
    [[nodiscard]] bool has_device() const noexcept { return session_ != nullptr; }
    [[nodiscard]] DeviceSession& session() const noexcept { return *session_; }
    // Sets the chosen device of a request that names none.
    void take(Chosen chosen) {
        routed = chosen.routed;
        target.take_device(std::move(chosen.device));
        session_ = &target.session();
    }

    // Called after the launch was submitted.
    void keep_operations(const Operations& operations) const {
        if (keep != nullptr) keep(*this, operations);
    }
    void count_launch() const {
        if (pipeline != nullptr) pipeline->launched();
    }
    [[nodiscard]] bool has(std::uint32_t flag) const { return (desc.flags & flag) != 0; }
    [[nodiscard]] SubmitOptions options() const {
        return SubmitOptions(has(WYE_DISPATCH_TIMED), queue.number())
            .waiting(has(WYE_DISPATCH_AT_ONCE), deadline);
    }

    Target& target;                    // keeps the program and the device
    const wye_dispatch_desc& request;  // as the caller wrote it
    // The request completed with the pipeline's program, device and options.
    const wye_dispatch_desc& desc;
    LoadedProgram& program;
    Pipeline* const pipeline;  // null: none
    const RequestRules rules;
    Routed routed;
    NamedQueue queue;
    std::optional<Clock::time_point> deadline;
    Keep keep = nullptr;   // null: nothing is kept
    bool counted = false;  // the dispatch was counted, or will be at its end

    Requested requested;
    Residents residents;  // resolve
    plan::Launch launch;  // admit
    route::Route route;   // route
    Kernels kernels;      // lower

    // Memory for the list of operations. Most lists fit; larger lists are allocated.
    std::array<std::byte, 4096> storage;
    std::pmr::monotonic_buffer_resource memory{storage.data(), storage.size()};
    BoundLaunch bound{&memory};  // bind

    CompileStats stats;  // submit
    BufferUses uses;
    BufferHistory chunks;  // orders the chunks of host arguments
    RunTimes times;
    Trap trap;

  private:
    DeviceSession* session_ = nullptr;
};

}  // namespace wye::exec
