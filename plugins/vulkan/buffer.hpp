// SPDX-License-Identifier: Apache-2.0
//
// Buffer: a buffer and its memory, which is one allocation, or an import of application memory.
// There is no pool of memory: the host pools its scratch buffers, so buffers are rarely created,
// and drivers split larger allocations themselves. Vulkan's limit on the number of allocations is
// enforced, and reported by name.
#pragma once

#include <memory>
#include <string_view>

#include "vulkan/device.hpp"
#include "vulkan/resources/memory.hpp"

namespace wye::vulkan {

// Counts as one of the device's allocations while it exists.
class AllocationTicket {
  public:
    // LIMIT_EXCEEDED states Vulkan's limit.
    [[nodiscard]] static Result<AllocationTicket> take(Device& device, std::string_view label);
    AllocationTicket() = default;
    explicit AllocationTicket(std::atomic<std::uint32_t>& count) : count_(&count) {}
    AllocationTicket(AllocationTicket&& other) noexcept
        : count_(std::exchange(other.count_, nullptr)) {}
    AllocationTicket& operator=(AllocationTicket&& other) noexcept {
        std::swap(count_, other.count_);
        return *this;
    }
    AllocationTicket(const AllocationTicket&) = delete;
    AllocationTicket& operator=(const AllocationTicket&) = delete;
    ~AllocationTicket() {
        if (count_ != nullptr) count_->fetch_sub(1);
    }

  private:
    std::atomic<std::uint32_t>* count_ = nullptr;
};

struct Buffer {
    // The smallest allocation: an empty buffer has room for an element (at most 32 bytes), since
    // lowered code may read element 0 of it.
    static constexpr std::uint64_t kLeastBytes = 64;

    // DEVICE_MEMORY has the requested and the free bytes. Frees what it allocated if it fails.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);
    // Uses a `VkBuffer` of the application. WRONG_OWNER: the handle names another `VkDevice`.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> adopt(Device& device,
                                                               const wye_buffer_desc& desc);
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(
        Device& device, std::uint64_t size, std::string_view label,
        Placement placement = Placement::Device);

    // The mapping exists as long as the buffer. UNSUPPORTED: the host cannot map its memory.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    AllocationTicket ticket;
    MemoryHandle memory;
    std::string_view device;  // the device's name
    BufferHandle object;      // destroyed before its memory; empty if it is the application's
    VkBuffer used = VK_NULL_HANDLE;
    std::uint64_t size = 0;       // as requested
    std::uint64_t capacity = 0;   // at least kLeastBytes, rounded up to whole words
    std::uint64_t serial = 0;     // unique per device
    std::byte* mapped = nullptr;  // coherent; null: not mapped
    bool host_reads_fast = false;

    [[nodiscard]] VkBuffer get() const { return used; }
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("VkBuffer", used);
        if (memory) out.add("VkDeviceMemory", memory.get());
        return {};
    }
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::vulkan
