// SPDX-License-Identifier: Apache-2.0
//
// Staging: a ring of mapped host memory for transfers. The submitting thread takes ranges; the
// thread that finds that a segment has ended frees its ranges.
#pragma once

#include <memory>
#include <optional>

#include "vulkan/buffer.hpp"
#include "wye/sdk/ring.hpp"

namespace wye::vulkan {

// A range of mapped memory (of the staging ring, or of a Command) that an operation may use until
// its work has ended.
struct StagedRange {
    const Buffer* buffer = nullptr;
    std::uint64_t offset = 0;

    [[nodiscard]] std::byte* bytes() const { return buffer->mapped + offset; }
};

// A buffer in memory that the host can map.
[[nodiscard]] inline Result<std::unique_ptr<Buffer>> mapped_buffer(Device& device,
                                                                   std::uint64_t size,
                                                                   std::string_view label,
                                                                   Placement placement) {
    WYE_ASSIGN(auto buffer, Buffer::create(device, size, label, placement));
    if (buffer->mapped != nullptr) return buffer;
    return Error(Code::DRIVER, device.info.name + " has no memory that the host can map",
                 "Fix: update the Vulkan driver, or use another device", device.info.name);
}

class Staging : public sdk::LockedRing {
  public:
    explicit Staging(Device& device) : LockedRing(kBytes), device_(device) {}

    // Takes a contiguous range of the ring. Returns nothing if no such range is free.
    [[nodiscard]] Result<std::optional<StagedRange>> take(std::uint64_t size,
                                                          std::uint64_t alignment) {
        if (!buffer_) {
            WYE_ASSIGN(buffer_, mapped_buffer(device_, kBytes, "staging", Placement::Host));
        }
        const std::optional<std::uint64_t> offset = LockedRing::take(size, alignment);
        if (!offset) return std::optional<StagedRange>();
        return std::optional<StagedRange>({buffer_.get(), *offset});
    }

  private:
    static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20U;

    Device& device_;
    std::unique_ptr<Buffer> buffer_;  // created on first use
};

}  // namespace wye::vulkan
