// SPDX-License-Identifier: Apache-2.0
//
// RegisteredMemory: memory of the application that a device copies from and to by itself: a buffer
// of the usage REGISTERED over it. RegisteredRanges: those of a session, by address. Free-threaded.
// RegisteredTransfers: the part of one piece of work that moves such bytes. Used by one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class DeviceSession;
class RegisteredRanges;

// Registers memory of the application with a device, as wye_memory_register says.
[[nodiscard]] Result<registry::Handle> register_memory(registry::HandleTable& handles,
                                                       DeviceSession& session, void* memory,
                                                       std::uint64_t size);
// BUFFER_IN_USE while work in flight uses it.
[[nodiscard]] Result<void> unregister_memory(registry::HandleTable& handles,
                                             registry::Handle memory);

// Owned by the handle table, whose uses keep it while a device copies. Its session outlives it.
class RegisteredMemory {
  public:
    RegisteredMemory(DeviceSession& owner, std::byte* memory, std::uint64_t size) noexcept
        : session(owner), memory_(memory), size_(size) {}
    ~RegisteredMemory();
    RegisteredMemory(const RegisteredMemory&) = delete;
    RegisteredMemory& operator=(const RegisteredMemory&) = delete;

    // Gives it to the driver, which takes long.
    [[nodiscard]] Result<void> give(const registry::DeviceRef& device);

    [[nodiscard]] bool has(const std::byte* at, std::uint64_t size) const noexcept {
        return at >= memory_ && size <= size_ &&
               static_cast<std::uint64_t>(at - memory_) <= size_ - size;
    }
    [[nodiscard]] std::uint64_t offset_of(const std::byte* at) const noexcept {
        return static_cast<std::uint64_t>(at - memory_);
    }
    [[nodiscard]] const registry::NativeBuffer& native() const noexcept { return *native_; }
    [[nodiscard]] const std::byte* begin() const noexcept { return memory_; }
    [[nodiscard]] const std::byte* end() const noexcept { return memory_ + size_; }

    DeviceSession& session;

  private:
    std::byte* const memory_;
    const std::uint64_t size_;
    std::optional<registry::NativeBuffer> native_;
};

class RegisteredRanges {
  public:
    // Takes a range for memory that is not given to the driver yet. DUPLICATE: it overlaps another.
    [[nodiscard]] Result<std::shared_ptr<RegisteredMemory>> add(DeviceSession& session,
                                                                std::byte* memory,
                                                                std::uint64_t size);
    // From now on `find` finds it.
    void publish(const RegisteredMemory& memory, registry::Handle handle);

    // The handle of the range that has all of these bytes; 0: none has.
    [[nodiscard]] registry::Handle find(const std::byte* at, std::uint64_t size) const;
    // False: `find` finds nothing.
    [[nodiscard]] bool any() const noexcept {
        return published_.load(std::memory_order_acquire) != 0;
    }

  private:
    friend class RegisteredMemory;
    struct Range {
        const RegisteredMemory* memory;
        registry::Handle handle = 0;  // not published yet
    };
    void remove(const RegisteredMemory& memory) noexcept;

    std::atomic<std::uint32_t> published_{0};
    mutable sdk::Mutex mutex_;
    std::map<const std::byte*, Range> ranges_ WYE_GUARDED_BY(mutex_);  // by their ends
};

class RegisteredTransfers {
  public:
    // Host bytes that the work may move. All before `begin`.
    void add(const DeviceSession& session, const void* at, std::uint64_t size);
    // Marks the ranges that have some of them in flight, until this is released. Those that were
    // unregistered meanwhile count as never registered.
    void begin(const registry::HandleTable& handles);

    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    // Whether these bytes move without help of the host.
    [[nodiscard]] bool has(const void* at, std::uint64_t size) const {
        return find(static_cast<const std::byte*>(at), size) != nullptr;
    }
    // Adds the operation, or the copies in its place if it moves registered bytes.
    void append(const wye_operation& operation, std::vector<wye_operation>& out);
    // Whether `append` met a download of registered bytes.
    [[nodiscard]] bool reads_back() const noexcept;

    // Before the submit: the host wrote what is copied up.
    [[nodiscard]] Result<void> written() const;
    // After the work has ended: the host may read what was copied down. Counts the bytes.
    [[nodiscard]] Result<void> arrived() const;
    void release() noexcept;

  private:
    // So large, one copy holds up those of other queues that share the copy engine.
    static constexpr std::uint64_t kLargestCopy = std::uint64_t{16} << 20U;

    struct Part {
        const RegisteredMemory* range;
        std::uint64_t offset, size;
        bool up;
    };
    [[nodiscard]] const RegisteredMemory* find(const std::byte* at, std::uint64_t size) const;

    std::vector<registry::Handle> handles_;
    std::vector<const RegisteredMemory*> ranges_;
    std::vector<Part> parts_;
    registry::InFlight uses_;
};

}  // namespace wye::exec
