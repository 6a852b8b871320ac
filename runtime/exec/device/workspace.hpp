// SPDX-License-Identifier: Apache-2.0
//
// Workspace: the memory that one dispatch needs besides its arguments: device memory for host
// arguments, trap words and lists of operations. A session reuses workspaces, so that a steady
// stream of dispatches allocates nothing. A workspace is used by one dispatch at a time, from
// before its submit until its work has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/device/grid_check.hpp"
#include "exec/device/scratch.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Workspace {
    // The bytes of the device memory of this workspace.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return scratch.bytes() + trap_hold.bytes();
    }

    ScratchPool scratch;
    std::vector<wye_operation> operations;
    std::vector<wye_binding> bindings;
    std::vector<wye_operation> recorded;  // empty; keeps memory for the operations of recordings
    // The host's copy of the part of the trap memory that is read back.
    alignas(8) std::uint32_t trap_words[kCheckedBytes / sizeof(std::uint32_t)] = {};
    // The device memory of the trap words, made at first use, and freed before its hold.
    MemoryHold trap_hold;
    std::optional<registry::NativeBuffer> trap_memory;
    GridCheckMemory grid_check;
    std::uint64_t round = 0;  // the pool's round when the workspace was given back
};

class WorkspacePool;

// Owns a workspace and returns it to its pool when destroyed. Move-only.
class WorkspaceLease {
  public:
    WorkspaceLease() = default;
    WorkspaceLease(WorkspacePool& pool, std::unique_ptr<Workspace> workspace) noexcept
        : pool_(&pool), workspace_(std::move(workspace)) {}
    WorkspaceLease(WorkspaceLease&&) noexcept = default;
    WorkspaceLease& operator=(WorkspaceLease&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(workspace_, other.workspace_);
        return *this;
    }
    ~WorkspaceLease() { release(); }
    void release() noexcept;

    explicit operator bool() const noexcept { return workspace_ != nullptr; }
    [[nodiscard]] Workspace& operator*() const noexcept { return *workspace_; }
    [[nodiscard]] Workspace* operator->() const noexcept { return workspace_.get(); }

  private:
    WorkspacePool* pool_ = nullptr;
    std::unique_ptr<Workspace> workspace_;
};

// The idle workspaces of a session. Free-threaded.
class WorkspacePool {
  public:
    // Returns the workspace that was given back last, with empty lists, or a new one.
    [[nodiscard]] WorkspaceLease take();
    // Frees all idle workspaces. Returns the bytes of their device memory.
    std::uint64_t clear() noexcept;
    // The bytes that `clear` would return.
    [[nodiscard]] std::uint64_t idle_bytes() const noexcept;

  private:
    friend class WorkspaceLease;
    void put(std::unique_ptr<Workspace> workspace) noexcept;

    // An idle workspace is freed after this many dispatches that did not need it.
    static constexpr std::uint64_t kKeepRounds = 64;
    mutable sdk::Mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_ WYE_GUARDED_BY(mutex_);  // the oldest first
    std::uint64_t round_ WYE_GUARDED_BY(mutex_) = 0;
};

inline void WorkspaceLease::release() noexcept {
    if (workspace_) pool_->put(std::move(workspace_));
}

}  // namespace wye::exec
