// SPDX-License-Identifier: Apache-2.0
//
// RegisteredMemory: memory of the application that a device reads and writes directly, through a
// native buffer of the usage REGISTERED. RegisteredRanges: the registered memory of a session, by
// address. Both are free-threaded. RegisteredTransfers: the transfers of registered bytes in one
// piece of work. Used by one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "registry/hold/ownership.hpp"
#include "registry/open/device.hpp"
#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class DeviceSession;
class RegisteredRanges;

// Registers memory of the application with a device; see wye_memory_register.
[[nodiscard]] Result<registry::Handle> register_memory(registry::HandleTable& handles,
                                                       DeviceSession& session, void* memory,
                                                       std::uint64_t size);
// BUFFER_IN_USE while work in flight uses the memory.
[[nodiscard]] Result<void> unregister_memory(registry::HandleTable& handles,
                                             registry::Handle memory);

// Owned by the handle table, which keeps it alive while the device copies. The session outlives it.
class RegisteredMemory {
  public:
    RegisteredMemory(DeviceSession& owner, std::byte* memory, std::uint64_t size) noexcept
        : session(owner), memory_(memory), size_(size) {}
    ~RegisteredMemory();
    RegisteredMemory(const RegisteredMemory&) = delete;
    RegisteredMemory& operator=(const RegisteredMemory&) = delete;

    // Registers the memory with the driver, which is slow.
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
    // Reserves a range for memory that is not registered with the driver yet. DUPLICATE: the range
    // overlaps another range.
    [[nodiscard]] Result<std::shared_ptr<RegisteredMemory>> add(DeviceSession& session,
                                                                std::byte* memory,
                                                                std::uint64_t size);
    // Makes the range visible to `find`.
    void publish(const RegisteredMemory& memory, registry::Handle handle);

    // The handle of the range that contains all of these bytes; 0: none does.
    [[nodiscard]] registry::Handle find(const std::byte* at, std::uint64_t size) const;
    // The bytes of all ranges.
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    // False if no range is published, so that `find` finds nothing.
    [[nodiscard]] bool any() const noexcept {
        return published_.load(std::memory_order_acquire) != 0;
    }

  private:
    friend class RegisteredMemory;
    struct Range {
        const RegisteredMemory* memory;
        registry::Handle handle = 0;  // 0: not published yet
    };
    void remove(const RegisteredMemory& memory) noexcept;

    std::atomic<std::uint32_t> published_{0};
    mutable sdk::Mutex mutex_;
    std::map<const std::byte*, Range> ranges_ WYE_GUARDED_BY(mutex_);  // by their end addresses
};

class RegisteredTransfers {
  public:
    // Adds host bytes that the work may move. Called before `begin`.
    void add(const DeviceSession& session, const void* at, std::uint64_t size);
    // Marks the registered ranges that contain these bytes as in flight, until `release`. If one of
    // the ranges was unregistered meanwhile, treats all bytes as not registered.
    void begin(const registry::HandleTable& handles);

    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    // Whether the device moves these bytes directly.
    [[nodiscard]] bool has(const void* at, std::uint64_t size) const {
        return find(static_cast<const std::byte*>(at), size) != nullptr;
    }
    // Appends the operation. If it moves registered bytes, appends copies on the device instead.
    void append(const wye_operation& operation, std::vector<wye_operation>& out);
    // Whether `append` replaced a download of registered bytes.
    [[nodiscard]] bool reads_back() const noexcept;

    // Called before the submit: makes bytes that the host wrote visible to the device.
    [[nodiscard]] Result<void> written() const;
    // Called after the work has ended: makes downloaded bytes visible to the host, and counts the
    // bytes.
    [[nodiscard]] Result<void> arrived() const;
    void release() noexcept;

  private:
    // Larger copies are split, since a copy delays the copies of other queues on the same copy
    // engine.
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
