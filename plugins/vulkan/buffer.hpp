// SPDX-License-Identifier: Apache-2.0
//
// A buffer with memory of its own. One allocation each: the host keeps a pool of its scratch
// buffers, so buffers come and go rarely, and drivers cut small allocations from larger ones
// themselves. Vulkan's limit on their number is kept and reported by name.
#pragma once

#include <memory>
#include <string_view>

#include "vulkan/device.hpp"
#include "vulkan/resources/memory.hpp"

namespace wye::vulkan {

// Counts one of the device's allocations while it lives.
class AllocationTicket {
  public:
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
    // The largest element is 32 bytes, and lowered code may read element 0 of an empty buffer.
    static constexpr std::uint64_t kLeastBytes = 64;

    // DEVICE_MEMORY with the bytes asked for and those that are free; nothing is left behind.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc) {
        return create(device, desc.size, sdk::from_abi(desc.label));
    }
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(
        Device& device, std::uint64_t size, std::string_view label,
        Placement placement = Placement::Device);

    AllocationTicket ticket;
    MemoryHandle memory;
    BufferHandle object;          // gone before its memory
    std::uint64_t size = 0;       // as asked for
    std::uint64_t capacity = 0;   // at least kLeastBytes, whole words
    std::uint64_t serial = 0;     // of no other buffer of this device
    std::byte* mapped = nullptr;  // coherent; null: the host cannot reach it
    bool host_reads_fast = false;

    [[nodiscard]] VkBuffer get() const { return object.get(); }
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::vulkan
