// SPDX-License-Identifier: Apache-2.0
//
// A buffer. Here a buffer is host memory. For a real device, a buffer owns an allocation of the
// driver, and `at` returns the driver's address of a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "host.hpp"

namespace driver {

class Buffer {
  public:
    // `most` is the device's memory in bytes.
    Buffer(const wye_buffer_desc& desc, std::uint64_t most) {
        refuse_unknown(desc.header, desc.flags, "a buffer's description");
        if (desc.usage > WYE_BUFFER_USAGE_STAGING)
            throw Failure{WYE_UNSUPPORTED,
                          "the acme plugin has no buffers of usage " + std::to_string(desc.usage),
                          "Fix: use a buffer of the device's own memory",
                          {}};
        const std::uint64_t alignment = std::max<std::uint64_t>(desc.alignment, kLine);
        if (alignment > kMostAlignment)
            throw Failure{WYE_UNSUPPORTED,
                          "buffers start at multiples of up to " + std::to_string(kMostAlignment) +
                              " bytes, not of " + std::to_string(desc.alignment),
                          "Fix: ask for a smaller alignment",
                          {}};
        // Each buffer gets more memory than requested, since even an empty buffer needs one
        // readable element (P-24).
        if (desc.size <= most) {
            const std::uint64_t bytes = (desc.size + kLine + alignment - 1) / alignment * alignment;
            memory_.reset(std::aligned_alloc(alignment, bytes));
        }
        if (memory_ == nullptr)
            throw Failure{WYE_DEVICE_MEMORY,
                          "a buffer of " + std::to_string(desc.size) +
                              " bytes does not fit the device's memory of " + std::to_string(most),
                          "Fix: free buffers, or use a smaller one",
                          {}};
    }

    [[nodiscard]] std::byte* at(std::uint64_t offset) const {
        return static_cast<std::byte*>(memory_.get()) + offset;
    }

  private:
    static constexpr std::uint64_t kLine = 64, kMostAlignment = std::uint64_t{1} << 20U;

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
};

inline Buffer& buffer_of(wye_buffer_object* object) { return *reinterpret_cast<Buffer*>(object); }

}  // namespace driver
