// SPDX-License-Identifier: Apache-2.0
//
// The submit step of a dispatch, the only one that enters a driver: compiles kernels that are not
// compiled yet, marks the buffers in flight, allocates scratch for host arguments, runs the
// operations and waits for them.
#pragma once

#include <cstdint>
#include <string>

#include "exec/dispatch/flow.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Errors: COMPILE_FAILED, TIMEOUT, DEVICE_BUSY, DEVICE_LOST, the driver's; STALE_HANDLE for a
// buffer that was freed meanwhile; TRAPPED for programs that trap; LIMIT_EXCEEDED for loops that
// the driver ended.
[[nodiscard]] Result<void> submit(const registry::HandleTable& handles, Flow& flow);

// The first part of submit.
[[nodiscard]] Result<void> compile_kernels(Flow& flow);

// For a flow that is compiled, and runs without the host between its rounds: UNSUPPORTED for
// several rounds of a program that can trap.
[[nodiscard]] Result<void> check_rounds(const Flow& flow);

// The error of a dispatch of `program` that its time limit ended. `runs`: the device could not stop
// it. `first`: it was the program's first launch.
[[nodiscard]] Error timed_out(const std::string& program, const std::string& device,
                              std::uint64_t timeout_ns, bool runs, bool first);

}  // namespace wye::exec
