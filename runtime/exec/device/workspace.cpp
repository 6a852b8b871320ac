// SPDX-License-Identifier: Apache-2.0
#include "exec/device/workspace.hpp"

#include <algorithm>

namespace wye::exec {

Result<wye_buffer_object*> Workspace::trap_buffer(const registry::DeviceRef& device) {
    if (!trap_memory) {
        WYE_ASSIGN(trap_memory,
                   registry::NativeBuffer::create(device, kTrapMemory, 64, "trap words"));
    }
    return trap_memory->object();
}

WorkspaceLease WorkspacePool::take() {
    std::unique_ptr<Workspace> out;
    {
        const sdk::Lock lock(mutex_);
        if (!idle_.empty()) {
            out = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (!out) out = std::make_unique<Workspace>();
    out->operations.clear();
    out->bindings.clear();
    return {*this, std::move(out)};
}

void WorkspacePool::put(std::unique_ptr<Workspace> workspace) noexcept {
    workspace->scratch.release_all();
    std::unique_ptr<Workspace> old;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    workspace->round = ++round_;
    if (!idle_.empty() && round_ - idle_.front()->round > kKeepRounds) {
        old = std::move(idle_.front());
        idle_.erase(idle_.begin());
    }
    try {
        idle_.push_back(std::move(workspace));
    } catch (const std::exception&) {  // no memory: the workspace is freed
    }
}

bool WorkspacePool::clear() noexcept {
    std::vector<std::unique_ptr<Workspace>> idle;  // freed after the lock is released
    const sdk::Lock lock(mutex_);
    idle.swap(idle_);
    return !idle.empty();
}

}  // namespace wye::exec
