// SPDX-License-Identifier: Apache-2.0
//
// GridBarrier: the words of WYE_SLOT_GRID_BARRIER, one pair of words for each launch that may run
// at the same time as other launches. Each launch leaves its pair ready for the next launch. One
// thread at a time.
#pragma once

#include "cuda/device.hpp"

namespace wye::cuda {

class GridBarrier {
  public:
    // Makes the words of `launches` launches. The context must be current.
    [[nodiscard]] Result<void> make(Device& device, std::size_t launches) {
        if (memory_) return {};
        launches_ = launches;
        return device.check(device.context().allocate(launches * kBytes, memory_), "cuMemAlloc");
    }
    // Whether launches may follow without `prepare`.
    [[nodiscard]] bool is_prepared() const { return !memory_ || zeroed_; }
    // Queues the first zeroing of the words, before the first launch.
    [[nodiscard]] Result<void> prepare(Device& device, CUstream stream) {
        if (is_prepared()) return {};
        WYE_TRY(device.check(
            device.driver.cuMemsetD32Async(memory_.get(), 0, launches_ * kBytes / 4, stream),
            "cuMemsetD32Async"));
        zeroed_ = true;
        return {};
    }
    // The words of a launch; 0: there are none.
    [[nodiscard]] CUdeviceptr words(std::size_t launch) const {
        return memory_ ? memory_.get() + launch * kBytes : 0;
    }

  private:
    // Each pair has cache lines of its own, since the workgroups of other launches poll other
    // pairs.
    static constexpr std::uint64_t kBytes = 256;

    Context::Memory memory_;
    std::size_t launches_ = 0;
    bool zeroed_ = false;
};

}  // namespace wye::cuda
