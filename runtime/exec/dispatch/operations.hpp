// SPDX-License-Identifier: Apache-2.0
//
// Makes the queue operations of a bound launch: each buffer gets its device memory, each dispatch
// its compiled program, and the trap words are cleared before and read after the dispatches.
// Allocates scratch; submits nothing.
#pragma once

#include <cstddef>
#include <span>

#include "exec/device/session.hpp"
#include "exec/dispatch/bind.hpp"
#include "exec/dispatch/resolve.hpp"

namespace wye::exec {

// Borrowed from the workspace and the launch.
struct Operations {
    std::span<const wye_operation> all;
    std::size_t launch = 0;     // index of the first operation after the uploads
    std::size_t fills = 0;      // from there on, before the first dispatch
    std::size_t read_back = 0;  // index of the first read-back
    bool traps = false;         // the workspace's trap words are written

    [[nodiscard]] std::span<const wye_operation> uploads() const { return all.first(launch); }
    [[nodiscard]] std::span<const wye_operation> launches() const {
        return all.subspan(launch, read_back - launch);
    }
    // With traps the operations have one round of a launch: this again is the next one.
    [[nodiscard]] std::span<const wye_operation> next_round() const {
        return launches().subspan(fills);
    }
    [[nodiscard]] std::span<const wye_operation> read_backs() const {
        return all.subspan(read_back);
    }
};

// Puts copies in the place of transfers of registered bytes.
void copy_registered(Operations& operations, Workspace& workspace, RegisteredTransfers& registered);

// `kernels` must be compiled.
[[nodiscard]] Result<Operations> write_operations(const plan::ProgramPlan& plan,
                                                  const plan::Launch& launch,
                                                  const BoundLaunch& bound, const Kernels& kernels,
                                                  const Residents& residents,
                                                  DeviceSession& session, Workspace& workspace);

}  // namespace wye::exec
