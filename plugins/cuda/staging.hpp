// SPDX-License-Identifier: Apache-2.0
//
// A ring of page-locked host memory for small transfers, which would otherwise make the driver wait
// for the stream (pageable memory is copied synchronously). Not synchronised: its timeline locks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"

namespace wye::cuda {

class Staging {
  public:
    static constexpr std::uint64_t kCapacity = 1U << 20U;
    // Larger transfers go straight from and to the caller's memory.
    static constexpr std::uint64_t kMostBytes = kCapacity / 4;

    explicit Staging(OpenDevice& device) : device_(device) {}
    ~Staging() { release_memory(); }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // Null when there is no room now, or the driver has no such memory left. With the context
    // current.
    [[nodiscard]] std::byte* take(std::uint64_t size) {
        if (size > kMostBytes || (memory_ == nullptr && !acquire_memory())) return nullptr;
        const std::uint64_t bytes = (size + kUnit - 1) / kUnit * kUnit;
        std::uint64_t from = head_;
        if (from % kCapacity + bytes > kCapacity) from += kCapacity - from % kCapacity;
        if (from + bytes - tail_ > kCapacity) return nullptr;
        head_ = from + bytes;
        return memory_ + from % kCapacity;
    }
    // Everything taken so far; `release` frees up to there, `rewind` takes back what came after.
    [[nodiscard]] std::uint64_t mark() const { return head_; }
    void release(std::uint64_t mark) { tail_ = mark; }
    void rewind(std::uint64_t mark) { head_ = mark; }

  private:
    static constexpr std::uint64_t kUnit = 64;

    bool acquire_memory() {
        if (refused_) return false;
        void* memory = nullptr;
        refused_ = device_.driver.cuMemAllocHost(&memory, kCapacity) != CUDA_SUCCESS;
        memory_ = static_cast<std::byte*>(memory);
        epoch_ = device_.epoch();
        return !refused_;
    }
    void release_memory() {
        if (memory_ == nullptr || epoch_ != device_.epoch()) return;
        const Current current(device_);
        (void)device_.driver.cuMemFreeHost(memory_);
    }

    OpenDevice& device_;
    std::byte* memory_ = nullptr;
    std::uint32_t epoch_ = 0;
    bool refused_ = false;
    std::uint64_t head_ = 0, tail_ = 0;  // bytes taken and released since the beginning
};

}  // namespace wye::cuda
