// SPDX-License-Identifier: Apache-2.0
#include "exec/device/workspace.hpp"

#include <exception>

namespace wye::exec {

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

std::uint64_t WorkspacePool::clear() noexcept {
    std::vector<std::unique_ptr<Workspace>> idle;  // freed after the lock is released
    {
        const sdk::Lock lock(mutex_);
        idle.swap(idle_);
    }
    std::uint64_t bytes = 0;
    for (const auto& workspace : idle) bytes += workspace->bytes();
    return bytes;
}

std::uint64_t WorkspacePool::idle_bytes() const noexcept {
    const sdk::Lock lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& workspace : idle_) bytes += workspace->bytes();
    return bytes;
}

}  // namespace wye::exec
