// SPDX-License-Identifier: Apache-2.0
//
// ScratchPool: owns device buffers for host arguments and reuses them, so that repeated dispatches
// do not allocate. Not synchronised: the holder of the workspace uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "registry/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class ScratchPool {
  public:
    // Takes a buffer of at least `size` bytes, with unspecified contents, until release_all().
    [[nodiscard]] Result<wye_buffer_object*> take(const registry::DeviceRef& device,
                                                  std::uint64_t size, std::uint32_t alignment);
    // Releases all taken buffers. Frees buffers that the last kKeepRounds rounds did not use.
    void release_all() {
        if (!buffers_.empty()) end_round();  // inline: a repeated dispatch takes none
    }
    // Frees all buffers that are not taken. Returns false if there were none.
    bool drop_free();
    void clear() noexcept { buffers_.clear(); }

    // Buffers made so far.
    [[nodiscard]] std::uint64_t created() const noexcept { return created_; }

  private:
    void end_round();

    static constexpr std::uint64_t kKeepRounds = 64;
    struct Entry {
        registry::NativeBuffer buffer;
        std::uint32_t alignment;
        bool taken;
        std::uint64_t round;  // of last use
    };
    std::vector<Entry> buffers_;
    std::uint64_t round_ = 0;
    std::uint64_t created_ = 0;
};

}  // namespace wye::exec
