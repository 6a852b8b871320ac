// SPDX-License-Identifier: Apache-2.0
//
// Marks: a word of page-locked memory into which a stream writes ascending numbers, so that the
// host sees the end of work without a call of the driver. Launching a graph of one kernel and
// waiting for it then takes 5.4 us instead of 5.8 us (H200). Each mark costs the stream 1 us.
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/handle.hpp"

namespace wye::cuda {

class Marks {
  public:
    Marks(const ContextState& context, CUstream stream) : context_(context), stream_(stream) {}

    // Lets the stream write the next number after all work so far, and returns that number, or 0 if
    // the stream cannot write. Submitting thread only, with the context current.
    [[nodiscard]] std::uint32_t write() {
        if (refused_ || (!memory_ && !acquire())) return 0;
        if (++newest_ == 0) ++newest_;
        refused_ = context_.driver.cuStreamWriteValue32(
                       stream_, reinterpret_cast<CUdeviceptr>(memory_.get()), newest_,
                       CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS;
        return refused_ ? 0 : newest_;
    }
    // Whether the stream has written this number or a later one. Any thread.
    [[nodiscard]] bool reached(std::uint32_t mark) const {
        return static_cast<std::int32_t>(word().load(std::memory_order_acquire) - mark) >= 0;
    }

  private:
    [[nodiscard]] std::atomic_ref<std::uint32_t> word() const {
        return std::atomic_ref(*static_cast<std::uint32_t*>(memory_.get()));
    }
    bool acquire() {
        void* memory = nullptr;
        refused_ = context_.driver.cuStreamWriteValue32 == nullptr ||
                   context_.driver.cuMemAllocHost(&memory, sizeof newest_) != CUDA_SUCCESS;
        if (refused_) return false;
        memory_ = HostMemoryHandle(context_, memory);
        word().store(0, std::memory_order_relaxed);
        return true;
    }

    const ContextState& context_;
    const CUstream stream_;
    HostMemoryHandle memory_;
    std::uint32_t newest_ = 0;
    bool refused_ = false;
};

}  // namespace wye::cuda
