// SPDX-License-Identifier: Apache-2.0
//
// Buffer: a VkBuffer with its memory (one allocation, or imported application memory), or a
// VkBuffer of the application. There is no memory pool: the host pools its scratch buffers, so
// buffers are rarely created. The plugin enforces Vulkan's limit on the number of allocations, and
// names the limit in the error.
#pragma once

#include <memory>
#include <string_view>

#include "vulkan/device.hpp"
#include "vulkan/resources/memory.hpp"

namespace wye::vulkan {

// A ticket counts as one of the device's allocations while it exists.
class AllocationTicket {
  public:
    // Takes a ticket. LIMIT_EXCEEDED: the device already has as many allocations as Vulkan allows.
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
    // The minimum size of an allocation. Even an empty buffer has room for one element (up to 32
    // bytes), since lowered code may read element 0 of any buffer.
    static constexpr std::uint64_t kLeastBytes = 64;

    // The error DEVICE_MEMORY states the requested and the free bytes. A call that fails frees its
    // allocations.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);
    // Uses a `VkBuffer` of the application. WRONG_OWNER: the description names another `VkDevice`.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> adopt(Device& device,
                                                               const wye_buffer_desc& desc);
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(
        Device& device, std::uint64_t size, std::string_view label,
        Placement placement = Placement::Device);

    // The mapping lives as long as the buffer. UNSUPPORTED: the host cannot map the buffer's
    // memory.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    AllocationTicket ticket;
    MemoryHandle memory;
    std::string_view device;  // the device's name
    BufferHandle object;      // destroyed before `memory`; empty: the application owns `used`
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
