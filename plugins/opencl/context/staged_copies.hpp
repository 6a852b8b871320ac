// SPDX-License-Identifier: Apache-2.0
//
// StagedCopies: copies from and to staging memory. Staging memory stays mapped, and OpenCL forbids
// commands on a mapped buffer. So such a copy is an upload or download of the other buffer, with
// the mapping as the host's memory. Used by one thread.
#pragma once

#include <algorithm>

#include "opencl/buffer.hpp"

namespace wye::opencl {

class StagedCopies {
  public:
    explicit StagedCopies(Device& device) : device_(device) {}

    [[nodiscard]] static bool concerns(const wye_copy_op& op) {
        return buffer_of(op.source).mapped() != nullptr || buffer_of(op.target).mapped() != nullptr;
    }
    // The number of driver commands that a copy takes.
    [[nodiscard]] static std::uint64_t commands(const wye_copy_op& op) {
        if (buffer_of(op.source).mapped() == nullptr || buffer_of(op.target).mapped() == nullptr)
            return 1;
        return 2 * ((op.size + kBounceBytes - 1) / kBounceBytes);
    }
    // Makes the copy, by calls of `queue.upload` and `queue.download`.
    template <typename Queue>
    [[nodiscard]] Result<void> run(const wye_copy_op& op, Queue& queue) {
        const std::byte* from = buffer_of(op.source).mapped();
        std::byte* to = buffer_of(op.target).mapped();
        if (to == nullptr)
            return queue.upload(
                {op.target, op.target_offset, op.size, from + op.source_offset, nullptr});
        to += op.target_offset;
        if (from == nullptr)
            return queue.download({op.source, op.source_offset, op.size, nullptr, to});
        from += op.source_offset;
        // A copy between two mappings goes through memory that is not mapped.
        if (!bounce_) {
            wye_buffer_desc desc{};
            desc.size = kBounceBytes;
            WYE_ASSIGN(bounce_, Buffer::create(device_, desc));
        }
        auto* bounce = reinterpret_cast<wye_buffer_object*>(bounce_.get());
        for (std::uint64_t at = 0; at < op.size; at += kBounceBytes) {
            const std::uint64_t part = std::min(op.size - at, kBounceBytes);
            WYE_TRY(queue.upload({bounce, 0, part, from + at, nullptr}));
            WYE_TRY(queue.download({bounce, 0, part, nullptr, to + at}));
        }
        return {};
    }

  private:
    static constexpr std::uint64_t kBounceBytes = std::uint64_t{1} << 20U;
    Device& device_;
    std::unique_ptr<Buffer> bounce_;  // made at first use
};

}  // namespace wye::opencl
