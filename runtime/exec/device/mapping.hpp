// SPDX-License-Identifier: Apache-2.0
//
// Maps buffers of the application into host memory, and tells whether a buffer is in use.
// Free-threaded.
#pragma once

#include <cstdint>

#include "exec/device/buffer.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Whether pending work uses the buffer.
[[nodiscard]] bool is_in_use(const registry::HandleTable& handles, const registry::Pin& buffer);

// Adds a mapping. UNSUPPORTED: the device cannot map this buffer; DEVICE_LOST; STALE_HANDLE: the
// buffer was freed meanwhile.
[[nodiscard]] Result<wye_mapping> map_buffer(const registry::HandleTable& handles,
                                             const registry::Pin& buffer);
// Removes a mapping. INVALID_ARGUMENT: the buffer is not mapped.
[[nodiscard]] Result<void> unmap_buffer(const registry::Pin& buffer);
// Makes writes to a range of a mapped buffer visible: those of the host to the device, or those of
// the device to the host. `direction`: enum wye_sync_direction. For WYE_SYNC_TO_HOST, first waits
// for work that uses the buffer.
[[nodiscard]] Result<void> sync_buffer(const registry::Pin& buffer, std::uint64_t offset,
                                       std::uint64_t size, std::uint32_t direction);

}  // namespace wye::exec
