// SPDX-License-Identifier: Apache-2.0
//
// The submit step of a dispatch, the only one that enters a driver: compiles what is not compiled
// yet, takes the queue, marks the buffers in flight, gives host arguments their scratch, runs the
// operations and waits for them.
#pragma once

#include "exec/dispatch/flow.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// COMPILE_FAILED, TIMEOUT, DEVICE_BUSY, DEVICE_LOST, what the driver says; STALE_HANDLE for a
// buffer that was freed meanwhile; TRAPPED and LIMIT_EXCEEDED for programs that trap and for loops
// that the driver ended.
[[nodiscard]] Result<void> submit(const registry::HandleTable& handles, Flow& flow);

}  // namespace wye::exec
