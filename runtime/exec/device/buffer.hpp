// SPDX-License-Identifier: Apache-2.0
//
// A buffer resident on one device, owned by the handle table, and its blocking transfers. The
// session outlives it. Transfers are free-threaded; each waits for its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/device/buffer_use.hpp"
#include "exec/device/session.hpp"
#include "registry/device.hpp"
#include "registry/ownership.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct BufferObject {
    DeviceSession& session;
    registry::NativeBuffer native;
    std::uint64_t size;  // bytes, as requested
    BufferHistory history = {};
};

// Blocking transfers on live buffers. INVALID_ARGUMENT for a range outside its buffer or an invalid
// pattern; WRONG_OWNER if the two buffers of a copy are on different devices.
[[nodiscard]] Result<void> upload(const registry::HandleTable& handles, registry::Handle buffer,
                                  std::uint64_t offset, const void* source, std::uint64_t size);
[[nodiscard]] Result<void> download(const registry::HandleTable& handles, registry::Handle buffer,
                                    std::uint64_t offset, void* target, std::uint64_t size);
[[nodiscard]] Result<void> copy(const registry::HandleTable& handles, registry::Handle source,
                                std::uint64_t source_offset, registry::Handle target,
                                std::uint64_t target_offset, std::uint64_t size);
[[nodiscard]] Result<void> fill(const registry::HandleTable& handles, registry::Handle buffer,
                                std::uint64_t offset, std::uint64_t size, std::uint64_t pattern,
                                std::uint32_t pattern_size);

}  // namespace wye::exec
