// SPDX-License-Identifier: Apache-2.0
//
// Device buffers for host arguments, kept and reused so that a steady stream of dispatches
// allocates nothing. Owns them. Not synchronised: used under a session's queue lease.
#pragma once

#include <cstdint>
#include <vector>

#include "registry/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class ScratchPool {
  public:
    // A buffer of at least `size` bytes with unspecified contents, taken until release_all().
    [[nodiscard]] Result<wye_buffer_object*> take(const registry::DeviceRef& device,
                                                  std::uint64_t size, std::uint32_t alignment);
    // Gives back everything taken. Idle buffers that the last kKeepRounds rounds did not need are
    // freed.
    void release_all();
    // Frees what is not taken. False: there was nothing.
    bool drop_free();
    void clear() noexcept { buffers_.clear(); }

    [[nodiscard]] std::uint64_t created() const noexcept { return created_; }  // since the start

  private:
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
