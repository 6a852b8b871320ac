// SPDX-License-Identifier: Apache-2.0
//
// The submit step of a dispatch, the only one that calls the driver: compiles kernels that are not
// compiled yet, marks the buffers in flight, allocates scratch memory for host arguments, submits
// the operations and waits for them.
#pragma once

#include <cstdint>
#include <string>

#include "exec/dispatch/flow.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Errors: COMPILE_FAILED, TIMEOUT, DEVICE_BUSY, DEVICE_LOST, errors of the driver; STALE_HANDLE for
// a buffer that was freed meanwhile; TRAPPED if the program trapped; LIMIT_EXCEEDED if the driver
// ended a loop.
[[nodiscard]] Result<void> submit(const registry::HandleTable& handles, Flow& flow);

// The first part of submit: compiles the kernels. Splits a cooperative launch with grid barriers,
// and binds it again, unless the driver says that all of its workgroups run at once.
[[nodiscard]] Result<void> compile_kernels(Flow& flow);
// Like `compile_kernels`, but compiles nothing. False: a kernel is not in memory, so the flow must
// not be submitted.
[[nodiscard]] Result<bool> find_kernels(Flow& flow);

// Finds registered memory among the host arguments.
void find_registered(const registry::HandleTable& handles, const Flow& flow,
                     RegisteredTransfers& out);

// Whether the host must check for traps between the iterations of a compiled flow.
[[nodiscard]] inline bool stops_between_iterations(const Flow& flow) {
    return flow.launch.iterations > 1 && flow.kernels.traps();
}

// The error of work (`what`: "dispatch of `name`", `subject`: "name") that exceeded its time limit.
// `runs`: the device could not stop the work. `first`: the work was the program's first launch.
[[nodiscard]] Error timed_out(const std::string& what, const std::string& subject,
                              const std::string& device, std::uint64_t timeout_ns, bool runs,
                              bool first);

}  // namespace wye::exec
