// SPDX-License-Identifier: Apache-2.0
#include "exec/device/queue.hpp"

#include <utility>

namespace wye::exec {

Result<void> DeviceQueue::make(const registry::DeviceRef& device) {
    WYE_ASSIGN(registry::NativeQueue native, registry::NativeQueue::create(device, "wye"));
    native_ = std::make_shared<registry::NativeQueue>(std::move(native));
    newest_ = 0;
    return {};
}

void DeviceQueue::replace(const Ticket& failed) {
    std::shared_ptr<registry::NativeQueue> old;  // destroyed without the lock
    const sdk::Lock lock(mutex);
    if (native_ == failed.queue) old = std::exchange(native_, nullptr);
}

}  // namespace wye::exec
