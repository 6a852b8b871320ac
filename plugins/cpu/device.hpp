// SPDX-License-Identifier: Apache-2.0
//
// The plugin's objects behind the opaque pointers of the ABI: plugin, device, buffer. A device is
// the machine; opening it twice gives two that share the plugin's threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/discovery.hpp"
#include "cpu/kernels/set.hpp"
#include "cpu/run/pool.hpp"
#include "wye/abi.h"

namespace wye::cpu {

struct Plugin {
    const wye_host_table* host = nullptr;
    const KernelSet* kernels = nullptr;
    Facts facts;
    std::unique_ptr<Pool> pool;
};

struct Device {
    Plugin* plugin = nullptr;
};

// Bytes on a cache line, with room for one element behind the end, so that an empty range can be
// read from.
class Buffer {
  public:
    // Null when there is no memory. `alignment`: a power of two.
    static std::unique_ptr<Buffer> create(std::uint64_t size, std::uint64_t alignment) noexcept;
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }

  private:
    Buffer(std::byte* data, std::uint64_t size) : data_(data), size_(size) {}
    std::byte* data_;
    std::uint64_t size_;
};

[[nodiscard]] const wye_device_table& device_table();
[[nodiscard]] const wye_queue_table& queue_table();

}  // namespace wye::cpu
