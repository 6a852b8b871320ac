// SPDX-License-Identifier: Apache-2.0
//
// The part of DeviceSession that prepares a device and checks whether it is lost or idle.
#include <fmt/format.h>

#include "exec/device/session.hpp"
#include "registry/open/process_state.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {

Result<void> DeviceSession::prepare() {
    WYE_TRY(ready());
    const registry::ProcessStateGuard guard(!device_->built_in());
    auto prepared = device_->prepare();
    if (!prepared.ok()) return noted(std::move(prepared).error());
    // A minimal piece of work makes a queue, and triggers the set-up that the driver postpones to
    // the first submit.
    constexpr std::uint64_t kBytes = 64;
    const WorkspaceLease workspace = workspaces_.take();
    WYE_ASSIGN(wye_buffer_object* const memory, scratch(*workspace, kBytes, kBytes));
    wye_operation fill = sdk::new_operation(WYE_OPERATION_FILL);
    fill.u.fill = {memory, 0, kBytes, 0, 4, 0};
    return run({&fill, 1}, {});
}

bool DeviceSession::ask_lost() {
    if (!lost() && device_->lost())
        (void)noted(Error(Code::DEVICE_LOST, fmt::format("{} reports its loss", info().selector),
                          "Fix: open the device again", info().selector));
    return lost();
}

Result<void> DeviceSession::check_idle() {
    bool idle = pending_.collect();
    collect();
    // The line is asked first: a compile becomes overdue before its turn in the line ends.
    idle = idle && (special_.load(std::memory_order_acquire) & kHasAbandoned) == 0 &&
           line_.is_idle() && !overdue();
    {
        const sdk::Lock lock(queues_.mutex);
        idle = idle && queues_.is_idle();
    }
    if (idle) return {};
    return Error(Code::DEVICE_BUSY, fmt::format("{} still has work pending", info().selector),
                 "Fix: wait for it with wye_device_flush, then close the device", info().selector);
}

}  // namespace wye::exec
