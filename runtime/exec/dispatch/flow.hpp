// SPDX-License-Identifier: Apache-2.0
//
// The values of one dispatch, in the order of the steps that write them. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>

#include "exec/device/public_queue.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/bind.hpp"
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

struct Flow {
    // Not an aggregate: the large arrays of a request and a launch stay uninitialised.
    explicit Flow(const Target& target, RequestRules r = {})
        : request(target.request()),
          desc(target.desc()),
          program(target.program()),
          session(target.session()),
          pipeline(target.pipeline()),
          rules(r) {}
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;
    // Saves the cache entries that no submit saved. A dispatch that was not counted has failed.
    ~Flow() {
        if (!counted) session.counters().failed();
        if (!stats.unwritten.empty()) session.save(stats);
    }

    // Called when the launch was submitted.
    void count_launch() const {
        if (pipeline != nullptr) pipeline->launched();
    }
    [[nodiscard]] bool has(std::uint32_t flag) const { return (desc.flags & flag) != 0; }
    [[nodiscard]] SubmitOptions options() const {
        return {has(WYE_DISPATCH_TIMED), queue.number()};
    }

    const wye_dispatch_desc& request;  // as the caller wrote it
    const wye_dispatch_desc& desc;     // with what its pipeline decides
    LoadedProgram& program;
    DeviceSession& session;
    Pipeline* const pipeline;  // null: none
    const RequestRules rules;
    NamedQueue queue;
    std::optional<Clock::time_point> deadline;
    bool counted = false;  // or will be, when it has ended

    Requested requested;
    Residents residents;  // resolve
    plan::Launch launch;  // admit
    route::Route route;   // route
    Kernels kernels;      // lower

    // Fits most lists of operations; larger ones are allocated.
    std::array<std::byte, 4096> storage;
    std::pmr::monotonic_buffer_resource memory{storage.data(), storage.size()};
    BoundLaunch bound{&memory};  // bind

    CompileStats stats;  // submit
    registry::InplaceList<BufferUse, WYE_LIMIT_BUFFERS> uses;
    BufferHistory chunks;  // of host arguments that move in chunks
    RunTimes times;
    Trap trap;
};

}  // namespace wye::exec
