// SPDX-License-Identifier: Apache-2.0
//
// Makes the queue operations of a bound launch. Assigns device memory to each buffer and a compiled
// program to each dispatch. Adds operations that clear the trap words before the dispatches and
// read them afterwards, and an operation that checks a grid in a buffer. Allocates scratch memory;
// submits nothing.
#pragma once

#include <cstddef>
#include <span>

#include "exec/device/session.hpp"
#include "exec/dispatch/bind.hpp"
#include "exec/dispatch/resolve.hpp"

namespace wye::exec {

// The operations of a launch. Borrows the workspace and the launch.
struct Operations {
    std::span<const wye_operation> all;
    std::size_t launch = 0;     // index of the first operation after the uploads
    std::size_t fills = 0;      // number of operations from `launch` on, before the first dispatch
    std::size_t read_back = 0;  // index of the first read-back
    bool traps = false;         // the operations write the workspace's trap words
    bool by_iteration = false;  // the operations cover only one iteration
    bool moves = false;         // resident ranges are copied to scratch and back

    [[nodiscard]] std::span<const wye_operation> uploads() const { return all.first(launch); }
    [[nodiscard]] std::span<const wye_operation> launches() const {
        return all.subspan(launch, read_back - launch);
    }
    // The operations to submit again for the next iteration, if `by_iteration` is set.
    [[nodiscard]] std::span<const wye_operation> next_iteration() const {
        return launches().subspan(fills);
    }
    [[nodiscard]] std::span<const wye_operation> read_backs() const {
        return all.subspan(read_back);
    }
};

// Replaces transfers of registered bytes by copies on the device.
void copy_registered(Operations& operations, Workspace& workspace, RegisteredTransfers& registered);

// `kernels` must be compiled. `number`: the dispatch's index in its graph, for the error of a
// refused grid.
[[nodiscard]] Result<Operations> write_operations(const plan::ProgramPlan& plan,
                                                  const plan::Launch& launch,
                                                  const BoundLaunch& bound, const Kernels& kernels,
                                                  const Residents& residents,
                                                  DeviceSession& session, Workspace& workspace,
                                                  std::uint32_t number = 0);

}  // namespace wye::exec
