// SPDX-License-Identifier: Apache-2.0
//
// Staging: a ring of page-locked host memory for small transfers, since transfers of pageable
// memory wait for the stream (quirk cuda-pageable-copies). The submitting thread takes memory; the
// thread that finds a value reached frees it.
#pragma once

#include <cstddef>

#include "cuda/handle.hpp"
#include "wye/sdk/ring.hpp"

namespace wye::cuda {

class Staging : public sdk::LockedRing {
  public:
    static constexpr std::uint64_t kCapacity = 1U << 20U;
    // Larger transfers access the caller's memory directly.
    static constexpr std::uint64_t kMostBytes = kCapacity / 4;

    explicit Staging(const ContextState& context) : LockedRing(kCapacity), context_(context) {}

    // Takes memory; null if there is no room, or no page-locked memory. `see(value)` checks whether
    // a value was reached; it is called for the oldest value that holds memory. The context must be
    // current.
    template <typename See>
    [[nodiscard]] std::byte* take(std::uint64_t size, See&& see) {
        if (size > kMostBytes || (!memory_ && !acquire())) return nullptr;
        std::optional<std::uint64_t> offset = LockedRing::take(size, kUnit);
        if (const auto value = oldest(); !offset && value) {
            see(*value);
            offset = LockedRing::take(size, kUnit);
        }
        return offset ? static_cast<std::byte*>(memory_.get()) + *offset : nullptr;
    }

  private:
    static constexpr std::uint64_t kUnit = 64;

    bool acquire() {
        if (refused_) return false;
        void* memory = nullptr;
        refused_ = context_.driver.cuMemAllocHost(&memory, kCapacity) != CUDA_SUCCESS;
        if (!refused_) memory_ = HostMemoryHandle(context_, memory);
        return !refused_;
    }

    const ContextState& context_;
    HostMemoryHandle memory_;
    bool refused_ = false;
};

}  // namespace wye::cuda
