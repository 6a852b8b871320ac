// SPDX-License-Identifier: Apache-2.0
//
// Device memory that a context and its devices hold, and the limits on it. Memory is reserved
// before a driver is asked for it, and given back after the driver has freed it, so the sum never
// exceeds a limit, whatever the number of threads.
//
// ContextMemory: the sums and limits of a context. MemoryHold: a reservation of memory, which its
// destructor gives back. HeldBuffer: a native buffer with its reservation. All but HeldBuffer are
// free-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class ContextMemory;
class DeviceSession;

enum class MemoryUse : std::uint8_t {
    Buffer,  // of the application
    Scratch
};

// What a device holds, in bytes. Guarded by the lock of its ContextMemory.
struct MemoryAccount {
    std::uint64_t limit = 0;  // on buffers and scratch together; 0: none
    std::uint64_t buffers = 0, scratch = 0;
};

// Reserved memory of a device, or none. Move-only.
class MemoryHold {
  public:
    MemoryHold() = default;
    MemoryHold(MemoryHold&& other) noexcept { *this = std::move(other); }
    MemoryHold& operator=(MemoryHold&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(account_, other.account_);
        std::swap(bytes_, other.bytes_);
        std::swap(use_, other.use_);
        return *this;
    }
    ~MemoryHold();

    explicit operator bool() const noexcept { return memory_ != nullptr; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    friend class ContextMemory;
    ContextMemory* memory_ = nullptr;
    MemoryAccount* account_ = nullptr;
    std::uint64_t bytes_ = 0;
    MemoryUse use_ = MemoryUse::Buffer;
};

// The hold is given back after the buffer is freed. The hold is empty for memory of the
// application.
struct HeldBuffer {
    MemoryHold hold;
    registry::NativeBuffer native;
};

class ContextMemory {
  public:
    explicit ContextMemory(std::uint64_t limit) : limit_(limit) {}
    ContextMemory(const ContextMemory&) = delete;
    ContextMemory& operator=(const ContextMemory&) = delete;

    struct Amounts {
        MemoryAccount device;
        std::uint64_t limit = 0, held = 0;  // of the context
        // Whether `bytes` more bytes are within the context's limit.
        [[nodiscard]] bool in_context(std::uint64_t bytes) const noexcept;
    };
    // Reserves memory of a device. If the sum would exceed a limit, returns an empty hold, and
    // writes to `then` the amounts that are held.
    [[nodiscard]] MemoryHold reserve(MemoryAccount& account, MemoryUse use, std::uint64_t bytes,
                                     Amounts& then) noexcept;
    // Set limits; 0: none.
    void limit(std::uint64_t bytes) noexcept;
    void limit(MemoryAccount& account, std::uint64_t bytes) noexcept;
    [[nodiscard]] Amounts read(const MemoryAccount& account) const noexcept;

    // Add and remove a session. As long as a session is added, its idle scratch memory may be
    // freed, and the errors of `refusal` list what it holds. `remove` waits for a running
    // `free_idle_scratch`.
    void add(DeviceSession& session);
    void remove(DeviceSession& session) noexcept;
    // Sets the handle table, in which `refusal` finds the buffers of a session. The table outlives
    // all calls of `refusal`.
    void set_handles(const registry::HandleTable& handles) noexcept { handles_ = &handles; }

    // Frees the idle scratch memory of all devices.
    void free_idle_scratch() noexcept;
    // Returns the error DEVICE_MEMORY, with the limit that `bytes` would exceed, and with what each
    // device holds. `then`: as written by `reserve`.
    [[nodiscard]] Error refusal(const DeviceSession& session, MemoryUse use, std::uint64_t bytes,
                                std::string_view label, const Amounts& then) const;

  private:
    friend class MemoryHold;
    void give_back(const MemoryHold& hold) noexcept;
    [[nodiscard]] std::string holder(const DeviceSession& session, const MemoryAccount& held) const;

    mutable sdk::Mutex mutex_;  // also guards the accounts
    std::uint64_t limit_ WYE_GUARDED_BY(mutex_);
    std::uint64_t held_ WYE_GUARDED_BY(mutex_) = 0;
    // Held while drivers free scratch memory. Locked before `mutex_`.
    mutable sdk::Mutex sessions_mutex_;
    std::vector<DeviceSession*> sessions_ WYE_GUARDED_BY(sessions_mutex_);
    const registry::HandleTable* handles_ = nullptr;
};

inline MemoryHold::~MemoryHold() {
    if (memory_ != nullptr) memory_->give_back(*this);
}

}  // namespace wye::exec
